"""Chance in integers: draws of 16 random bits, probabilities in units of 2⁻¹⁶; every engine and batch size agrees."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.dice import scale


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
