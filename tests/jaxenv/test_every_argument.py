"""Laws of every registered environment: the actions and scenarios that it takes, and what it says of all others."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from jaxenv import wrappers
from strategies.ids import IDS
from strategies.turns import FIRST, KEY, PLAYED, actions, agents, assert_same, first, make, types

INTEGERS = ("int8", "uint32")


@pytest.mark.parametrize("env_id", jaxenv.registered())
def test_the_program_of_int32_actions_has_no_checks(env_id):
    """The integers reach the rules as they are."""
    env, _ = make(env_id)
    assert not jax.make_jaxpr(env._index)(actions(env)).eqns


@pytest.mark.parametrize("env_id", IDS)
def test_every_integer_type_is_an_action(env_id):
    env, params = make(env_id)
    _, state = jax.eval_shape(env.reset_env, KEY, params)
    expected = types(jax.eval_shape(env.step_env, KEY, state, actions(env), params))
    for dtype in INTEGERS:
        assert types(jax.eval_shape(env.step_env, KEY, state, actions(env, dtype), params)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_every_kind_of_number_is_the_same_action(env_id):
    env, params = make(env_id)
    _, state, action = first(env_id)
    expected = env.step(KEY, state, action, params)
    integers = [jnp.asarray(action, dtype) for dtype in ("int8", "int16", "uint8", "uint16", "uint32")]
    for kind in [*integers, np.asarray(action, np.int64), np.asarray(action).tolist()]:
        assert_same(env.step(KEY, state, kind, params), expected)


@pytest.mark.parametrize("env_id", PLAYED)
def test_an_action_beyond_32_bits_is_not_legal(env_id):
    """None of them is the action that its lowest 32 bits are, which is legal."""
    env, params = make(env_id)
    _, state, action = first(env_id)
    cut = np.asarray(action).astype(object)
    greatest, least = np.full(agents(env), 2**31 - 1, np.int32), np.full(agents(env), -(2**31), np.int32)
    too_great = [np.array(cut + 2**32, np.int64), np.array(cut + 2**63, np.uint64), np.array(cut + 2**32).tolist()]
    too_small = [np.array(cut - 2**32, np.int64), np.array(cut - 10**400).tolist()]
    for kinds, same in ((too_great, greatest), (too_small, least)):
        expected = env.step(KEY, state, same, params)
        assert jnp.all(expected[-1]["invalid_action"])
        for kind in kinds:
            assert_same(env.step(KEY, state, kind, params), expected)


@pytest.mark.parametrize("env_id", PLAYED)
def test_a_scenario_beyond_32_bits_is_the_last_or_the_first(env_id):
    env, params = make(env_id)
    for far in (np.int64(2**32), np.uint64(2**63), 2**32, 10**400, np.array(2**32)):
        assert int(env.reset(KEY, params, scenario=far)[1].scenario) == params.bank.size - 1
    for far in (np.int64(1 - 2**32), 1 - 2**32):
        assert int(env.reset(KEY, params, scenario=far)[1].scenario) == 0


@pytest.mark.parametrize("env_id", jaxenv.registered())
@pytest.mark.parametrize("wrap", [lambda env: env, wrappers.FlattenObservation, wrappers.LegacyStep])
def test_what_is_no_action_is_one_sentence(env_id, wrap):
    env, params = make(env_id)
    _, state = jax.eval_shape(env.reset_env, KEY, params)
    expected = f"{env_id} expects {f'integers of shape {list(agents(env))}' if agents(env) else 'an integer'}"
    zeros = np.zeros(agents(env), np.float32)
    for call in (wrap(env).step, wrap(env).step_env):

        def error_of(action, call=call):
            with pytest.raises(TypeError) as error:
                jax.eval_shape(functools.partial(call, KEY, action=action, params=params), state=state)
            return str(error.value)

        assert error_of(zeros) == f"action is of type float32, {expected}"
        assert error_of(zeros.astype(bool)) == f"action is of type bool, {expected}"
        assert error_of({"type": 1}) == f"action is of type dict, {expected}"
        assert error_of(np.zeros(3, int)) == f"action has shape (3,), {env_id} expects {list(agents(env))}"
        assert error_of("accept").startswith(f"action is 'accept', {env_id} expects ")


@pytest.mark.parametrize("env_id", jaxenv.registered())
def test_what_is_no_scenario_is_one_sentence(env_id):
    env, params = make(env_id)
    many = wrappers.Vectorize(env, 2)
    wrong = [
        ("lunch", "is 'lunch'", "an integer"),
        (np.float32(1), "is of type float32", "an integer"),
        (np.zeros(3, int), "has shape (3,)", "[]"),
    ]
    for scenario, found, expected in wrong:
        for reset in (env.reset, env.reset_env):
            with pytest.raises(TypeError) as error:
                reset(KEY, params, scenario)
            assert str(error.value) == f"scenario {found}, {env_id} expects {expected}"
    with pytest.raises(TypeError, match=r"^scenario has shape \(3,\), .* expects \[2\]"):
        many.reset(KEY, params, np.zeros(3, int))
    _, state = jax.eval_shape(many.reset, KEY, params)
    with pytest.raises(TypeError, match=r"^action has shape \(3,\), .* expects \[2"):
        jax.eval_shape(lambda state: many.step(KEY, state, np.zeros(3, int), params), state)


def test_another_argument_that_is_no_array_is_one_sentence():
    env, params = make(FIRST)
    with pytest.raises(TypeError, match=f"^params is 'easy', {FIRST} expects arrays$"):
        env.reset(KEY, "easy")
    with pytest.raises(TypeError, match=rf"^state\.clock is of type object, {FIRST} expects arrays$"):
        env.step(KEY, first(FIRST)[1].replace(clock=object()), 0, params)


@pytest.mark.parametrize("env_id", PLAYED)
def test_without_params_the_default_ones_are_taken(env_id):
    env, params = make(env_id)

    _, state = first = jax.eval_shape(env.reset, KEY, params)
    assert types(jax.eval_shape(env.reset, KEY)) == types(first)
    later = jax.eval_shape(env.step, KEY, state, actions(env), params)
    assert types(jax.eval_shape(env.step, KEY, state, actions(env))) == types(later)


def test_without_params_wrappers_take_the_default_ones():
    env = make(FIRST)[0]
    many = wrappers.Vectorize(wrappers.LegacyStep(env), 3)
    _, state = jax.eval_shape(many.reset, KEY)
    assert jax.eval_shape(many.step, KEY, state, actions(env, batch=(3,)))[3].shape == (3,)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_default_params_give_the_same_episode(env_id):
    env, params = make(env_id)
    _, state, action = first(env_id)
    assert_same(env.reset(KEY), env.reset(KEY, params))
    assert_same(env.step(KEY, state, action), env.step(KEY, state, action, params))
