"""The turn of LifeOps as pure phases: validate the action, find the changes from its event, apply both.

The calendar stays sorted by insertion. A new event changes the count of overlapping pairs by the events it meets and
the travel issues only at its two neighbors, so a step is O(E) and nothing is ever sorted or recounted.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.envs.lifeops import actions
from jaxenv.envs.lifeops.actions import BOOKS, HANDLES, Catalogue, Move, does
from jaxenv.envs.lifeops.types import ABSENT, SOURCE_STRIDE, Event, Observation, Scenario, State
from jaxenv.lowering.lookup import read

URGENT_DAYS = 1  # tasks due today or tomorrow press


class Change(struct.PyTreeNode):
    """The changes from inserting an event into a calendar."""

    position: jax.Array  # [] int32, its slot in sorted order
    overlaps: jax.Array  # [] int32, pairs added
    tight_legs: jax.Array  # [] int32, travel issues between neighbors added (may be negative)
    home_leg: jax.Array  # [] int32, 1 if the first leg of the day, from home, is an issue afterwards


class Turn(struct.PyTreeNode):
    """The effects of a step, for the reward."""

    move: Move
    legal: jax.Array  # [] bool; where it is False only the clock moved
    flexible: jax.Array  # [] bool, the handled request's
    shadows: jax.Array  # [] bool, the request's own time overlaps an important inflexible one still to come
    overlaps: jax.Array  # [] int32, O after the step
    travel_issues: jax.Array  # [] int32, T after the step
    clean_with_event: jax.Array  # [] bool, O and T are 0 in the calendar with the move's event
    progress: jax.Array  # [] int32, minutes of work done
    minutes_left: jax.Array  # [] int32, over all tasks, after the step
    urgent_minutes_left: jax.Array  # [] int32, over tasks due today or tomorrow, after the step
    out_of_time: jax.Array  # [] bool, the time limit is reached


def transition(
    catalogue: Catalogue, state: State, scenario: Scenario, action: jax.Array, departure_min: jax.Array | int
) -> tuple[State, Turn]:
    """One turn: the state after it and its effects. An illegal action only advances the clock."""
    move, legal = decode_and_validate(catalogue, state, scenario, action)
    change = insertion(state.calendar, scenario.travel, scenario.persona.home, departure_min, move.event)
    after, progress = apply(state, move, legal, change)
    issues = travel_issues(after.calendar, after.tight_legs, scenario, departure_min)
    turn = Turn(
        move=move,
        legal=legal,
        flexible=read(scenario.flexible, state.handled),
        shadows=shadows_later_request(state, scenario, move.event),
        overlaps=after.overlaps.astype(jnp.int32),
        travel_issues=issues,
        clean_with_event=leaves_clean(state, change),
        progress=progress,
        minutes_left=jnp.sum(after.minutes_left, dtype=jnp.int32),
        urgent_minutes_left=jnp.sum(
            jnp.where(scenario.tasks.due_days <= URGENT_DAYS, after.minutes_left, 0), dtype=jnp.int32
        ),
        out_of_time=after.clock >= scenario.max_steps,
    )
    return after, turn


def decode_and_validate(
    catalogue: Catalogue, state: State, scenario: Scenario, action: jax.Array
) -> tuple[Move, jax.Array]:
    """The move that an index means now, and whether the engine accepts it; one out of range is not accepted."""
    request = scenario.requests.at(state.handled)
    chosen = read(catalogue.table, action)
    move = actions.decode(chosen, request, scenario.persona)
    has_request = state.handled < scenario.num_requests
    has_work = jnp.any(state.minutes_left > 0)
    in_range = (action >= 0) & (action < catalogue.size)
    (is_movable,) = actions.is_movable(catalogue, request, chosen[1:2], move.event.start[None])
    return move, in_range & actions.is_legal(move.verb, is_movable, has_request, has_work)


def apply(state: State, move: Move, legal: jax.Array, change: Change) -> tuple[State, jax.Array]:
    """Calendar, queue and tasks after the move, the clock one further, and the minutes of work done."""
    handles, adds = does(move.verb, HANDLES), legal & does(move.verb, BOOKS)
    slot = jnp.where(adds, change.position, state.source.shape[0])
    minutes_left, progress = work(state.minutes_left, jnp.where(legal, move.duration, 0))
    return state.replace(
        clock=jnp.minimum(state.clock, state.source.shape[0] - 1) + 1,  # past the end it may be stepped on
        handled=state.handled + (legal & handles).astype(jnp.int8),
        calendar=insert(state.calendar, move.event, slot),
        source=insert(state.source, added_source(state, handles), slot),
        overlaps=state.overlaps + jnp.where(adds, change.overlaps, 0).astype(jnp.int16),
        tight_legs=state.tight_legs + jnp.where(adds, change.tight_legs, 0).astype(jnp.int16),
        minutes_left=minutes_left,
    ), progress


def insertion(
    calendar: Event, travel: jax.Array, home: jax.Array, departure_min: jax.Array | int, event: Event
) -> Change:
    """The change that inserting `event` brings; the calendar itself is not touched.

    Args:
        calendar: sorted, absent slots last.
        travel: [L, L] int16, minutes.
        home: [] place that the day starts from.
        departure_min: [] int32, minutes; the way to the first event cannot begin earlier.
        event: the event to insert, after events of the same time.
    """
    start, end = calendar.start.astype(jnp.int32), calendar.end.astype(jnp.int32)
    overlaps = jnp.sum((start < event.end) & (event.start < end), dtype=jnp.int32)
    not_after = (start < event.start) | ((start == event.start) & (end <= event.end))
    position = jnp.sum(not_after, dtype=jnp.int32)

    before = calendar.at(jnp.maximum(position - 1, 0))
    after = calendar.at(jnp.minimum(position, start.shape[0] - 1))
    has_before = position > 0
    has_after = (position < start.shape[0]) & (after.start != ABSENT)
    tight_legs = (
        (has_before & is_tight(before, event, travel)).astype(jnp.int32)
        + (has_after & is_tight(event, after, travel)).astype(jnp.int32)
        - (has_before & has_after & is_tight(before, after, travel)).astype(jnp.int32)
    )
    first_start = jnp.where(has_before, start[0], event.start)
    first_place = jnp.where(has_before, calendar.place[0].astype(jnp.int32), event.place)
    home_leg = home_leg_issue(first_start, first_place, travel, home, departure_min)
    return Change(position, overlaps, tight_legs, home_leg)


insertions = jax.vmap(insertion, in_axes=(None, None, None, None, 0))
"""The change that inserting each of several events brings, [n] each; see `insertion`."""


def home_leg_issue(
    first_start: jax.Array, first_place: jax.Array, travel: jax.Array, home: jax.Array, departure_min: jax.Array | int
) -> jax.Array:
    """[] int32: 1 if the first event cannot be reached from home in time; 0 too where there is no event."""
    needed = read(travel, home, first_place).astype(jnp.int32)
    available = jnp.maximum(0, first_start.astype(jnp.int32) - departure_min)
    return ((needed > available) & (first_start != ABSENT)).astype(jnp.int32)


def travel_issues(
    calendar: Event, tight_legs: jax.Array, scenario: Scenario, departure_min: jax.Array | int
) -> jax.Array:
    """[] int32: the travel issues T of a calendar, the leg from home included."""
    home_leg = home_leg_issue(
        calendar.start[0], calendar.place[0], scenario.travel, scenario.persona.home, departure_min
    )
    return tight_legs.astype(jnp.int32) + home_leg


def insert(table: Any, row: Any, position: jax.Array) -> Any:
    """The table (arrays [E]) with `row` (scalars) inserted at `position`; a position of E leaves it as it is."""

    def insert_column(column: jax.Array, value: jax.Array) -> jax.Array:
        slots = jnp.arange(column.shape[0], dtype=jnp.int32)
        before = jax.lax.pad(column, jnp.zeros((), column.dtype), [(1, -1, 0)])  # a pad fuses, a roll does not
        shifted = jnp.where(slots > position, before, column)
        return jnp.where(slots == position, value.astype(column.dtype), shifted)

    return jax.tree.map(insert_column, table, row)


def work(minutes_left: jax.Array, duration: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Works on the first task with minutes left: ([T] minutes left, [] int32 progress); surplus time is lost."""
    unfinished = minutes_left > 0
    numbers = np.arange(minutes_left.size, dtype=np.int32)
    current = numbers == jnp.min(jnp.where(unfinished, numbers, minutes_left.size))
    done = jnp.where(current, jnp.minimum(minutes_left, duration), 0)
    return minutes_left - done, jnp.sum(done, dtype=jnp.int32)


