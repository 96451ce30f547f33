"""Days drawn at random, for endless training: key -> Scenario, jittable.

Times are multiples of five minutes. The initial calendar has no overlaps and no travel issues; the difficulty lies in
the requests. `difficulty` in [0, 1] moves the shares; above 1 there are more requests than ever below.
"""

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.fields import padding
from jaxenv.core.numbers import as_integer
from jaxenv.core.types import Key
from jaxenv.envs.lifeops import types
from jaxenv.envs.lifeops.types import FOCUS, MEETING, OBLIGATION, PERSONAL, SPARE_STEPS, Event, Limits, Scenario

MAX_EVENTS, MAX_REQUESTS, MAX_TASKS, MIN_PLACES, MAX_PLACES = 10, 6, 4, 2, 6
HOME, WORK_PLACE = 0, 1
MIN_LIMITS = Limits(events=SPARE_STEPS + 1, requests=1, tasks=1, places=MIN_PLACES)
TOWN_SIDE = 45  # minutes from one edge of the town to the other
MORNING, EVENING = 480, 1200  # calendar events lie about here
LATEST_END = 1320
EVENT_MINUTES = (15, 30, 30, 30, 45, 60, 60, 90, 120)  # a repeat is a weight
REQUEST_MINUTES = (15, 30, 30, 30, 30, 45, 60)
TASK_MINUTES = (30, 45, 60, 60, 75, 90, 120, 180)

EVENT_KINDS = (MEETING, MEETING, MEETING, OBLIGATION, FOCUS, FOCUS, PERSONAL, PERSONAL)
REQUEST_KINDS = (*[MEETING] * 13, OBLIGATION, FOCUS, PERSONAL)

FREE, CONFLICT, TIGHT, OUTSIDE, SHADOW = range(5)  # how a request is placed
PLACEMENTS = (CONFLICT, CONFLICT, CONFLICT, TIGHT, TIGHT, OUTSIDE, OUTSIDE, SHADOW)  # of those not free


def generate(key: Key, limits: Limits, difficulty: jax.Array | float) -> Scenario:
    """One drawn day.

    Args:
        key: consumed.
        limits: capacities, which bound the counts; no smaller than `MIN_LIMITS`.
        difficulty: [] float in [0, 1]: more events, colliding requests, inflexible people and work. Above 1: as at 1,
            with 7 or more requests.

    Raises:
        ValueError: where the limits are smaller.
    """
    if limits.events < MIN_LIMITS.events or limits.places < MIN_LIMITS.places:
        raise ValueError(f"a drawn day needs {MIN_LIMITS}, or more; found {limits}")
    sizes = (4, 1 + 2 * limits.places, 9, 3 + 4 * limits.tasks, 3 + 6 * MAX_EVENTS, 13 * limits.requests)
    uniform = jax.random.uniform(key, (sum(sizes),))  # one draw for the whole day: it compiles six times faster
    shape, town, who, work, day, queue = jnp.split(uniform, np.cumsum(sizes)[:-1])
    difficulty = jnp.asarray(difficulty, jnp.float32)
    is_beyond, difficulty = difficulty > 1, jnp.minimum(difficulty, 1.0)
    at_most = min(limits.requests, limits.events - SPARE_STEPS)
    most = min(MAX_REQUESTS, at_most)
    num_requests = _skewed_count(shape[:3], 1, most, difficulty)
    num_requests = jnp.where(is_beyond, as_integer(shape[0], min(most + 1, at_most), at_most), num_requests)
    num_places, travel = draw_travel(town, limits)
    persona = draw_persona(who)
    room = limits.events - SPARE_STEPS - num_requests
    calendar = draw_calendar(day, limits, difficulty, num_places, travel, room)
    drawn = padding(Scenario, limits.sizes).replace(
        calendar=calendar,
        source=jnp.where(calendar.start == types.ABSENT, 0, jnp.arange(limits.events, dtype=jnp.int16)),
        num_requests=num_requests.astype(jnp.int8),
        tasks=draw_tasks(work, limits, difficulty),
        persona=persona,
        travel=travel,
        weekday=as_integer(shape[3], 0, len(types.WEEKDAYS) - 1).astype(jnp.int8),
        max_steps=(num_requests + SPARE_STEPS).astype(jnp.int16),
    )
    requests, flexible = draw_requests(queue, limits, difficulty, drawn, num_places)
    return jax.tree.map(jnp.asarray, drawn.replace(requests=requests, flexible=flexible))


