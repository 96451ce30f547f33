"""Edits of the events of a day, which leave no overlaps and time for the way between them."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.edits import put, without_row
from jaxenv.core.numbers import as_integer
from jaxenv.envs.lifeops.dynamics import insert
from jaxenv.envs.lifeops.generator import EVENT_KINDS, LATEST_END, MAX_EVENTS, MORNING
from jaxenv.envs.lifeops.types import ABSENT, Event, Scenario

IMPORTANCES = (1, 2, 3)
QUARTER = 15  # minutes that an event becomes longer or shorter by


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
    return (free_before(day) >= QUARTER) & (count < min(MAX_EVENTS, day.source.shape[0])) & has_slot(day)


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


def has_slot(day: Scenario) -> jax.Array:
    """[] bool: the calendar holds one event or one step more."""
    count = jnp.sum(event_exists(day), dtype=jnp.int32)
    return count + day.max_steps.astype(jnp.int32) < day.source.shape[0]


def _ends_before(day: Scenario) -> jax.Array:
    """[E] int32: when the event before each slot ends; before the first one, when the morning begins."""
    return jnp.append(jnp.int32(MORNING - 30), day.calendar.end[:-1].astype(jnp.int32))


def _in_order(day: Scenario) -> Scenario:
    """The day whose document lists the events in the order of the calendar."""
    index = np.arange(day.source.shape[0], dtype=np.int16)
    return day.replace(source=jnp.where(event_exists(day), index, np.int16(0)))
