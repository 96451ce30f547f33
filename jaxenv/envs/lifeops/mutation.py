"""Small edits of days, for curricula that build on the days that still teach something.

Whatever `generate` promises of every day holds after any number of edits: the calendar has no overlaps and time for
the way between its events, starts are multiples of five, counts and times stay within what is drawn. The shares by
which requests collide, lie outside the window or shadow each other are not kept. A day that was not drawn, such as one
of the library, stays a valid day.
"""

from collections.abc import Mapping
from types import MappingProxyType

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.edits import Edit, among, edited, first_slots, other, put, without_row
from jaxenv.core.numbers import as_integer
from jaxenv.core.types import Key
from jaxenv.envs.lifeops.dynamics import insert, is_tight
from jaxenv.envs.lifeops.generator import (
    EVENT_KINDS,
    LATEST_END,
    MAX_EVENTS,
    MAX_REQUESTS,
    MAX_TASKS,
    MIN_PLACES,
    MORNING,
    REQUEST_MINUTES,
    TASK_MINUTES,
)
from jaxenv.envs.lifeops.types import ABSENT, DAY_END, NO_LIMIT, Event, Scenario

IMPORTANCES, PRIORITIES = (1, 2, 3), (1, 2, 3)
DUE_DAYS = (0, 1, 2, 3, NO_LIMIT)
MOVED = 60  # minutes that a request moves at most
COPIED = 120  # minutes between a request and its copy, at most
QUARTER = 15  # minutes that an event becomes longer or shorter by
FEWEST_REQUESTS = 1


def mutate(key: Key, day: Scenario) -> Scenario:
    """The day after one edit of `EDITS`."""
    return _recounted(edited(key, jax.tree.map(jnp.asarray, day), EDITS))


# Requests ----------------------------------------------------------------------------------------------------


def request_exists(day: Scenario) -> jax.Array:
    """[Q] bool."""
    return first_slots(day.num_requests, day.flexible.shape[0])


