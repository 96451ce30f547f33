"""Spaces contain their samples and nothing else."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import struct

import jaxenv
from jaxenv.core import spaces
from jaxenv.wrappers import EpisodeStatistics
from strategies.ids import ENGINES


class Pair(struct.PyTreeNode):
    """A record."""

    number: jax.Array
    flags: jax.Array


PAIR = spaces.Record.of(Pair, {"number": spaces.Box(-1, 1, ()), "flags": spaces.Box(0, 1, (3,), bool)})


@pytest.mark.parametrize(
    "space",
    [spaces.Discrete(5), spaces.Box(-2, 3, (4,), jnp.int8), spaces.Box(0, 1, (2, 2)), PAIR["flags"], PAIR],
)
def test_a_space_contains_its_samples(space):
    samples = jax.jit(jax.vmap(space.sample))(jax.random.split(jax.random.key(0), 50))
    assert jax.jit(jax.vmap(space.contains))(samples).all()
    assert space == space
    assert hash(space) is not None


@pytest.mark.parametrize(
    ("space", "value"),
    [
        (spaces.Discrete(5), 5),
        (spaces.Discrete(5), -1),
        (spaces.Discrete(5), 1.0),
        (spaces.Box(0, 1, (2,)), jnp.array([0.0, 1.5])),
        (spaces.Box(0, 1, (2,)), jnp.array([0.0, jnp.nan])),
        (spaces.Box(-np.inf, np.inf, (2,)), jnp.array([0.0, jnp.inf])),
        (spaces.Box(0, 1, (2,)), jnp.zeros(3)),
        (spaces.Box(0, 1, (2,), jnp.int8), jnp.zeros(2, jnp.int32)),
        (PAIR, Pair(jnp.float32(2), jnp.zeros(3, bool))),
        (PAIR, jnp.float32(2)),
    ],
)
def test_other_values_are_not_contained(space, value):
    assert not space.contains(value)


def test_a_masked_sample_is_legal():
    mask = jnp.array([False, False, True])
    assert spaces.Discrete(3).sample(jax.random.key(0), mask) == 2


@pytest.mark.parametrize("env_id", ENGINES)
def test_observations_can_be_sampled(env_id):
    env, params = jaxenv.make(env_id)
    space = env.observation_space(params)
    assert jax.jit(lambda key: space.contains(space.sample(key)))(jax.random.key(0))


@pytest.mark.parametrize("env_id", jaxenv.registered())
def test_the_mask_of_an_observation_has_an_entry_per_action(env_id):
    env, params = jaxenv.make(env_id)
    space = env.observation_space(params)
    agents = (env.num_agents,) if env.num_agents > 1 else ()
    assert space["action_mask"].shape == (*agents, env.num_actions)


@pytest.mark.parametrize(
    ("env_id", "static"),
    [
        ("LifeOps-v0", {}),
        pytest.param("LifeStack-v0", {}, marks=pytest.mark.slow),
        pytest.param("TeamsClone-MultiAgent-v0", {"num_agents": 8}, marks=pytest.mark.slow),
    ],
)
def test_states_and_observations_can_be_sampled(env_id, static):
    env, params = jaxenv.make(env_id, **static)
    spaces_of_env = (env.state_space(params), env.observation_space(params), EpisodeStatistics(env).state_space(params))

    @jax.jit
    def are_inside(keys):
        return [jax.vmap(lambda key, space=space: space.contains(space.sample(key)))(keys) for space in spaces_of_env]

    assert all(inside.all() for inside in are_inside(jax.random.split(jax.random.key(0), 64)))


@pytest.mark.parametrize(
    "box",
    [
        spaces.Box(0, np.uint32(2**32 - 1), (64,), np.uint32),
        spaces.Box(0, 2**31 - 1, (64,), np.int32),
        spaces.Box(-5, 2**31 - 1, (64,), np.int32),
        spaces.Box(-(2**31), 2**31 - 1, (64,), np.int32),
    ],
)
def test_the_widest_integers_are_sampled_to_both_ends(box):
    sample = box.sample(jax.random.key(1))
    assert box.contains(sample)
    tenth = 0.1 * (float(box.high) - float(box.low))
    assert float(sample.max()) > float(box.high) - tenth
    assert float(sample.min()) < float(box.low) + tenth
