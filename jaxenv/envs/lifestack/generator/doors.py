"""Doors: the effects of events on links of the chain, and the best order to go through them.

A door shuts late, for good or by a fact. The fact shows, or it is hidden and nobody is asked before it changes.
An awaited opening may last for a while only: a window. Two doors may stand on two branches that are both needed.
"""

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.envs.lifestack.generator.slots import LINKS
from jaxenv.host.numbers import as_integer

NO_CHANGE, UNDO, REVISE, SHUT_TOO = range(4)
"""Effects of one further event: undo a link's result, revise the hidden fact of the commitment, or close a link."""
NUM_DOORS = 14  # uniform numbers


class Doors(struct.PyTreeNode):
    """Which links events make possible or impossible; -1 where there is no such link."""

    shut: jax.Array  # [] int32, the link that an event makes impossible late
    is_hidden: jax.Array  # [] bool, by a hidden fact that is true at first
    is_silent: jax.Array  # [] bool, and the event is not announced
    is_urgent: jax.Array  # [] bool, before there is time for links that can wait
    wait: jax.Array  # [] int32, the link that an event makes possible early
    is_window: jax.Array  # [] bool, for a while only: it is the one that is shut
    wait_shows: jax.Array  # [] bool, the awaited fact always shows
    change: jax.Array  # [] int32, NO_CHANGE .. SHUT_TOO
    changed: jax.Array  # [] int32, the link that the change affects
    early: jax.Array  # [] int32, a link that is best gone first, though no other needs it


def draw_doors(
    u: jax.Array, d: jax.Array, length: jax.Array, *, turn: jax.Array, can_revise: jax.Array, join: jax.Array
) -> Doors:
    """Doors from uniform numbers, [NUM_DOORS].

    Args:
        u: [NUM_DOORS] in [0, 1).
        d: [] float32, the difficulty.
        length: [] int32, links of the chain.
        turn: [] int32, the first link of the commitment, -1 where none.
        can_revise: [] bool, whether a hidden fact decides the commitment.
        join: [] int32, the link that needs two branches, -1 where none.
    """
    is_pair = (join >= 0) & (u[0] < 0.3 + 0.5 * d)
    wait = jnp.where(u[1] < 0.1 + 0.3 * d, as_integer(u[2], 0, length - 1), -1)
    is_window = (wait >= 0) & ~is_pair & (u[3] < 0.1 + 0.4 * d)
    shut = jnp.where(u[4] < 0.1 + 0.3 * d, as_integer(u[5], 0, length - 1), -1)
    shut = jnp.where(is_window, wait, jnp.where(is_pair, as_integer(u[5], 0, join - 2), shut))
    is_hidden = (shut >= 0) & ~is_window & (u[6] < 0.15 + 0.35 * d)
    change, changed = _draw_change(u[7:10], d, length, turn=turn, can_revise=can_revise, shut=shut)
    branch = join - 1
    return Doors(
        shut=shut,
        is_hidden=is_hidden,
        is_silent=is_hidden & (u[10] < 0.3),
        is_urgent=(shut >= 0) & (u[11] < 0.2 + 0.5 * d),
        wait=wait,
        is_window=is_window,
        wait_shows=is_window & (u[12] < 0.5),
        change=jnp.where(is_pair, SHUT_TOO, change),
        changed=jnp.where(is_pair, branch, changed),
        early=jnp.where(is_pair & (u[13] < 0.5) & (wait != branch), branch, -1),
    )


def _draw_change(
    u: jax.Array, d: jax.Array, length: jax.Array, *, turn: jax.Array, can_revise: jax.Array, shut: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """([] int32 effect of one further event, [] int32 affected link), where the plan has room for it."""
    kind = 1 + as_integer(u[0], 0, 5) // 2
    link = jnp.where(kind == UNDO, as_integer(u[1], 0, jnp.maximum(length - 2, 0)), as_integer(u[1], 0, length - 1))
    link = jnp.where(kind == REVISE, turn, link)
    revises = (turn >= 0) & can_revise
    fits = jnp.where(kind == UNDO, length >= 2, jnp.where(kind == REVISE, revises, (shut >= 0) & (link != shut)))
    fits &= (u[2] < 0.2 + 0.7 * d) | (kind == SHUT_TOO)  # which needs room that is seldom there
    return jnp.where(fits, kind, NO_CHANGE), jnp.where(fits, link, -1)


def gone_before(doors: Doors) -> jax.Array:
    """[5, 5] bool: whether the column is gone no later than the row, in the order that the doors require."""
    link = np.arange(LINKS)
    rank = jnp.where(link == doors.early, -1, link)
    return rank[None] <= rank[:, None]
