"""The catalogue of actions: the meaning of each index, and the entries that are legal now.

Order: accept, reject; for each candidate start reschedule and propose side by side; for each focus start each duration.
An action is decoded by tables, without a branch.
"""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core.masking import concatenate_masks
from jaxenv.core.types import ActionMask
from jaxenv.envs.lifeops.types import DAY_END, FOCUS, Event, Persona
from jaxenv.lowering.lookup import read

ACCEPT, REJECT, RESCHEDULE, PROPOSE, BLOCK_FOCUS = range(5)
ACTION_TYPES = (
    "accept_event",
    "reject_event",
    "reschedule_event",
    "propose_new_time",
    "block_focus_time",
)


class Entry(struct.PyTreeNode):
    """The meaning of one index of the catalogue, or a table of all of them."""

    verb: Any  # [] int32, ACCEPT .. BLOCK_FOCUS
    candidate: Any  # [] int32, which of the starts that a request can be moved to, 0 where it is not moved
    minutes: Any  # [] int32, the new start, or how far it is from the request's own
    is_relative: Any  # [] bool, `minutes` counts from the request's own start
    duration: Any  # [] int32, minutes of focus time, 0 where the entry blocks none


@dataclasses.dataclass(frozen=True)
class Catalogue:
    """The numbers that fix a catalogue (static), in minutes; its size is A."""

    offsets: tuple[int, ...]  # candidate starts relative to the request's own
    day_starts: tuple[int, ...]  # candidate starts after midnight
    focus_starts: tuple[int, ...]
    focus_durations: tuple[int, ...] = (30, 60)

    @property
    def num_candidates(self) -> int:
        """How many starts a request can be moved to."""
        return len(self.offsets) + len(self.day_starts)

    @property
    def num_request_actions(self) -> int:
        """How many entries handle a request; they come first."""
        return 2 + 2 * self.num_candidates

    @property
    def size(self) -> int:
        """The number of entries A."""
        return self.num_request_actions + len(self.focus_starts) * len(self.focus_durations)

    @functools.cached_property
    def table(self) -> "Entry":
        """The columns, [A] each."""
        num_focus = self.size - self.num_request_actions
        starts = [*self.offsets, *self.day_starts]
        is_relative = [True] * len(self.offsets) + [False] * len(self.day_starts)
        return Entry(
            verb=np.array([ACCEPT, REJECT, *[RESCHEDULE, PROPOSE] * len(starts), *[BLOCK_FOCUS] * num_focus], np.int32),
            candidate=np.array([0, 0, *np.repeat(np.arange(len(starts)), 2), *[0] * num_focus], np.int32),
            minutes=np.array(
                [0, 0, *np.repeat(starts, 2), *np.repeat(self.focus_starts, len(self.focus_durations))], np.int32
            ),
            is_relative=np.array([True, True, *np.repeat(is_relative, 2), *[False] * num_focus]),
            duration=np.array(
                [*[0] * self.num_request_actions, *np.tile(self.focus_durations, len(self.focus_starts))], np.int32
            ),
        )


CLASSIC = Catalogue(offsets=(-30, 30, 60), day_starts=(), focus_starts=(540, 660, 840, 960))
SHAPED = Catalogue(
    offsets=(-120, -90, -60, -30, 30, 60, 90, 120),
    day_starts=(540, 600, 660, 780, 840, 900, 960, 1020),
    focus_starts=(540, 660, 840, 960, 1200, 1260),
)


class Move(struct.PyTreeNode):
    """A decoded action."""

    verb: jax.Array  # [] int32, ACCEPT .. BLOCK_FOCUS
    event: Event  # the event that it adds, or would add: the request at its new time, or the focus block
    duration: jax.Array  # [] int32, minutes of focus time, 0 otherwise


def candidate_starts(catalogue: Catalogue, request: Event) -> jax.Array:
    """[C] int32, minutes: where the request could be moved to, clamped so that it ends by midnight."""
    minutes = np.array([*catalogue.offsets, *catalogue.day_starts], np.int32)
    is_relative = np.arange(catalogue.num_candidates) < len(catalogue.offsets)
    return jnp.clip(minutes + jnp.where(is_relative, request.start, 0), 0, DAY_END - (request.end - request.start))


def entry(catalogue: Catalogue, action: jax.Array) -> Entry:
    """The meaning of an index; an out-of-range index is clamped."""
    return read(catalogue.table, action)


def decode(chosen: Entry, request: Event, persona: Persona) -> Move:
    """The move of an entry of the catalogue, given the current request."""
    is_focus = chosen.verb == BLOCK_FOCUS
    length = jnp.where(is_focus, chosen.duration, request.end - request.start)
    start = chosen.minutes + jnp.where(chosen.is_relative, request.start, 0)
    start = jnp.where(is_focus, start, jnp.clip(start, 0, DAY_END - length))
    event = Event(
        start=start,
        end=jnp.minimum(start + length, DAY_END),
        place=jnp.where(is_focus, persona.work_place.astype(jnp.int32), request.place),
        kind=jnp.where(is_focus, FOCUS, request.kind),
        importance=jnp.where(is_focus, 1, request.importance),
    )
    return Move(verb=chosen.verb, event=event, duration=chosen.duration)


def is_legal(
    catalogue: Catalogue, chosen: Entry, move: Move, request: Event, has_request: jax.Array, has_work: jax.Array
) -> jax.Array:
    """[] bool: the entry of `legal_mask` of one move."""
    is_moved = (move.verb == RESCHEDULE) | (move.verb == PROPOSE)
    is_earlier = np.arange(catalogue.num_candidates, dtype=np.int32) < chosen.candidate
    repeated = jnp.any((candidate_starts(catalogue, request) == move.event.start) & is_earlier)
    handles = has_request & (~is_moved | (~repeated & (request.end > request.start)))
    return jnp.where(move.verb == BLOCK_FOCUS, has_work, handles)


def legal_mask(catalogue: Catalogue, request: Event, has_request: jax.Array, has_work: jax.Array) -> ActionMask:
    """[A] bool: the legal actions of a live state.

    Request entries need a request, focus entries minutes left. A move also needs a request of some length, and a
    clamped start that no earlier candidate has, so that an action means one thing.
    """
    starts = candidate_starts(catalogue, request)
    earlier = np.triu(np.ones((catalogue.num_candidates, catalogue.num_candidates), bool), 1)
    repeated = ((starts[:, None] == starts[None, :]) & earlier).any(axis=0)
    movable = ~repeated & (request.end > request.start)
    request_entries = concatenate_masks(np.ones(2, bool), jnp.repeat(movable, 2)) & has_request
    num_focus = catalogue.size - catalogue.num_request_actions
    return concatenate_masks(request_entries, jnp.broadcast_to(has_work, num_focus))


def every_move(catalogue: Catalogue, request: Event, persona: Persona) -> Move:
    """All moves of the catalogue, each field with a leading axis [A]."""
    return jax.vmap(lambda chosen: decode(chosen, request, persona))(jax.tree.map(jnp.asarray, catalogue.table))
