"""`FromGymnax` against gymnax itself, on the same keys."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from jaxenv.wrappers import FromGymnax

gymnax = pytest.importorskip("gymnax")


@pytest.fixture(autouse=True)
def gymnax_promotes_as_it_likes():
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


@pytest.fixture(scope="module")
def cart():
    theirs, _ = gymnax.make("CartPole-v1")
    return theirs, FromGymnax(theirs)


def test_an_episode_is_gymnax_s(cart):
    theirs, ours = cart
    params = ours.default_params
    observation, state = ours.reset(jax.random.key(0), params)
    expected, their_state = theirs.reset_env(jax.random.key(0), params)
    np.testing.assert_array_equal(observation.array, expected)
    step, their_step = jax.jit(ours.step_env), jax.jit(theirs.step_env)
    for t in range(12):
        key, action = jax.random.key(t), jnp.int32(t % 3 == 0)
        observation, state, reward, terminated, info = step(key, state, action, params)
        expected, their_state, their_reward, their_end, _ = their_step(key, their_state, action, params)
        np.testing.assert_allclose(observation.array, expected, rtol=1e-6)
        assert (float(reward), bool(terminated)) == (float(their_reward), bool(their_end))
        assert float(info["reward_parts"]["reward"]) == float(reward)


def test_the_time_limit_truncates_and_the_next_episode_starts(cart):
    _, ours = cart
    params = ours.default_params.replace(max_steps_in_episode=jnp.int32(3))
    _, state = ours.reset(jax.random.key(0), params)
    for t in range(3):
        observation, state, _, terminated, truncated, info = ours.step(jax.random.key(t), state, t % 2, params)
        assert not terminated
        assert bool(truncated) == (t == 2)
    assert int(state.env_state.time) == 0
    assert not np.array_equal(observation.array, info["final_observation"].array)
    assert ours.observation_space(params).contains(observation)


def test_the_space_of_observations_is_known_under_jit(cart):
    _, ours = cart
    expected = ours.observation_space()

    def inside(params):
        assert ours.observation_space(params) == ours.observation_space() == expected
        return params

    jax.jit(inside)(ours.default_params)


def test_a_state_keeps_its_dtypes(cart):
    """gymnax starts episodes with Python numbers, which would recompile a step."""
    _, ours = cart
    _, state = ours.reset(jax.random.key(0), ours.default_params)
    _, later, *_ = ours.step(jax.random.key(1), state, 0, ours.default_params)
    assert jax.tree.map(jax.typeof, later) == jax.tree.map(jax.typeof, state)


def test_it_is_evaluated_without_a_bank(cart):
    _, ours = cart
    result = jaxenv.evaluate(lambda key, observation, params: jnp.int32(0), ours, ours.default_params, repetitions=8)
    assert result.returns.shape == (1, 8)
    assert (result.returns < 12).all()  # pushed one way the pole falls


def test_another_object_is_told():
    with pytest.raises(TypeError, match=r"gymnax 1\.0 or later"):
        FromGymnax("CartPole-v1")


@pytest.mark.parametrize("name", ["Pendulum-v1", "MountainCarContinuous-v0", "FrozenLake-misc"])
def test_other_actions_and_observations_are_told(name):
    with pytest.raises(TypeError, match=f"discrete actions and a box of observations, {name} has"):
        FromGymnax(gymnax.make(name)[0])
