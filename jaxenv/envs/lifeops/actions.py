"""The catalogue of actions: what an index means, and which entries are legal now.

Order: accept, reject; for each candidate start reschedule and propose side by side; for each focus start each duration.
An action is decoded by tables, without a branch.
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core.types import ActionMask
from jaxenv.envs.lifeops.types import DAY_END, FOCUS, Event, Persona

ACCEPT, REJECT, RESCHEDULE, PROPOSE, BLOCK_FOCUS = range(5)
ACTION_TYPES = (
    "accept_event",
    "reject_event",
    "reschedule_event",
    "propose_new_time",
    "block_focus_time",
)


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
    def verb(self) -> np.ndarray:
        """[A] int32: ACCEPT, REJECT, RESCHEDULE, PROPOSE or BLOCK_FOCUS."""
        focus = [BLOCK_FOCUS] * (self.size - self.num_request_actions)
        return np.array([ACCEPT, REJECT, *[RESCHEDULE, PROPOSE] * self.num_candidates, *focus], np.int32)

    @functools.cached_property
    def candidate(self) -> np.ndarray:
        """[A] int32: which candidate start an entry moves the request to, 0 where none."""
        moves = np.repeat(np.arange(self.num_candidates), 2)
        focus = [0] * (self.size - self.num_request_actions)
        return np.array([0, 0, *moves, *focus], np.int32)

    @functools.cached_property
    def focus_start(self) -> np.ndarray:
        """[A] int32, minutes, 0 where the entry blocks no focus time."""
        starts = np.repeat(self.focus_starts, len(self.focus_durations))
        return np.array([*[0] * self.num_request_actions, *starts], np.int32)

    @functools.cached_property
    def focus_duration(self) -> np.ndarray:
        """[A] int32, minutes, 0 where the entry blocks no focus time."""
        durations = np.tile(self.focus_durations, len(self.focus_starts))
        return np.array([*[0] * self.num_request_actions, *durations], np.int32)


CLASSIC = Catalogue(offsets=(-30, 30, 60), day_starts=(), focus_starts=(540, 660, 840, 960))
SHAPED = Catalogue(
    offsets=(-120, -90, -60, -30, 30, 60, 90, 120),
    day_starts=(540, 600, 660, 780, 840, 900, 960, 1020),
    focus_starts=(540, 660, 840, 960, 1200, 1260),
)


class Move(struct.PyTreeNode):
    """A decoded action."""

    verb: jax.Array  # [] int32, ACCEPT .. BLOCK_FOCUS
    event: Event  # what is added to the calendar, or would be: the request at its new time, or the focus block
    duration: jax.Array  # [] int32, minutes of focus time, 0 otherwise


def candidate_starts(catalogue: Catalogue, request: Event) -> jax.Array:
    """[C] int32, minutes: where the request could be moved to, clamped so that it ends by midnight."""
    offsets = request.start + jnp.array(catalogue.offsets, jnp.int32)
    starts = jnp.concatenate([offsets, jnp.array(catalogue.day_starts, jnp.int32)])
    return jnp.clip(starts, 0, DAY_END - (request.end - request.start))


def decode(catalogue: Catalogue, action: jax.Array, request: Event, persona: Persona) -> Move:
    """The move of a catalogue index, given the current request; an index out of range is clamped."""
    action = jnp.clip(action, 0, catalogue.size - 1)
    verb = jnp.array(catalogue.verb)[action]
    duration = jnp.array(catalogue.focus_duration)[action]
    focus_start = jnp.array(catalogue.focus_start)[action]
    new_start = candidate_starts(catalogue, request)[jnp.array(catalogue.candidate)[action]]

    is_focus = verb == BLOCK_FOCUS
    is_moved = (verb == RESCHEDULE) | (verb == PROPOSE)
    start = jnp.where(is_focus, focus_start, jnp.where(is_moved, new_start, request.start))
    length = jnp.where(is_focus, duration, request.end - request.start)
    event = Event(
        start=start,
        end=jnp.minimum(start + length, DAY_END),
        place=jnp.where(is_focus, persona.work_place.astype(jnp.int32), request.place),
        kind=jnp.where(is_focus, FOCUS, request.kind),
        importance=jnp.where(is_focus, 1, request.importance),
    )
    return Move(verb=verb, event=event, duration=duration)


def legal_mask(catalogue: Catalogue, request: Event, has_request: jax.Array, has_work: jax.Array) -> ActionMask:
    """[A] bool: what the rules accept in a live state.

    Request entries need a request, focus entries minutes left. A move also needs a request of some length, and a
    clamped start that no earlier candidate has, so that an action means one thing.
    """
    starts = candidate_starts(catalogue, request)
    earlier = np.tril(np.ones((catalogue.num_candidates, catalogue.num_candidates), bool), -1)
    repeated = ((starts[:, None] == starts[None, :]) & earlier).any(axis=-1)
    movable = ~repeated & (request.end > request.start)
    request_entries = jnp.concatenate([jnp.ones(2, bool), jnp.repeat(movable, 2)]) & has_request
    num_focus = catalogue.size - catalogue.num_request_actions
    return jnp.concatenate([request_entries, jnp.broadcast_to(has_work, (num_focus,))])


def every_move(catalogue: Catalogue, request: Event, persona: Persona) -> Move:
    """All moves of the catalogue, each field with a leading axis [A]."""
    return jax.vmap(lambda action: decode(catalogue, action, request, persona))(jnp.arange(catalogue.size))
