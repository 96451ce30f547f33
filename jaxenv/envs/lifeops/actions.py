"""The catalogue of actions: the verbs, the meaning of each index, and the entries that are legal now.

Order: the verbs that handle a request as it is; for each candidate start the verbs that move it, side by side; for each
focus start each duration. An action is decoded by tables, without a branch.
"""

import dataclasses
import functools
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core.masking import concatenate_masks
from jaxenv.core.types import ActionCatalogue, ActionMask
from jaxenv.envs.lifeops.types import DAY_END, FOCUS, Event, Persona
from jaxenv.lowering import bitsets


class Verb(NamedTuple):
    """A kind of action: its names, and the parts of the rules that hold for it."""

    name: str  # in documents
    phrase: str  # in texts
    handles: bool  # takes the current request off the queue; else it blocks focus time
    schedules: bool  # gives or offers a time to its event
    books: bool  # adds its event to the calendar
    moves: bool = False  # to one of the candidate starts


VERBS = (
    Verb("accept_event", "accept {request}", handles=True, schedules=True, books=True),
    Verb("reject_event", "reject {request}", handles=True, schedules=False, books=False),
    Verb("reschedule_event", "move {request} to {start}", handles=True, schedules=True, books=True, moves=True),
    Verb("propose_new_time", "propose {start} for {request}", handles=True, schedules=True, books=False, moves=True),
    Verb("block_focus_time", "focus {start}–{end}", handles=False, schedules=True, books=True),
)
ACCEPT, REJECT, RESCHEDULE, PROPOSE, BLOCK_FOCUS = range(len(VERBS))
ACTION_TYPES = tuple(verb.name for verb in VERBS)


_FLAGS = np.array([(verb.handles, verb.schedules, verb.books, verb.moves) for verb in VERBS])
HANDLES, SCHEDULES, BOOKS, MOVES = bitsets.of_flags(_FLAGS.T).tolist()
"""Sets of verbs: bit v for verb v."""


def does(verb: Any, bits: int) -> Any:
    """bool: whether the verb (int32, of any shape) is in a set of verbs, `HANDLES`, `SCHEDULES`, `BOOKS` or `MOVES`."""
    return ((bits >> verb) & 1) != 0


@dataclasses.dataclass(frozen=True)
class Catalogue(ActionCatalogue):
    """The numbers that fix a catalogue (static), in minutes.

    `table` has the columns verb; candidate, which of the starts that a request can be moved to; minutes, the new start,
    or how far it is from the request's own where is_relative, the next column, is 1; duration, minutes of focus time.
    """

    offsets: tuple[int, ...]  # candidate starts relative to the request's own
    day_starts: tuple[int, ...]  # candidate starts after midnight
    focus_starts: tuple[int, ...]
    focus_durations: tuple[int, ...] = (30, 60)
    verbs: ClassVar[tuple[int, ...]] = (ACCEPT, REJECT, RESCHEDULE, PROPOSE, BLOCK_FOCUS)  # a subclass may have others

    @property
    def num_candidates(self) -> int:
        """How many starts a request can be moved to."""
        return len(self.offsets) + len(self.day_starts)

    @functools.cached_property
    def table(self) -> np.ndarray:
        """[A, 5] int32, 0 where a column does not matter."""
        moving = [verb for verb in self.verbs if VERBS[verb].moves]
        rows = [(verb, 0, 0, True, 0) for verb in self.verbs if VERBS[verb].handles and verb not in moving]
        for candidate, start in enumerate([*self.offsets, *self.day_starts]):
            rows += [(verb, candidate, start, candidate < len(self.offsets), 0) for verb in moving]
        for start in self.focus_starts:
            rows += [(BLOCK_FOCUS, 0, start, False, duration) for duration in self.focus_durations]
        return np.array(rows, np.int32)


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


def decode(chosen: jax.Array, request: Event, persona: Persona) -> Move:
    """The move of a row of the catalogue ([5] int32), given the current request."""
    verb, _, minutes, is_relative, duration = chosen
    is_focus = verb == BLOCK_FOCUS
    length = jnp.where(is_focus, duration, request.end - request.start)
    start = minutes + jnp.where(is_relative != 0, request.start, 0)
    start = jnp.where(is_focus, start, jnp.clip(start, 0, DAY_END - length))
    event = Event(
        start=start,
        end=jnp.minimum(start + length, DAY_END),
        place=jnp.where(is_focus, persona.work_place.astype(jnp.int32), request.place),
        kind=jnp.where(is_focus, FOCUS, request.kind),
        importance=jnp.where(is_focus, 1, request.importance),
    )
    return Move(verb=verb, event=event, duration=duration)


def is_legal(verb: Any, is_movable: Any, has_request: jax.Array, has_work: jax.Array) -> jax.Array:
    """bool, of the shape of `verb`: an entry is legal in a live state.

    A verb that handles a request needs one; if it moves the request, a start where that `is_movable` to; focus time
    needs minutes left. `has_request` and `has_work` are [] bool.
    """
    return jnp.where(does(verb, HANDLES), has_request & (is_movable | ~does(verb, MOVES)), has_work)


def is_movable(catalogue: Catalogue, request: Event, candidates: Any, starts: jax.Array) -> jax.Array:
    """[n] bool: a request of some length can move to each of n candidates, a start that no earlier one has.

    So a legal action means one thing, though starts are clamped.
    """
    earlier = np.arange(catalogue.num_candidates, dtype=np.int32)[:, None] < candidates[None]
    repeated = jnp.any((candidate_starts(catalogue, request)[:, None] == starts[None]) & earlier, axis=0)
    return ~repeated & (request.end > request.start)


def legal_mask(catalogue: Catalogue, request: Event, has_request: jax.Array, has_work: jax.Array) -> ActionMask:
    """[A] bool: the legal actions of a live state; `has_request` and `has_work` are [] bool."""
    verb, candidates = catalogue.table[:, 0], np.arange(catalogue.num_candidates, dtype=np.int32)
    moved = np.flatnonzero(does(verb, MOVES))  # side by side
    to_start = is_movable(catalogue, request, candidates, candidate_starts(catalogue, request))
    to_start = jnp.repeat(to_start, len(moved) // catalogue.num_candidates)
    parts = (verb[: moved[0]], True), (verb[moved], to_start), (verb[moved[-1] + 1 :], True)
    return concatenate_masks(*(is_legal(verbs, movable, has_request, has_work) for verbs, movable in parts))


def every_move(catalogue: Catalogue, request: Event, persona: Persona) -> Move:
    """All moves of the catalogue, each field with a leading axis [A]."""
    return jax.vmap(lambda chosen: decode(chosen, request, persona))(jnp.asarray(catalogue.table))
