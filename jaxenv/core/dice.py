"""Chance in whole numbers, draws of 16 random bits: every engine and every batch size agrees on what follows."""

import math

import jax
import jax.numpy as jnp

from jaxenv.core.types import Key
from jaxenv.lowering import draws


def sample_bits(key: Key, count: int) -> jax.Array:
    """[count] int32 draws in 0 .. 65535, two per random word, which halves their cost."""
    words = draws.bits(key, (count + 1) // 2)
    return jnp.concatenate([words >> 16, words & 0xFFFF])[:count].astype(jnp.int32)


def scale(draw: jax.Array, size: jax.Array) -> jax.Array:
    """[] int32: floor(draw * size / 2¹⁶) for a size under 2¹⁹, in two steps that stay within 31 bits."""
    high, low = size >> 8, size & 0xFF
    return (draw * high + ((draw * low) >> 8)) >> 8


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
