"""Conditions on facts and metrics, as sets of codes and closed bounds: their truth, real and as known."""

import jax
import jax.numpy as jnp

from jaxenv.envs.lifestack.types import Bounds, Conditions, Milestones
from jaxenv.lowering.lookup import read


def code_bits(codes: jax.Array, like: jax.Array) -> jax.Array:
    """Each code as the set of itself, in the dtype of `like`; a negative one (unknown, unwritten) as the empty set.

    To be used at many entries of a table, `materialize` it: shifts by a variable number are dear.
    """
    one = jnp.ones((), like.dtype)
    return jnp.where(codes >= 0, one << jnp.maximum(codes, 0).astype(like.dtype), 0).astype(like.dtype)


def within(bounds: Bounds, metrics: jax.Array) -> jax.Array:
    """[B] bool: the metric lies in the bound."""
    value = read(metrics, bounds.metric)
    return (bounds.low <= value) & (value <= bounds.high)


def hold(conditions: Conditions, bits: jax.Array, in_bounds: jax.Array) -> jax.Array:
    """[C] bool: some fact or some bound of the condition holds.

    Args:
        conditions: a table of C conditions.
        bits: [K] code sets, those of the facts, or of the agent's knowledge of them.
        in_bounds: [] the bounds that hold, as a set.
    """
    by_fact = jnp.any((conditions.facts & bits[:, None]) != 0, axis=0)
    return by_fact | ((conditions.bounds & in_bounds) != 0)


def met(milestones: Milestones, bits: jax.Array) -> jax.Array:
    """[M] bool: the condition of the milestone is on a key, and the key's code ([K], as a set) satisfies it."""
    return (milestones.codes & read(bits, milestones.key)) != 0
