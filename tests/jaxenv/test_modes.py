"""Laws of every registered environment in JAX's modes: 64 bits, kinds of keys, NaN and transfer guards.

Most are read off the traced program; what has to be compiled is played with one environment, and with all in
`make test-all`.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from jaxenv import wrappers
from strategies.ids import IDS
from strategies.turns import KEY, PLAYED, actions, assert_same, first, make, play, types


def everything(env, key, action, params):
    """What an environment returns, of every method."""
    observation, state = env.reset_env(key, params, 0)
    parts = env.observe(state, params), env.action_mask(state, params), env.is_truncated(state, params)
    features = env.entities(observation, params), env.flatten(observation, params)
    drawn = env.generate(key, 0.5)
    return env.reset(key, params), env.step(key, state, action, params), parts, features, drawn


# 64 bits --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", IDS)
def test_types_are_the_same_where_64_bits_are_enabled(env_id):
    env, params = make(env_id)
    expected = jax.eval_shape(functools.partial(everything, env), KEY, actions(env), params)
    with jax.enable_x64(True):
        found = jax.eval_shape(functools.partial(everything, env), KEY, actions(env, "int64"), params)
        made = jax.eval_shape(lambda: jaxenv.make(env_id)[1])
    assert types(found) == types(expected)
    assert types(made) == types(jax.eval_shape(lambda: params))


@pytest.mark.parametrize("env_id", PLAYED)
def test_episodes_are_the_same_where_64_bits_are_enabled(env_id):
    expected = play(env_id, KEY)
    with jax.enable_x64(True):
        assert_same(play(env_id, KEY), expected)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_scenarios_are_the_same_where_64_bits_are_enabled(env_id):
    env, _ = make(env_id)

    def drawn():
        return jax.jit(env.generate)(KEY, jnp.float32(0.7))

    expected = drawn()
    with jax.enable_x64(True):
        assert_same(drawn(), expected)


# Keys -----------------------------------------------------------------------------------------------------------------

KEYS = (jax.random.PRNGKey(0), jax.random.key(0, impl="rbg"))


@pytest.mark.parametrize("env_id", IDS)
def test_every_kind_of_key_draws(env_id):
    env, params = make(env_id)

    def of(key):
        first = jax.eval_shape(env.reset, key, params)
        return types((first, jax.eval_shape(env.step, key, first[1], actions(env), params)))

    expected = of(KEY)
    assert all(of(key) == expected for key in KEYS)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_legacy_keys_draw_the_same(env_id):
    assert_same(play(env_id, jax.random.PRNGKey(0)), play(env_id, KEY))


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_nothing_is_nan(env_id):
    env, params = make(env_id)
    step = jax.jit(env.step)
    with jax.debug_nans(True):
        observation, state = env.reset(KEY, params)
        for number in range(64):
            jax.block_until_ready(env.flatten(observation, params))
            action = np.asarray(observation.action_mask).argmax(axis=-1).astype(np.int32)
            observation, state, *_ = step(jax.random.fold_in(KEY, number), state, action, params)


# Transfers ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", jaxenv.registered())
def test_an_environment_is_made_under_a_transfer_guard(env_id):
    with jax.transfer_guard("disallow"):
        _, params = jaxenv.make(env_id)
    assert types(params) == types(make(env_id)[1])


@pytest.mark.parametrize("env_id", PLAYED)
def test_a_turn_moves_nothing_to_the_device(env_id):
    """A Python number is on the host, and JAX refuses to move it unasked."""
    env, params = make(env_id)
    action = first(env_id)[2]
    with jax.transfer_guard("disallow"):
        _, state = env.reset(KEY, params)
        env.step(KEY, state, action, params)
        with pytest.raises(jax.errors.JaxRuntimeError, match="transfer"):
            env.step(KEY, state, np.asarray(action), params)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_a_turn_of_a_wrapped_environment_moves_nothing_to_the_device(env_id):
    env, params = make(env_id)
    env = wrappers.EpisodeStatistics(wrappers.FlattenObservation(env))
    many, scenario, action = wrappers.Vectorize(env, 1), jnp.int32(0), first(env_id)[2]
    scenarios, joint = scenario[None], action[None]
    with jax.transfer_guard("disallow"):
        _, state = env.reset(KEY, params, scenario=scenario)
        env.step(KEY, state, action, params)
        _, state = many.reset(KEY, params, scenarios)
        many.step(KEY, state, joint, params)
