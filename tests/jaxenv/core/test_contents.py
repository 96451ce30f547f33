"""The numbers of params: each has bounds, and what is none is refused by its name."""

import functools
import math
import operator
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from jaxenv import baselines, wrappers
from jaxenv.core.contents import require_valid
from jaxenv.wrappers.adapters import resolve

NONE = ("x", None, True, math.nan, math.inf, -math.inf, 3e38, 2**70, 10**400, [1.0, "x"], np.array("x"))
make = functools.cache(jaxenv.make)


def names(params):
    """The dotted names of all numbers."""
    entries = jax.tree_util.tree_leaves_with_path(params.replace(bank=None))
    return [jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in entries]


def with_entry(params, name, value):
    """The params with another value of that name."""
    group, _, entry = name.rpartition(".")
    if not group:
        return params.replace(**{name: value})
    return params.replace(**{group: getattr(params, group).replace(**{entry: value})})


@pytest.mark.parametrize("env_id", jaxenv.registered())
def test_the_numbers_of_an_id_are_within_their_bounds(env_id):
    params = make(env_id)[1]
    params.validate()
    jax.tree.map(np.asarray, params).validate()
    jax.eval_shape(lambda params: params.validate(), params)  # what is traced is not looked at


@pytest.mark.parametrize("given", NONE, ids=lambda given: repr(given)[:20])
@pytest.mark.parametrize("env_id", ["LifeOps-v0", "LifeStack-v0", "TeamsClone-MultiAgent-v0"])
def test_what_is_no_number_is_refused_by_its_name(env_id, given):
    params = make(env_id)[1]
    for name in names(params):
        with pytest.raises(ValueError, match=rf"^{re.escape(name)}.* is .*, expected a (finite|whole) number within"):
            with_entry(params, name, given).validate()


@pytest.mark.parametrize(
    ("env_id", "name", "least", "greatest"),
    [
        ("LifeOps-v0", "departure_min", 0, 1440),
        ("LifeOps-Shaped-v0", "weights.deadline_pressure_cap", -1e6, 1e6),
        ("LifeStack-v0", "weights.success", -1e6, 1e6),
        ("TeamsClone-v0", "weights.send", -1e6, 1e6),
        ("TeamsClone-v0", "shared_reward", 0.0, 1.0),
        ("TeamsClone-v0", "max_steps_in_episode", 1, 31_000),
    ],
)
def test_a_number_has_bounds(env_id, name, least, greatest):
    params = make(env_id)[1]
    for within in (least, greatest, np.int64(greatest), jnp.float32(least), jnp.array([least, greatest])):
        with_entry(params, name, within).validate()
    for beyond in (least - 1, greatest + 1, -(10**9), 2**40, jnp.array([least, greatest + 1])):
        with pytest.raises(ValueError, match=rf"^{re.escape(name)} is .* within {least:,} to {greatest:,}$"):
            with_entry(params, name, beyond).validate()


def test_it_says_what_was_found():
    params = make("LifeOps-v0")[1]
    with pytest.raises(ValueError, match=r"^departure_min is 'x', expected a whole number within 0 to 1,440$"):
        params.replace(departure_min="x").validate()


@pytest.mark.parametrize("given", [0.5, np.float32(61.25), jnp.array([1.0, 1.5])])
def test_a_count_is_whole(given):
    with pytest.raises(ValueError, match=r"^departure_min is .*, expected a whole number within 0 to 1,440$"):
        make("LifeOps-v0")[1].replace(departure_min=given).validate()


def test_the_greatest_weights_pay_a_finite_reward():
    env, params = make("LifeOps-Shaped-v0")
    most = params.replace(weights=jax.tree.map(lambda weight: jnp.full_like(weight, 10**6), params.weights))
    most.validate()
    _, state = env.reset(jax.random.key(0), most, 3)
    for action in range(4):
        assert jnp.isfinite(env.step(jax.random.key(0), state, action, most)[2])


def test_an_adapter_asks_the_params_that_it_is_given():
    env, params = make("LifeOps-v0")
    with pytest.raises(ValueError, match=r"^departure_min is -1, expected"):
        resolve(env, params.replace(departure_min=-1))
    with pytest.raises(ValueError, match=r"^departure_min is -1, expected"):
        wrappers.JaxMARL(env, params.replace(departure_min=-1))


def test_evaluation_asks_its_params():
    env, params = make("LifeOps-v0")
    with pytest.raises(ValueError, match=r"^departure_min is -1, expected"):
        jaxenv.evaluate(baselines.for_environment(env)["Random"], env, params.replace(departure_min=-1))


def test_params_that_cannot_say_are_taken():
    require_valid(operator.add)
