"""Conversions of numbers that the environments share."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def as_float(x: Any) -> jax.Array:
    """float32 of the same shape."""
    return jnp.asarray(x).astype(jnp.float32)


def table(columns: Sequence[Any]) -> jax.Array:
    """[n, k] float32 from k columns, [n] of any dtype each.

    A chain of selections on a CPU, whose compiler fuses it with what makes the columns; it copies a stack number by
    number. Where sums or few columns are stacked, `jnp.stack` is as fast or faster. Elsewhere a stack: XLA for a GPU
    fuses the chain into a matrix product, and finds no tiles for it.

    >>> table([jnp.array([True, False]), jnp.array([7, 8])]).tolist()
    [[1.0, 7.0], [0.0, 8.0]]
    """
    return lax.platform_dependent(*map(as_float, columns), cpu=_selected, default=lambda *each: jnp.stack(each, -1))


def _selected(*columns: jax.Array) -> jax.Array:
    place, rows = np.arange(len(columns)), jnp.zeros((), jnp.float32)
    for i, column in enumerate(columns):
        rows = jnp.where(place == i, column[:, None], rows)
    return rows


def as_integer(u: jax.Array, low: jax.Array | int, high: jax.Array | int) -> jax.Array:
    """Integers low..high, both included, from uniform numbers in [0, 1): int32 of the shape of `u`."""
    span = jnp.asarray(high - low, jnp.int32)
    return low + jnp.clip(jnp.floor(u * (span + 1).astype(jnp.float32)).astype(jnp.int32), 0, span)
