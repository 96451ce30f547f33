"""Chance in whole numbers, draws of 16 random bits: every engine and every batch size agrees on what follows.

Probabilities are in units of 2⁻¹⁶; a CDF has their running sums.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.types import Key
from jaxenv.lowering import draws

DIFFICULTY_STEPS = 1024  # a difficulty of 1 in whole numbers


def sample_bits(key: Key, count: int) -> jax.Array:
    """[count] int32 draws in 0 .. 65535, two per random word, which halves their cost."""
    words = draws.bits(key, (count + 1) // 2)
    return jnp.concatenate([words >> 16, words & 0xFFFF])[:count].astype(jnp.int32)


def scale(draw: jax.Array, size: jax.Array) -> jax.Array:
    """[] int32: floor(draw * size / 2¹⁶) for a size under 2¹⁹, in two steps that stay within 31 bits."""
    high, low = size >> 8, size & 0xFF
    return (draw * high + ((draw * low) >> 8)) >> 8


def pick(cdf: jax.Array, draw: jax.Array) -> jax.Array:
    """[] int32: the first entry of the CDF ([n] int32) above the draw, the last one if none is."""
    return jnp.sum(draw >= cdf[:-1], dtype=jnp.int32)


def first_above(cdf: jax.Array, level: jax.Array) -> jax.Array:
    """[] int32: the first entry of the CDF ([n] int32, rising) above `level` ([]); n if none is."""
    return jnp.sum(level >= cdf, dtype=jnp.int32)


def running_sum(probabilities: jax.Array) -> jax.Array:
    """[n] int32; a masked sum, which on a CPU is quicker than `cumsum` and than a product with a triangle."""
    up_to = np.triu(np.ones(probabilities.shape * 2, bool))
    return jnp.sum(jnp.where(up_to, probabilities[:, None], 0), axis=0, dtype=jnp.int32)


def uniform_among(mask: jax.Array, draw: jax.Array) -> jax.Array:
    """[] int32: a uniform draw among the True entries of `mask` ([n] bool)."""
    ranks = running_sum(mask.astype(jnp.int32))
    return first_above(ranks, scale(draw, ranks[-1]))


def rounded(most: int, steps: jax.Array) -> jax.Array:
    """int32: round(most * difficulty), of a difficulty in steps."""
    return (most * steps + DIFFICULTY_STEPS // 2) // DIFFICULTY_STEPS


class Dice:
    """A row of draws that is consumed piece by piece while a generator is traced: it compiles as one draw.

    >>> import jax
    >>> from jaxenv.core.dice import Dice
    >>> dice = Dice(jax.random.key(0), 3)
    >>> dice.between(1, 6, 3).tolist()
    [6, 6, 2]
    """

    def __init__(self, key: Key, count: int) -> None:
        """Sets so many draws aside."""
        self._left = sample_bits(key, count)

    def table(self, *shape: int) -> jax.Array:
        """The next draws, of a shape; ValueError where fewer are left."""
        size = math.prod(shape)
        taken, self._left = self._left[:size], self._left[size:]
        if taken.shape != (size,):
            raise ValueError("the generator draws more than it has set aside")
        return taken.reshape(shape)

    def between(self, low: int, high: int, *shape: int) -> jax.Array:
        """int32 numbers of a shape, low to high."""
        return low + scale(self.table(*shape), jnp.int32(high - low + 1))
