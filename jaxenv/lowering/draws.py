"""The random numbers of `jax.random`, bit for bit, as plain arithmetic that fuses with its consumers.

On a CPU `jax.random` hashes in a loop, which writes whole arrays between its rounds, and on a GPU in a separate
kernel; a step draws so few numbers that the hash written out is several times faster and costs no memory.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxenv.core.types import Key

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = np.uint32(0x1BD11BDA)


def split(key: Key, num: int = 2) -> Key:
    """[num] keys: `jax.random.split`.

    >>> import jax
    >>> from jaxenv.lowering import draws
    >>> bool((draws.split(jax.random.key(3)) == jax.random.split(jax.random.key(3))).all())
    True
    """
    if not _is_threefry(key):
        return jax.random.split(key, num)
    pair = _hash(key, jnp.arange(num, dtype=jnp.uint32))
    return jax.random.wrap_key_data(jnp.stack(pair, axis=1), impl=jax.random.key_impl(key))


def fold_in(key: Key, data: int) -> Key:
    """A key: `jax.random.fold_in`, for `data` in 0 .. 2³² − 1.

    >>> import jax
    >>> from jaxenv.lowering import draws
    >>> bool(draws.fold_in(jax.random.key(3), 7) == jax.random.fold_in(jax.random.key(3), 7))
    True
    """
    if not _is_threefry(key):
        return jax.random.fold_in(key, data)
    pair = _hash(key, np.uint32(data))
    return jax.random.wrap_key_data(jnp.stack(pair), impl=jax.random.key_impl(key))


def bits(key: Key, count: int) -> jax.Array:
    """[count] uint32: `jax.random.bits`.

    >>> import jax
    >>> from jaxenv.lowering import draws
    >>> bool((draws.bits(jax.random.key(3), 5) == jax.random.bits(jax.random.key(3), (5,))).all())
    True
    """
    if not _is_threefry(key):
        return jax.random.bits(key, (count,))
    first, second = _hash(key, jnp.arange(count, dtype=jnp.uint32))
    return first ^ second


def uniform(key: Key) -> jax.Array:
    """[] float32 in [0, 1): `jax.random.uniform`.

    >>> import jax
    >>> from jaxenv.lowering import draws
    >>> float(draws.uniform(jax.random.key(3))) == float(jax.random.uniform(jax.random.key(3)))
    True
    """
    if not _is_threefry(key):
        return jax.random.uniform(key)
    first, second = _hash(key, np.uint32(0))
    mantissa = (first ^ second) >> 9
    return lax.bitcast_convert_type(mantissa | np.float32(1).view(np.uint32), jnp.float32) - 1


def _is_threefry(key: Key) -> bool:
    """Whether `jax.random` draws from this key as is written here; otherwise it draws itself."""
    is_typed = jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
    is_partitionable = jax.config.jax_threefry_partitionable  # pyright: ignore[reportAttributeAccessIssue]
    return is_typed and jax.random.key_impl(key) == "threefry2x32" and is_partitionable


def _hash(key: Key, counter: jax.Array | np.uint32) -> tuple[jax.Array, jax.Array]:
    """Threefry 2x32 of 20 rounds (Salmon et al. 2011) of a 64-bit counter under 2³²: two uint32 of its shape."""
    first, second = jax.random.key_data(key)
    schedule = (first, second, first ^ second ^ PARITY)
    x, y = jnp.broadcast_to(first, np.shape(counter)), second + counter
    for group in range(5):
        for rotation in ROTATIONS[group % 2]:
            x = x + y
            y = x ^ ((y << rotation) | (y >> (32 - rotation)))
        x = x + schedule[(group + 1) % 3]
        y = y + schedule[(group + 2) % 3] + np.uint32(group + 1)
    # The rounds of two hashes in one chain are more than LLVM's vectorizer ends with (jaxlib 0.11 and later, on a CPU):
    # there each is computed before its consumers.
    return lax.platform_dependent(x, y, cpu=lambda *pair: lax.optimization_barrier(pair), default=lambda *pair: pair)