def redraw_requests(key: Key, day: Scenario, seen: jax.Array, limits: Limits) -> Scenario:
    """The day with other requests from number `seen` ([] int8) on, as many as before; those are not looked at.

    They are drawn for the calendar of the morning. The difficulty, which nobody sees, is drawn from 0 to 1.
    """
    uniform = jax.random.uniform(key, (1 + 13 * limits.requests,))
    work = day.persona.work_place.astype(jnp.int32)
    places = 1 + jnp.max(jnp.where(jnp.any(day.travel > 0, axis=0), jnp.arange(limits.places), work))
    drawn = draw_requests(uniform[1:], limits, uniform[0], day, places)
    is_hidden = jnp.arange(limits.requests, dtype=jnp.int8) >= seen
    requests, flexible = jax.tree.map(
        lambda new, old: jnp.where(is_hidden, new, old), drawn, (day.requests, day.flexible)
    )
    return day.replace(requests=requests, flexible=flexible)


def draw_travel(u: jax.Array, limits: Limits) -> tuple[jax.Array, jax.Array]:
    """([] int32 number of places, [L, L] int16 minutes): points in a square town, distances rounded up, so a metric."""
    num_places = as_integer(u[0], MIN_PLACES, min(MAX_PLACES, limits.places))
    point = as_integer(u[1:].reshape(limits.places, 2), 0, TOWN_SIDE)
    squared = jnp.sum((point[:, None] - point[None, :]) ** 2, axis=-1)
    distance = jnp.sqrt(squared.astype(jnp.float32))  # of integers, so that every batch size rounds alike
    exists = jnp.arange(limits.places) < num_places
    minutes = jnp.where(exists[:, None] & exists[None, :], jnp.ceil(distance), 0.0)
    return num_places, minutes.astype(jnp.int16)


def draw_persona(u: jax.Array) -> types.Persona:
    """Somebody with a window of 4 to 9 hours, rules for early and late meetings in half of the cases."""
    window_start = _multiple_of_five(u[0], 510, 690)
    window_end = jnp.minimum(window_start + _multiple_of_five(u[1], 240, 540), 1170)
    early = jnp.maximum(window_start - _multiple_of_five(u[2], 0, 90), 420)
    late = window_end + _multiple_of_five(u[3], 0, 90)
    weights = 0.8 + 0.6 * u[6:]
    return types.Persona(
        home=jnp.int8(HOME),
        work_place=jnp.int8(WORK_PLACE),
        window_start=window_start.astype(jnp.int16),
        window_end=window_end.astype(jnp.int16),
        avoid_before=jnp.where(u[4] < 0.5, early, types.UNSET).astype(jnp.int16),
        avoid_after=jnp.where(u[5] < 0.5, late, types.NO_LIMIT).astype(jnp.int16),
        preference_weight=weights[0],
        travel_weight=weights[1],
        focus_weight=weights[2],
    )


def draw_tasks(u: jax.Array, limits: Limits, difficulty: jax.Array) -> types.Tasks:
    """0 to 4 tasks, highest priority first; half of them have a due day."""
    size = limits.tasks
    count = _skewed_count(u[:3], 0, min(MAX_TASKS, size), difficulty)
    exists = jnp.arange(size) < count
    u = u[3:].reshape(4, size)
    priority = jnp.where(exists, as_integer(u[1], 1, 3), 0)
    due = jnp.where(exists & (u[2] < 0.5), as_integer(u[3], 0, 3), types.NO_LIMIT)
    return types.Tasks(
        minutes=jnp.where(exists, _choice(u[0], TASK_MINUTES), 0),
        priority=jnp.sort(priority, descending=True).astype(jnp.int8),
        due_days=due.astype(jnp.int16),
    )


def draw_calendar(
    u: jax.Array, limits: Limits, difficulty: jax.Array, num_places: jax.Array, travel: jax.Array, room: jax.Array
) -> Event:
    """0 to 10 events, one after the other with time for the way between them; those past the evening are dropped."""
    size = min(MAX_EVENTS, limits.events)
    count = jnp.minimum(_skewed_count(u[:3], 0, size, difficulty), room)
    u = u[3:].reshape(6, MAX_EVENTS)[:, :size]
    place = jnp.where(u[0] < 0.4, WORK_PLACE, as_integer(u[1], 0, num_places - 1))
    length = _choice(u[2], EVENT_MINUTES)
    spare = jnp.maximum(EVENING - MORNING - 60 * count, 60) / (count + 1)
    gap = (u[3] * 2.0 * spare).astype(jnp.int32)

    def place_next(
        last: tuple[jax.Array, jax.Array], slot: tuple[jax.Array, jax.Array, jax.Array]
    ) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
        (end_before, place_before), (place, length, gap) = last, slot
        way = travel[place_before, place].astype(jnp.int32)
        start = (end_before + jnp.maximum(way, gap) + 4) // 5 * 5
        return (start + length, place), start

    first = (jnp.int32(MORNING - 30), jnp.int32(HOME))
    _, start = jax.lax.scan(place_next, first, (place, length, gap))
    exists = (jnp.arange(size) < count) & (start + length <= LATEST_END)
    kind = _choice(u[4], EVENT_KINDS)
    importance = as_integer(u[5], 1, 3)
    drawn = Event(start, start + length, place, kind, importance)
    return _padded(drawn, exists, padding(Scenario, limits.sizes).calendar)


