"""Random numbers of a few operations each, to measure the cost of JAX's; not random enough for other uses."""

import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax.extend.random import define_prng_impl

# Odd constants that spread a counter over 32 bits (Knuth's multiplicative hashing).
SPREAD, FOLD = 2654435761, 2246822519


def seed(number: jax.Array) -> jax.Array:
    """[2] uint32: a key."""
    return jnp.stack([number.astype(jnp.uint32), jnp.uint32(1)])


def bits(key: jax.Array, width: int, shape: Sequence[int]) -> jax.Array:
    """The requested number of random words, of 8, 16 or 32 bits."""
    count = jnp.arange(math.prod(shape), dtype=jnp.uint32).reshape(shape)
    return ((key[0] ^ count) * jnp.uint32(SPREAD) + key[1]).astype(f"uint{width}")


def split(key: jax.Array, shape: Sequence[int]) -> jax.Array:
    """[*shape, 2] uint32: keys."""
    words = bits(key, 32, shape)
    return jnp.stack([words, words ^ key[1]], axis=-1)


def fold_in(key: jax.Array, data: jax.Array | int) -> jax.Array:
    """[2] uint32: a key for a number."""
    return jnp.stack([key[0] + jnp.asarray(data).astype(jnp.uint32) * jnp.uint32(FOLD), key[1]])


CHEAP = define_prng_impl(
    key_shape=(2,), seed=seed, split=split, random_bits=bits, fold_in=fold_in, name="cheap", tag="cheap"
)