def leaves_clean(day: State | Observation, change: Change) -> jax.Array:
    """[] bool (or the batch of the change): no overlap and no travel issue once the event is inserted."""
    overlaps = day.overlaps.astype(jnp.int32) + change.overlaps
    issues = day.tight_legs.astype(jnp.int32) + change.tight_legs + change.home_leg
    return (overlaps == 0) & (issues == 0)


def added_source(state: State, handles: jax.Array) -> jax.Array:
    """[] int32: the source of an event added now, E + 256 · clock + (0 for focus, 1 + queue index for a request).

    It grows with the clock, so sources ascend in calendar order, and it identifies the added event.
    """
    what = jnp.where(handles, 1 + state.handled.astype(jnp.int32), 0)
    return state.source.shape[0] + SOURCE_STRIDE * state.clock.astype(jnp.int32) + what


def origin_of(state: State, slot: int) -> tuple[str, int]:
    """The origin of the event in a slot of the calendar, as `State.source` has it (host side).

    Returns:
        ("event", its index in the document's calendar), ("request", its place in the queue) or
        ("focus", the clock at which it was booked).
    """
    capacity, source = len(state.source), int(state.source[slot])
    if source < capacity:
        return "event", source
    clock, what = divmod(source - capacity, SOURCE_STRIDE)
    return ("request", what - 1) if what else ("focus", clock)


def shadows_later_request(state: State, scenario: Scenario, request: Event) -> jax.Array:
    """[] bool: a previewed request that is important and inflexible overlaps this one.

    Previewed are the two behind the next head of the queue.
    """
    later = state.handled + jnp.arange(2, 4, dtype=jnp.int8)
    preview = scenario.requests.at(later)
    meets = (preview.start < request.end) & (request.start < preview.end)
    important = (preview.importance >= 3) & ~read(scenario.flexible, later)
    return jnp.any((later < scenario.num_requests) & meets & important)


def is_terminated(state: State, scenario: Scenario) -> jax.Array:
    """[] bool: the natural end, an empty queue and no minutes left."""
    return (state.handled >= scenario.num_requests) & ~jnp.any(state.minutes_left > 0)


def is_tight(earlier: Event, later: Event, travel: jax.Array) -> jax.Array:
    """[] bool: two neighbors that do not overlap and leave less time than the way takes."""
    gap = later.start - earlier.end
    return (gap >= 0) & (read(travel, earlier.place, later.place).astype(jnp.int32) > gap)
