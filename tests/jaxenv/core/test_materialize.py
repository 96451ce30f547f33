"""A value worked out once is the same value."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxenv.lowering.materialize import materialize


@pytest.mark.parametrize("dtype", [bool, jnp.int8, jnp.int32, jnp.uint32])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_value_shape_and_dtype_are_kept(dtype, shape):
    value = jax.random.randint(jax.random.key(0), shape, 0, 100).astype(dtype)
    value = value | jnp.asarray(1, dtype) if dtype is not bool else value
    result = jax.jit(materialize)(value)
    np.testing.assert_array_equal(result, value)
    assert result.dtype == value.dtype


def test_extremes_are_kept():
    assert int(materialize(jnp.full((), 2**32 - 1, jnp.uint32))) == 2**32 - 1
    assert int(materialize(jnp.int32(-(2**31)))) == -(2**31)
