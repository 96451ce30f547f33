"""Sets as bits: of flags and back, in NumPy and JAX, and the union of some of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxenv.lowering import bitsets

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("count", "dtype"), [(1, np.uint8), (8, np.uint8), (9, np.uint16), (17, np.uint32), (32, np.uint32)]
)
def test_flags_become_a_set_and_flags_again(count, dtype):
    flags = RANDOM.random((3, 5, count)) < 0.5
    sets = bitsets.of_flags(flags)
    assert (sets.dtype, sets.shape) == (dtype, (3, 5))
    assert sets[1, 2] == sum(1 << number for number in np.flatnonzero(flags[1, 2]))
    np.testing.assert_array_equal(bitsets.flags(sets, count), flags)
    traced = jax.jit(bitsets.of_flags)(jnp.asarray(flags))
    assert traced.dtype == dtype
    np.testing.assert_array_equal(traced, sets)
    np.testing.assert_array_equal(jax.jit(lambda sets: bitsets.flags(sets, count))(traced), flags)


def test_a_set_may_have_a_wider_dtype_than_it_needs():
    assert bitsets.of_flags(np.array([False, True]), np.uint32).dtype == np.uint32
    assert bitsets.flags(np.uint32(2), 2).tolist() == [False, True]


def test_the_union_is_of_those_asked_for():
    sets, where = RANDOM.integers(0, 256, (4, 6)).astype(np.uint8), RANDOM.random((4, 6)) < 0.5
    expected = np.bitwise_or.reduce(np.where(where, sets, 0), axis=-1)
    np.testing.assert_array_equal(bitsets.union(jnp.asarray(sets), where=where), expected)
