"""Illegal actions are drawn anew among the legal ones, and nothing else changes."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from counter import Counter, Counters

import jaxenv
from jaxenv import wrappers
from jaxenv.core import masking

BATCH, STEPS = 16, 24


class Recorder(wrappers.Wrapper):
    """Says in `info` which action came in."""

    def transition(self, key, state, action, params):
        *outputs, info = self.env.transition(key, state, action, params)
        return *outputs, {**info, "action": action}


def random_actions(key, mask, beyond):
    """A legal action, or half of the time any, and such as are out of range by up to `beyond`."""
    any_key, legal_key, which_key = jax.random.split(key, 3)
    shape = mask.shape[:-1]
    drawn = jax.random.randint(any_key, shape, -beyond, mask.shape[-1] + beyond)
    return jnp.where(jax.random.bernoulli(which_key, 0.5, shape), drawn, masking.sample_uniform(legal_key, mask))


def play(env, params, beyond):
    """(bare outputs, wrapped outputs) of random actions, [STEPS, BATCH]: the same keys, states and actions for both."""
    legal = wrappers.LegalActions(env)

    def step(state, key):
        action = random_actions(jax.random.fold_in(key, 1), env.action_mask(state, params), beyond)
        bare, wrapped = (one.step(key, state, action, params) for one in (env, legal))
        return wrapped[1], (bare, wrapped)

    @jax.jit
    @functools.partial(jax.vmap, in_axes=0)
    def rollout(key):
        _, state = env.reset_env(key, params)
        return jax.lax.scan(step, state, jax.random.split(key, STEPS))[1]

    return jax.device_get(rollout(jax.random.split(jax.random.key(0), BATCH)))


@pytest.mark.parametrize("env_id", jaxenv.registered())
def test_a_step_has_the_shapes_of_the_bare_one_and_says_what_was_redrawn(env_id):
    env, params = jaxenv.make(env_id)
    state = jax.eval_shape(lambda: env.init(jax.random.key(0), params, 0))
    action = jax.eval_shape(env.action_space(params).sample, jax.random.key(0))
    bare, wrapped = (
        jax.eval_shape(one.step, jax.random.key(0), state, action, params) for one in (env, wrappers.LegalActions(env))
    )
    redrawn = wrapped[-1].pop("redrawn")
    assert (redrawn.shape, redrawn.dtype) == (action.shape, bool)
    assert wrapped == bare


def check_that_only_illegal_actions_change(env, params, beyond):
    """No action is invalid, and a step whose actions are all legal returns what it returns without the wrapper."""
    bare, wrapped = play(env, params, beyond)
    redrawn, invalid = wrapped[-1].pop("redrawn"), wrapped[-1].pop("invalid_action")
    assert not invalid.any()
    np.testing.assert_array_equal(redrawn, bare[-1].pop("invalid_action"))
    untouched = ~redrawn.reshape(BATCH, STEPS, -1).any(axis=-1)
    assert 0 < untouched.sum() < untouched.size
    ends = wrapped[3] | wrapped[4]
    assert (ends & untouched).any()  # so that resets are compared as well
    for one, other in zip(jax.tree.leaves(bare), jax.tree.leaves(wrapped), strict=True):
        if not jnp.issubdtype(one.dtype, jax.dtypes.prng_key):
            np.testing.assert_array_equal(one[untouched], other[untouched])


@pytest.mark.parametrize("env", [Counter(), Counters()], ids=lambda env: env.name)
def test_a_legal_action_has_the_same_bits_and_none_is_invalid(env):
    check_that_only_illegal_actions_change(env, env.default_params, 0)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", jaxenv.registered())
def test_a_legal_action_of_the_suite_has_the_same_bits_and_none_is_invalid(env_id):
    env, params = jaxenv.make(env_id)
    if env.family in ("teamsclone", "week"):
        params = params.replace(max_steps_in_episode=jnp.int32(7))  # so that episodes end
    check_that_only_illegal_actions_change(env, params, 2)


def taken(env, actions, count):
    """[count, ...] int32: the actions that come in for the given ones at the first state, with another key each."""
    params = env.default_params
    legal = wrappers.LegalActions(Recorder(env))
    _, state = legal.reset_env(jax.random.key(0), params)
    step = jax.vmap(lambda key: legal.step_env(key, state, actions, params)[-1]["action"])
    return np.asarray(jax.jit(step)(jax.random.split(jax.random.key(1), count)))


@pytest.mark.parametrize("illegal", [2, -1, 4, 99])
def test_the_draw_is_uniform_over_the_legal_actions(illegal):
    drawn = taken(Counter(), illegal, 6000)  # at 0, only action 2 is illegal: it counts down
    counts = np.bincount(drawn, minlength=4)
    assert counts[2] == 0
    assert np.abs(counts[[0, 1, 3]] - 2000).max() < 5 * np.sqrt(6000 * 2 / 9)


def test_the_draws_of_two_agents_are_independent_and_a_legal_action_stays():
    both = taken(Counters(), np.array([2, 2]), 9000)
    pairs = np.bincount(both[:, 0] * 4 + both[:, 1], minlength=16).reshape(4, 4)[np.ix_([0, 1, 3], [0, 1, 3])]
    assert pairs.sum() == 9000
    assert np.abs(pairs - 1000).max() < 5 * np.sqrt(9000 * 8 / 81)
    one = taken(Counters(), np.array([3, 2]), 9000)
    assert set(one[:, 0]) == {3}
    assert set(one[:, 1]) == {0, 1, 3}
