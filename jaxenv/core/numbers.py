"""Conversions of numbers that the environments share."""

from typing import Any

import jax
import jax.numpy as jnp


def as_float(x: Any) -> jax.Array:
    """float32 of the same shape."""
    return jnp.asarray(x).astype(jnp.float32)


def as_integer(u: jax.Array, low: jax.Array | int, high: jax.Array | int) -> jax.Array:
    """Integers low..high, both included, from uniform numbers in [0, 1): int32 of the shape of `u`."""
    span = jnp.asarray(high - low, jnp.int32)
    return low + jnp.clip(jnp.floor(u * (span + 1).astype(jnp.float32)).astype(jnp.int32), 0, span)
