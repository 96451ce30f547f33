"""Conditions on facts and metrics, as sets of codes and closed bounds: their truth, real and as known."""

import jax
import jax.numpy as jnp

from jaxenv.envs.lifestack.types import Bounds, Conditions, Milestones
from jaxenv.lowering.lookup import read
from jaxenv.lowering.materialize import materialize


def code_bits(codes: jax.Array, like: jax.Array) -> jax.Array:
    """Each code as the set of itself, in the dtype of `like`; a negative one (unknown, unwritten) as the empty set."""
    one = jnp.ones((), like.dtype)
    return jnp.where(codes >= 0, one << jnp.maximum(codes, 0).astype(like.dtype), 0).astype(like.dtype)


def shared_bits(codes: jax.Array, like: jax.Array) -> jax.Array:
    """`code_bits`, to be used at many entries of a table: computed once, as shifts by a variable number are dear."""
    return materialize(code_bits(codes, like))


def within(bounds: Bounds, metrics: jax.Array) -> jax.Array:
    """[B] bool: the metric lies in the bound."""
    value = bounded(bounds, metrics)
    return (bounds.low <= value) & (value <= bounds.high)


def bounded(bounds: Bounds, metrics: jax.Array) -> jax.Array:
    """[B] int32: the metric of each bound."""
    return read(metrics, bounds.metric)


def satisfied(conditions: Conditions, bits: jax.Array) -> jax.Array:
    """[K, C] bool: the key's code (given as a set, [K]) satisfies the condition."""
    return (conditions.facts & bits[:, None]) != 0


def hold(conditions: Conditions, bits: jax.Array, in_bounds: jax.Array) -> jax.Array:
    """[C] bool: some fact or some bound of the condition holds.

    Args:
        conditions: a table of C conditions.
        bits: [K] code sets, those of the facts, or of the agent's knowledge of them.
        in_bounds: [] the bounds that hold, as a set.
    """
    return jnp.any(satisfied(conditions, bits), axis=0) | ((conditions.bounds & in_bounds) != 0)


def met(milestones: Milestones, bits: jax.Array) -> jax.Array:
    """[M] bool: the condition of the milestone is on a key, and the key's code ([K], as a set) satisfies it."""
    return (milestones.codes & read(bits, milestones.key)) != 0
