"""Sets of small numbers in few bytes: the bits of an unsigned integer, bit n for the number n."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

MAX_SIZE = 32  # a set holds numbers below it


def dtype_of(count: int) -> type:
    """The smallest dtype that holds sets of the numbers 0 .. count - 1.

    >>> from jaxenv.lowering import bitsets
    >>> bitsets.dtype_of(8).__name__, bitsets.dtype_of(9).__name__
    ('uint8', 'uint16')
    """
    return np.uint8 if count <= 8 else np.uint16 if count <= 16 else np.uint32


def singletons(count: int, dtype: Any) -> np.ndarray:
    """[count]: each number as the set of itself.

    >>> from jaxenv.lowering import bitsets
    >>> bitsets.singletons(4, "uint8").tolist()
    [1, 2, 4, 8]
    """
    return np.left_shift(np.uint32(1), np.arange(count, dtype=np.uint32)).astype(dtype)


def of_flags(flags: Any, dtype: Any = None) -> Any:
    """[...]: the numbers whose flag is set ([..., count] bool); NumPy and JAX arrays alike.

    >>> import numpy as np
    >>> from jaxenv.lowering import bitsets
    >>> bitsets.of_flags(np.array([[True, False, True], [False, True, False]])).tolist()
    [5, 2]

    Args:
        flags: along the last axis.
        dtype: of the sets, as small as they can be where not given.
    """
    count = flags.shape[-1]
    dtype = dtype_of(count) if dtype is None else dtype
    bits = singletons(count, dtype).reshape((1,) * (flags.ndim - 1) + (count,))
    numpy = jnp if isinstance(flags, jax.Array) else np
    return numpy.sum(numpy.where(flags, bits, np.zeros((), dtype)), axis=-1, dtype=dtype)


def flags(sets: Any, count: int) -> Any:
    """[..., count] bool: which of the numbers 0 .. count - 1 each set has; NumPy and JAX arrays alike.

    >>> import numpy as np
    >>> from jaxenv.lowering import bitsets
    >>> bitsets.flags(np.array([5, 2], np.uint8), 3).astype(int).tolist()
    [[1, 0, 1], [0, 1, 0]]
    """
    bits = singletons(count, sets.dtype).reshape((1,) * sets.ndim + (count,))
    return (sets[..., None] & bits) != 0


def sizes(sets: jax.Array) -> jax.Array:
    """[...] int32: how many numbers each set has.

    >>> import jax.numpy as jnp
    >>> from jaxenv.lowering import bitsets
    >>> bitsets.sizes(jnp.array([5, 0, 7], jnp.uint8)).tolist()
    [2, 0, 3]
    """
    return jax.lax.population_count(sets).astype(jnp.int32)


def union(sets: jax.Array, *, where: Any) -> jax.Array:
    """[...]: the numbers that any of the sets along the last axis has, of those for which `where` is true.

    >>> import jax.numpy as jnp
    >>> from jaxenv.lowering import bitsets
    >>> bitsets.union(jnp.array([4, 2, 1], jnp.uint8), where=jnp.array([True, False, True])).tolist()
    5
    """
    return jax.lax.reduce_or(jnp.where(where, sets, np.zeros((), sets.dtype)), axes=(sets.ndim - 1,))