def move_request(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """A request is up to an hour earlier or later."""
    return _at_times(day, row, *_moved(day.requests.at(row), u[0], MOVED))


def resize_request(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """A request takes another time."""
    request = day.requests.at(row)
    length = other(sorted({*REQUEST_MINUTES}), request.end - request.start, u[0])
    start = jnp.minimum(request.start, DAY_END - 5 - length)
    return _at_times(day, row, start, start + length)


def place_request(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """A request is somewhere else."""
    index = np.arange(day.travel.shape[0], dtype=np.int32)
    exists = jnp.any(day.travel > 0, axis=1) | (index < MIN_PLACES)
    place = among(exists & (index != day.requests.at(row).place), u[0])
    return day.replace(requests=day.requests.replace(place=put(day.requests.place, row, place)))


def weigh_request(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """A request has another importance."""
    importance = other(IMPORTANCES, day.requests.importance[row], u[0])
    return day.replace(requests=day.requests.replace(importance=put(day.requests.importance, row, importance)))


def bend_request(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """A request that may not be moved may, or the other way round."""
    return day.replace(flexible=put(day.flexible, row, ~day.flexible[row]))


def can_copy_request(day: Scenario) -> jax.Array:
    """[Q] bool: there is room for one request more."""
    has_room = day.num_requests < min(MAX_REQUESTS, day.flexible.shape[0])
    return request_exists(day) & has_room & _has_slot(day)


def copy_request(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """One request more, at the end of the queue: another one, up to two hours earlier or later."""
    last = day.num_requests
    requests = jax.tree.map(lambda column: put(column, last, column[row]), day.requests)
    more = day.replace(
        requests=requests,
        flexible=put(day.flexible, last, day.flexible[row]),
        num_requests=last + jnp.int8(1),
        max_steps=day.max_steps + jnp.int16(1),
    )
    return _at_times(more, last, *_moved(day.requests.at(row), u[0], COPIED))


def can_drop_request(day: Scenario) -> jax.Array:
    """[Q] bool: something is left to decide."""
    return request_exists(day) & (day.num_requests > FEWEST_REQUESTS)


def drop_request(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """One request less."""
    return day.replace(
        requests=jax.tree.map(lambda column: without_row(column, row, 0), day.requests),
        flexible=without_row(day.flexible, row, False),
        num_requests=day.num_requests - jnp.int8(1),
        max_steps=day.max_steps - jnp.int16(1),
    )


# The calendar ------------------------------------------------------------------------------------------------


def event_exists(day: Scenario) -> jax.Array:
    """[E] bool."""
    return day.calendar.start != ABSENT


def gaps(day: Scenario) -> tuple[jax.Array, jax.Array]:
    """([E], [E]) int32: the minutes by which each event could begin earlier, and end later; below 1 for none."""
    exists, event = event_exists(day), jax.tree.map(lambda column: column.astype(jnp.int32), day.calendar)
    way = day.travel[day.calendar.place[:-1], day.calendar.place[1:]].astype(jnp.int32)
    between = event.start[1:] - event.end[:-1] - way
    from_home = event.start[0] - (MORNING - 30) - day.travel[day.persona.home, day.calendar.place[0]].astype(jnp.int32)
    after = jnp.append(jnp.where(exists[1:], between, LATEST_END - event.end[:-1]), LATEST_END - event.end[-1])
    after = jnp.minimum(after, LATEST_END - event.end)
    before = jnp.concatenate([from_home[None], between])
    return jnp.where(exists, before, 0), jnp.where(exists, after, 0)


def can_shift_event(day: Scenario) -> jax.Array:
    """[E] bool: five minutes are free on one side."""
    before, after = gaps(day)
    return (before >= 5) | (after >= 5)


def shift_event(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """An event is earlier or later, by what is free around it."""
    earlier, later = (jnp.maximum(gap[row], 0) // 5 for gap in gaps(day))
    drawn = as_integer(u[0], 1, earlier + later)
    by = 5 * jnp.where(drawn <= later, drawn, later - drawn)
    calendar = day.calendar
    start, end = (put(column, row, column[row].astype(jnp.int32) + by) for column in (calendar.start, calendar.end))
    return day.replace(calendar=calendar.replace(start=start, end=end))


def can_lengthen_event(day: Scenario) -> jax.Array:
    """[E] bool: a quarter of an hour is free behind it."""
    return gaps(day)[1] >= QUARTER


def lengthen_event(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """An event ends a quarter of an hour later."""
    return day.replace(calendar=day.calendar.replace(end=day.calendar.end.at[row].add(np.int16(QUARTER))))


def can_shorten_event(day: Scenario) -> jax.Array:
    """[E] bool: something is left of it, and it stays behind one that starts with it."""
    start = day.calendar.start
    is_first = jnp.concatenate([jnp.ones(1, bool), start[1:] > start[:-1]])
    return event_exists(day) & is_first & (day.calendar.end - start > np.int16(QUARTER))


def shorten_event(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """An event ends a quarter of an hour earlier."""
    return day.replace(calendar=day.calendar.replace(end=day.calendar.end.at[row].add(np.int16(-QUARTER))))


def free_before(day: Scenario) -> jax.Array:
    """[E] int32: minutes free between an event and the one before it, or home; behind the last event, those until late.

    The way to the event is left out of them.
    """
    index, before = np.arange(day.source.shape[0], dtype=np.int32), gaps(day)[0]
    is_next = index == jnp.sum(event_exists(day), dtype=jnp.int32)
    return jnp.where(is_next, LATEST_END - _ends_before(day), before)


def can_add_event(day: Scenario) -> jax.Array:
    """[E] bool: a quarter of an hour is free there, and the calendar has room for one more."""
    count = jnp.sum(event_exists(day), dtype=jnp.int32)
    return (free_before(day) >= QUARTER) & (count < min(MAX_EVENTS, day.source.shape[0])) & _has_slot(day)


def add_event(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """One event more, a quarter or half of an hour long, at the place where one is before it."""
    late = 5 * as_integer(u[0], 0, (free_before(day)[row] - QUARTER) // 5)
    is_long = (free_before(day)[row] - late >= 2 * QUARTER) & (u[1] < 0.5)
    start = _ends_before(day)[row] + late
    event = Event(
        start=start,
        end=start + jnp.where(is_long, 2 * QUARTER, QUARTER),
        place=jnp.where(row == 0, day.persona.home, day.calendar.place[row - 1]),
        kind=jnp.asarray(EVENT_KINDS, jnp.int32)[as_integer(u[2], 0, len(EVENT_KINDS) - 1)],
        importance=as_integer(u[3], min(IMPORTANCES), max(IMPORTANCES)),
    )
    return _in_order(day.replace(calendar=insert(day.calendar, event, row)))


def drop_event(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """One event less."""
    fewer = jax.tree.map(lambda column: without_row(column, row, 0), day.calendar)
    return _in_order(day.replace(calendar=fewer.replace(start=put(fewer.start, -1, ABSENT))))


# Work --------------------------------------------------------------------------------------------------------


def task_exists(day: Scenario) -> jax.Array:
    """[T] bool."""
    return day.tasks.priority > 0


def resize_task(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """A task takes another time."""
    minutes = other(sorted({*TASK_MINUTES}), day.tasks.minutes[row], u[0])
    return day.replace(tasks=day.tasks.replace(minutes=put(day.tasks.minutes, row, minutes)))


def press_task(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """A task is due on another day, or on none."""
    due_days = other(DUE_DAYS, day.tasks.due_days[row], u[0])
    return day.replace(tasks=day.tasks.replace(due_days=put(day.tasks.due_days, row, due_days)))


def can_add_task(day: Scenario) -> jax.Array:
    """[T] bool: the slot behind the last task, where there is room for one more."""
    size = day.tasks.priority.shape[0]
    count, index = jnp.sum(task_exists(day), dtype=jnp.int32), np.arange(size, dtype=np.int32)
    return (index == count) & (count < min(MAX_TASKS, size))


def add_task(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """One task more, after all others."""
    tasks = day.tasks
    before = jnp.where(row > 0, tasks.priority[jnp.maximum(row - 1, 0)].astype(jnp.int32), max(PRIORITIES))
    minutes, due_days = jnp.asarray(TASK_MINUTES, jnp.int32), jnp.asarray(DUE_DAYS, jnp.int32)
    return day.replace(
        tasks=tasks.replace(
            minutes=put(tasks.minutes, row, minutes[as_integer(u[0], 0, len(TASK_MINUTES) - 1)]),
            priority=put(tasks.priority, row, as_integer(u[1], min(PRIORITIES), before)),
            due_days=put(tasks.due_days, row, due_days[as_integer(u[2], 0, len(DUE_DAYS) - 1)]),
        )
    )


def can_drop_task(day: Scenario) -> jax.Array:
    """[T] bool: something is left to decide."""
    return task_exists(day) & (day.num_requests >= FEWEST_REQUESTS)


def drop_task(day: Scenario, row: jax.Array, u: jax.Array) -> Scenario:
    """One task less."""
    tasks = day.tasks
    return day.replace(
        tasks=tasks.replace(
            minutes=without_row(tasks.minutes, row, 0),
            priority=without_row(tasks.priority, row, 0),
            due_days=without_row(tasks.due_days, row, NO_LIMIT),
        )
    )


EDITS: Mapping[str, Edit] = MappingProxyType(
    {
        "move request": Edit(request_exists, move_request),
        "resize request": Edit(request_exists, resize_request),
        "place request": Edit(request_exists, place_request),
        "weigh request": Edit(request_exists, weigh_request),
        "bend request": Edit(request_exists, bend_request),
        "copy request": Edit(can_copy_request, copy_request),
        "drop request": Edit(can_drop_request, drop_request),
        "shift event": Edit(can_shift_event, shift_event),
        "lengthen event": Edit(can_lengthen_event, lengthen_event),
        "shorten event": Edit(can_shorten_event, shorten_event),
        "add event": Edit(can_add_event, add_event),
        "drop event": Edit(event_exists, drop_event),
        "resize task": Edit(task_exists, resize_task),
        "press task": Edit(task_exists, press_task),
        "add task": Edit(can_add_task, add_task),
        "drop task": Edit(can_drop_task, drop_task),
    }
)
"""Name -> edit; each is as likely as any other that can be made."""


# What they share ---------------------------------------------------------------------------------------------


def _has_slot(day: Scenario) -> jax.Array:
    """[] bool: the calendar holds one event or one step more."""
    count = jnp.sum(event_exists(day), dtype=jnp.int32)
    return count + day.max_steps.astype(jnp.int32) < day.source.shape[0]


def _ends_before(day: Scenario) -> jax.Array:
    """[E] int32: when the event before each slot ends; before the first one, when the morning begins."""
    return jnp.append(jnp.int32(MORNING - 30), day.calendar.end[:-1].astype(jnp.int32))


def _moved(request: Event, u: jax.Array, most: int) -> tuple[jax.Array, jax.Array]:
    """(start, end) of a request that is up to `most` minutes earlier or later, in the day, at a multiple of five."""
    steps, length = most // 5, request.end - request.start
    drawn = as_integer(u, 1, 2 * steps)
    by = 5 * jnp.where(drawn <= steps, drawn, steps - drawn)
    start = jnp.clip(request.start + by, 0, DAY_END - 5 - length) // 5 * 5
    return start, start + length


def _at_times(day: Scenario, row: jax.Array, start: jax.Array, end: jax.Array) -> Scenario:
    """The day with other times of a request."""
    requests = day.requests
    return day.replace(
        requests=requests.replace(start=put(requests.start, row, start), end=put(requests.end, row, end))
    )


def _in_order(day: Scenario) -> Scenario:
    """The day whose document lists the events in the order of the calendar."""
    index = np.arange(day.source.shape[0], dtype=np.int16)
    return day.replace(source=jnp.where(event_exists(day), index, np.int16(0)))


def _recounted(day: Scenario) -> Scenario:
    """The day with overlaps and travel issues counted from its calendar."""
    start, end = day.calendar.start, day.calendar.end
    meets = (start[:, None] < end[None]) & (start[None] < end[:, None]) & np.triu(np.ones(start.shape * 2, bool), 1)
    index = jnp.arange(start.size - 1, dtype=jnp.int32)
    tight = is_tight(day.calendar.at(index), day.calendar.at(index + 1), day.travel) & event_exists(day)[1:]
    return day.replace(overlaps=jnp.sum(meets, dtype=jnp.int16), tight_legs=jnp.sum(tight, dtype=jnp.int16))
