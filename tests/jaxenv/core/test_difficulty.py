"""The difficulty of a generator: refused on the host where it is none, and brought to 0 where it is traced."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from jaxenv import wrappers
from jaxenv.core.contents import as_difficulty
from strategies.ids import ENGINES
from strategies.tables import Table

KEY = jax.random.key(0)
NONE = (-1e9, -1e-30, math.nan, math.inf, -math.inf, 1e39, 10**400, "hard", None, True, [0.5], np.float32(-1))


class Shown(Table):
    """Its scenarios are the difficulty that they were drawn at."""

    def generate(self, key, difficulty):
        return difficulty


@pytest.mark.parametrize(
    "given", [0, 0.0, 0.5, 1, 2.5, 3e38, np.float32(0.5), np.int64(1), jnp.float32(2), jnp.bfloat16(1)]
)
def test_what_is_one_is_handed_on_as_it_is(given):
    assert as_difficulty(given) is given
    assert Shown().generate(KEY, difficulty=given) is given


@pytest.mark.parametrize("given", [*NONE, jnp.float32(math.nan), jnp.zeros(2)])
def test_what_is_none_is_one_sentence(given):
    for env in (Shown(), wrappers.FlattenObservation(Shown())):
        with pytest.raises(ValueError, match=r"^difficulty is .*, expected a number from 0 to 1, or a finite one"):
            env.generate(KEY, given)


def test_it_says_what_was_found():
    with pytest.raises(ValueError, match=r"^difficulty is -0\.5, expected"):
        as_difficulty(-0.5)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32"])
def test_one_that_is_traced_and_below_0_or_not_a_number_is_0(dtype):
    given = jnp.array([-1e9, -1, 0, 1, 2] + [math.nan, -math.inf, math.inf] * (dtype != "int32"), dtype)
    expected = [0, 0, 0, 1, 2] + [0, 0, math.inf] * (dtype != "int32")
    found = jax.jit(jax.vmap(lambda d: Shown().generate(KEY, d)))(given)
    assert (found.dtype, found.tolist()) == (given.dtype, expected)


@pytest.mark.parametrize("env_id", jaxenv.registered())
def test_every_environment_refuses_what_is_none(env_id):
    env, _ = jaxenv.make(env_id)
    for given in (-1e9, math.nan, math.inf):
        with pytest.raises(ValueError, match=r"^difficulty is "):
            env.generate(KEY, given)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", ENGINES)
def test_below_0_a_traced_difficulty_draws_what_0_draws(env_id):
    generate = jax.jit(jaxenv.make(env_id)[0].generate)
    expected = generate(KEY, 0.0)
    for given in (-1e9, math.nan):
        jax.tree.map(np.testing.assert_array_equal, generate(KEY, given), expected)
