"""A wrapped step is the program of the unwrapped step and what the wrapper adds, nothing else."""

import collections

import jax
import jax.numpy as jnp
import pytest
from jax.extend.core import jaxprs_in_params

import jaxenv
from jaxenv.envs.lifestack import LifeStack
from jaxenv.wrappers import EpisodeStatistics, FlattenObservation, LegalActions, Wrapper
from strategies.ids import IDS

CALLS = ("jit", "pjit", "closed_call", "custom_jvp_call")  # only contain other programs


def operations(env, params):
    """How often each primitive occurs in a step, including inside calls and loops."""

    def count(jaxpr):
        found = collections.Counter(eqn.primitive.name for eqn in jaxpr.eqns if eqn.primitive.name not in CALLS)
        return sum((count(inner) for eqn in jaxpr.eqns for inner in jaxprs_in_params(eqn.params)), found)

    key = jax.random.key(0)
    state = jax.eval_shape(lambda: env.init(key, params, 0))
    action = env.action_space(params).sample(key)
    return count(jax.make_jaxpr(env.step)(key, state, action, params).jaxpr)


@pytest.mark.parametrize("env_id", IDS)
def test_a_wrapped_step_is_the_bare_one_and_what_the_wrapper_adds(env_id):
    env, params = jaxenv.make(env_id)
    bare = operations(env, params)

    counted = operations(EpisodeStatistics(env), params)
    assert not bare - counted
    assert set(counted - bare) <= {"add", "select_n", "or", "broadcast_in_dim"}
    assert (counted - bare).total() <= 6  # return and length: one addition and one choice each

    flat = operations(FlattenObservation(env), params)
    assert not bare - flat
    assert [name for name in flat - bare if name.startswith("random") or name == "threefry2x32"] == []

    legal = operations(LegalActions(env), params)
    assert not bare - legal
    assert [name for name in legal - bare if name in ("while", "scan", "threefry2x32", "random_split")] == []


class EndsAtOnce(Wrapper):
    """Ends every episode at once, by truncation alone."""

    def is_truncated(self, state, params):
        return jnp.bool_(True)


def test_a_wrapper_that_changes_an_end_is_reset_by_it():
    env, params = jaxenv.make("LifeStack-v0")
    wrapped = EndsAtOnce(env)
    key = jax.random.key(3)
    _, state = wrapped.reset(key, params, 2)
    action = jnp.int32(0)
    _, after, _, terminated, truncated, _ = wrapped.step(key, state, action, params)
    assert (bool(terminated), bool(truncated)) == (False, True)
    expected = jax.jit(env.init, static_argnums=2)(jax.random.split(key)[1], params, None)
    assert all(bool((a == b).all()) for a, b in zip(jax.tree.leaves(after), jax.tree.leaves(expected), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [LifeStack, EpisodeStatistics])
def test_a_subclass_that_changes_the_transition_steps_by_it(kind):
    class Changed(kind):
        def transition(self, key, state, action, params):
            state, reward, terminated, info = kind.transition(self, key, state, action, params)
            return state, 2 * reward, terminated, info

    bare, params = jaxenv.make("LifeStack-v0")
    plain, changed = (bare, Changed()) if kind is LifeStack else (kind(bare), Changed(bare))
    key = jax.random.key(4)
    _, state = plain.reset(key, params, 2)
    rewards = [env.step(key, state, jnp.int32(0), params)[2] for env in (plain, changed)]
    assert rewards[0] != 0
    assert rewards[1] == 2 * rewards[0]
