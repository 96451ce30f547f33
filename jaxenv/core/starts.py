"""Draws by weights in constant time: the alias method of Walker (1977), its table made by prefix sums.

Each of S slots has room for the mean weight. A slot of less keeps what it has and the rest of its room is filled by
another slot, so that one number gives the slot (its whole part) and whether it is kept (its fraction): one read of the
table in the place of a search, which training would pay in every step of every environment.
"""

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.lowering.lookup import read

WHOLE = 2**30
"""Parts of all weights: their sums are integers, so that nothing is rounded in the order of a device's sums."""


@jax.jit
def alias_table(weights: jax.Array) -> jax.Array:
    """[S, 2] float32: of each slot the share of its room that is its own, and the slot that fills the rest.

    Slots of less than the mean, in their order, are filled by those of more, in theirs; one of more that is used up
    keeps what it has left and is filled by the next (the sweep of Hübschle-Schneider and Sanders 2022). So whose turn
    it is follows from the sums of what is lacking and of what is spare.

    Args:
        weights: [S] float32, at least 0 and not all 0.
    """
    size = weights.shape[0]
    slots, room = jnp.arange(size), WHOLE >> size.bit_length()
    sums = jnp.cumsum(jnp.round(weights / jnp.sum(weights) * WHOLE).astype(jnp.int32)).astype(jnp.float32)
    parts = jnp.diff(jnp.floor(sums / sums[-1] * (size * room)).astype(jnp.int32), prepend=0)  # add up to all rooms
    lacking, spare = (jnp.cumsum(jnp.maximum(each, 0)) for each in (room - parts, parts - room))
    overdrawn = read(lacking, jnp.searchsorted(lacking, spare, side="left")) - spare  # by the slot that uses it up
    is_light = parts <= room
    own = jnp.where(is_light, parts, room - overdrawn)
    before = lacking - jnp.maximum(room - parts, 0)
    filler = jnp.searchsorted(spare, jnp.where(is_light, before, spare), side="right")
    filler = jnp.where(own < room, filler, slots)
    return jnp.stack([own.astype(jnp.float32) / room, filler.astype(jnp.float32)], axis=-1)


def pick(table: jax.Array, uniform: jax.Array) -> jax.Array:
    """[] int32: the slot for a number in [0, 1]."""
    size = table.shape[0]
    place = uniform * size
    slot = jnp.minimum(jnp.floor(place), size - 1)
    own, filler = read(table, slot.astype(jnp.int32))
    return jnp.where(place - slot < own, slot, filler).astype(jnp.int32)


def probabilities(table: jax.Array) -> jax.Array:
    """[S] float32, which sum to 1: how often each slot is drawn."""
    size = table.shape[0]
    own, filler = table[:, 0], table[:, 1].astype(jnp.int32)
    return (own + jax.ops.segment_sum(1.0 - own, filler, size)) / size


def is_alias_table(table: np.ndarray, size: int) -> bool:
    """Whether this is a table of so many slots (host side)."""
    if table.shape != (size, 2):
        return False
    own, filler = table.T
    return bool(((own >= 0) & (own <= 1)).all() and np.isin(filler, np.arange(size)).all())
