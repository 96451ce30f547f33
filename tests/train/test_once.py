"""Programs that run once: alone, in a larger program, and over members."""

import jax
import jax.numpy as jnp
import pytest

from train.once import compiled_once


@pytest.fixture
def traces():
    return []


@pytest.fixture
def scaled(traces):
    def function(x, *, by):
        traces.append(by)
        return by * x

    return compiled_once(function, static_argnames="by")


def test_it_is_compiled_once(scaled, traces):
    assert [int(scaled(jnp.int32(n), by=3)) for n in range(3)] == [0, 3, 6]
    assert traces == [3]


def test_it_can_be_part_of_a_program(scaled):
    numbers = jnp.arange(3)
    assert jax.jit(lambda x: scaled(x, by=2) + 1)(numbers).tolist() == [1, 3, 5]
    assert jax.vmap(lambda x: scaled(x, by=2))(numbers).tolist() == [0, 2, 4]
    assert compiled_once(jax.vmap(lambda x: scaled(x, by=2)))(numbers).tolist() == [0, 2, 4]
    assert jax.eval_shape(lambda x: scaled(x, by=2), numbers).shape == (3,)