def draw_requests(
    u: jax.Array, limits: Limits, difficulty: jax.Array, day: Scenario, num_places: jax.Array
) -> tuple[Event, jax.Array]:
    """(requests [Q], flexible [Q] bool): some free, the others in conflict, tight, outside the window or shadowing.

    Their number, the calendar and the persona are those of the day.

    A shadowing request is unimportant and takes the time of a later one that is important and inflexible. One that is
    shadowed itself is important, and moves away from the time that the one before took.
    """
    size = limits.requests
    u = u.reshape(13, size)
    calendar, persona, num_requests = day.calendar, day.persona, day.num_requests.astype(jnp.int32)
    index = jnp.arange(size)
    exists = index < num_requests
    num_events = jnp.sum(calendar.start != types.ABSENT)
    how = _placement(u[0], u[12], difficulty, num_events)
    later = index + as_integer(u[1], 1, 3)
    shadows = (how == SHADOW) & (later < num_requests)
    shadowed = jnp.any(shadows[:, None] & (later[:, None] == index[None, :]), axis=0)

    other = calendar.at(as_integer(u[2], 0, jnp.maximum(num_events - 1, 0)))
    length = _choice(u[3], REQUEST_MINUTES)
    aside = _multiple_of_five(u[4], 15, 120)
    window_start, window_end = persona.window_start.astype(jnp.int32), persona.window_end.astype(jnp.int32)
    outside = jnp.where(u[5] < 0.5, window_start - aside, window_end + aside - 30)
    start = jnp.select(
        [how == CONFLICT, how == TIGHT, how == OUTSIDE],
        [other.start + _multiple_of_five(u[6], -45, 45), other.end + _multiple_of_five(u[6], 0, 15), outside],
        _multiple_of_five(u[6], MORNING, 1080),
    )
    start = jnp.where(shadows, start[later], start)
    start = jnp.clip(start // 5 * 5, 0, types.DAY_END - 5 - length)

    place = jnp.where(u[7] < 0.5, persona.work_place.astype(jnp.int32), as_integer(u[8], 0, num_places - 1))
    place = jnp.where((how == TIGHT) & (place == other.place), (place + 1) % num_places, place)
    flexible = exists & ~shadowed & (u[9] > 0.1 + 0.4 * difficulty)
    importance = jnp.where(shadowed, 3, jnp.where(shadows, 1, as_integer(u[10], 1, 3)))
    kind = _choice(u[11], REQUEST_KINDS)
    drawn = Event(start, start + length, place, kind, importance)
    return _padded(drawn, exists, padding(Scenario, limits.sizes).requests), flexible


def _placement(u: jax.Array, which: jax.Array, difficulty: jax.Array, num_events: jax.Array) -> jax.Array:
    """[Q] int32 of FREE .. SHADOW; the free share falls from 0.65 to 0.15 with difficulty."""
    how = jnp.where(u < 0.65 - 0.5 * difficulty, FREE, _choice(which, PLACEMENTS))
    needs_event = (how == CONFLICT) | (how == TIGHT)
    return jnp.where(needs_event & (num_events == 0), FREE, how)


def _padded(drawn: Event, exists: jax.Array, empty: Event) -> Event:
    """The drawn rows that exist as the first ones of an empty table."""

    def column(values: jax.Array, slots: np.ndarray) -> jax.Array:
        absent = int(slots[0])
        rows = jnp.where(exists, values, absent).astype(slots.dtype)
        return jnp.pad(rows, (0, slots.size - rows.size), constant_values=absent)

    return jax.tree.map(column, drawn, empty)


# Transforms of a uniform number u in [0, 1) --------------------------------------------------------------


def _multiple_of_five(u: jax.Array, low: int, high: int) -> jax.Array:
    """A multiple of five in low..high, int32."""
    return 5 * as_integer(u, low // 5, high // 5)


def _choice(u: jax.Array, table: tuple[int, ...]) -> jax.Array:
    """An entry of a table, int32; a repeat in the table is a weight."""
    return jnp.array(table, jnp.int32)[as_integer(u, 0, len(table) - 1)]


def _skewed_count(u: jax.Array, low: int, high: jax.Array | int, difficulty: jax.Array) -> jax.Array:
    """An integer in low..high, int32, from u [3]: the smaller of two draws at difficulty 0, the larger at 1."""
    smaller, larger = jnp.minimum(u[0], u[1]), jnp.maximum(u[0], u[1])
    return as_integer(jnp.where(u[2] < difficulty, larger, smaller), low, high)
