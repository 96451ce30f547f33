"""A hint to the compiler: a value that is computed once and not at every use."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def materialize(value: jax.Array) -> jax.Array:
    """The same bools or integers, any shape; on a CPU as a reduction.

    On a CPU, XLA repeats a chain of cheap operations for every element of its broadcast result; a reduction ends
    the chain. Measured in the steps of this suite it saves a tenth where a scalar of many operations meets a table.
    Elsewhere it would split a single kernel.
    """
    return lax.platform_dependent(value, cpu=_reduced, default=lambda value: value)


def _reduced(value: jax.Array) -> jax.Array:
    """The sum, or the any, of the value and of nothing."""
    first = np.array([True, False]).reshape(2, *(1,) * value.ndim)
    if value.dtype == bool:
        return jnp.any(first & value[None], axis=0)
    return jnp.sum(jnp.where(first, value[None], 0), axis=0, dtype=value.dtype)
