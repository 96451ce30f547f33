"""What a day of LifeOps makes use of, read from its arrays: of documents and of drawn ones alike."""

import numpy as np

from jaxenv.envs.lifeops.types import ABSENT, FOCUS, KINDS, NO_LIMIT, UNSET, WEEKDAYS
from strategies.scenario_features import counts, used_fields

STEP = 5  # minutes; times of documents may lie between
LONG = 90  # minutes of a day's work, or of an event
NEAR = 30  # minutes between an event and a request


def features(found):
    """{feature: [N] bool} of N days, as NumPy arrays."""
    return {
        **used_fields(found, skip=("source", "calendar")),
        **_counts(found),
        **_of_calendar(found),
        **_of_requests(found),
        **_of_tasks(found),
        **_of_persona(found),
        **_of_day(found),
    }


def _exists(found):
    """([N, E], [N, Q], [N, T]) bool: events, requests, tasks."""
    requests = np.arange(found.requests.start.shape[1]) < found.num_requests[:, None]
    return found.calendar.start != ABSENT, requests, found.tasks.priority > 0


def _counts(found):
    events, requests, tasks = _exists(found)
    return {
        **counts("events", events.sum(1)),
        **counts("requests", requests.sum(1)),
        **counts("tasks", tasks.sum(1)),
        **counts("steps beyond the requests", found.max_steps - found.num_requests),
        **counts("places", found.travel.any(2).sum(1)),
    }


def _table(table, exists, name):
    """Kinds and importance of events or requests."""
    length = table.end.astype(int) - table.start
    return {
        **{f"{name} of kind {kind}": (exists & (table.kind == n)).any(1) for n, kind in enumerate(KINDS)},
        **{f"{name} of importance {n}": (exists & (table.importance == n)).any(1) for n in (1, 2, 3)},
        f"{name} that takes long": (exists & (length >= LONG)).any(1),
        f"{name} of 30 minutes or less": (exists & (length <= 30)).any(1),
    }


def _of_calendar(found):
    """Events, and the ways between them."""
    calendar, exists = found.calendar, _exists(found)[0]
    start, end, place = (column.astype(int) for column in (calendar.start, calendar.end, calendar.place))
    rows = np.arange(len(start))[:, None]
    way = found.travel[rows, place[:, :-1], place[:, 1:]]
    gap, both = start[:, 1:] - end[:, :-1], exists[:, 1:]
    work = found.persona.work_place[:, None].astype(int)
    return {
        **_table(calendar, exists, "an event"),
        "events one right after the other": (both & (gap == 0)).any(1),
        "events that overlap": found.overlaps > 0,
        "a way that takes longer than there is time": found.tight_legs > 0,
        "a way that takes all the time": (both & (gap == way) & (way > 0)).any(1),
        "an event at home": (exists & (place == found.persona.home[:, None])).any(1),
        "an event at work": (exists & (place == work)).any(1),
        "an event elsewhere": (exists & (place != work) & (place != found.persona.home[:, None])).any(1),
        "an event that ends after 19:00": (exists & (end > 1140)).any(1),
        "an event before 9:00": (exists & (start < 540)).any(1),
        "a focus event outside of work": (exists & (calendar.kind == FOCUS) & (place != work)).any(1),
        "a time between the multiples of five": (exists & ((start % STEP > 0) | (end % STEP > 0))).any(1),
    }


def _of_requests(found):
    """Requests, where they lie in the day, and what they collide with."""
    requests, (events, exists, _) = found.requests, _exists(found)
    start, end, place = (column.astype(int) for column in (requests.start, requests.end, requests.place))
    calendar = found.calendar
    e_start, e_end = calendar.start.astype(int), calendar.end.astype(int)
    meets = events[:, None] & exists[..., None]
    meets &= (e_start[:, None] < end[..., None]) & (start[..., None] < e_end[:, None])
    important = requests.importance == 3
    persona, rows = found.persona, np.arange(len(start))[:, None, None]
    window = exists & ((start < persona.window_start[:, None]) | (end > persona.window_end[:, None]))
    gap = np.maximum(start[..., None] - e_end[:, None], e_start[:, None] - end[..., None])
    way = found.travel[rows, calendar.place.astype(int)[:, None], place[..., None]]
    beside = events[:, None] & exists[..., None] & (gap >= 0)
    other = exists[:, None] & exists[:, :, None] & ~np.eye(exists.shape[1], dtype=bool)
    clash = other & (start[:, None] < end[..., None]) & (start[..., None] < end[:, None])
    clash_important = clash & (important & ~found.flexible)[:, None] & (requests.importance < 3)[..., None]
    same = exists & meets.any(2)
    return {
        **_table(requests, exists, "a request"),
        "a flexible request": (exists & found.flexible).any(1),
        "an inflexible request": (exists & ~found.flexible).any(1),
        "an important request that is inflexible": (exists & important & ~found.flexible).any(1),
        "a request that collides with an event": same.any(1),
        "a request that collides with several events": (meets.sum(2) > 1).any(1),
        "a request that collides with an important event": (meets & (calendar.importance == 3)[:, None]).any((1, 2)),
        "a request that collides with a focus event": (meets & (calendar.kind == FOCUS)[:, None]).any((1, 2)),
        "an inflexible request that collides": (same & ~found.flexible).any(1),
        "a request at the very time of an event": (
            meets & (e_start[:, None] == start[..., None]) & (e_end[:, None] == end[..., None])
        ).any((1, 2)),
        "a request without time for the way": (beside & (gap < way)).any((1, 2)),
        "a request right beside an event": (beside & (gap == 0)).any((1, 2)),
        "a request near an event": (beside & (gap > 0) & (gap <= NEAR)).any((1, 2)),
        "a free request": (exists & ~same).any(1),
        "requests that collide": clash.any((1, 2)),
        "an unimportant request in the way of an important one": clash_important.any((1, 2)),
        "a request outside of the window": window.any(1),
        "a request in the window": (exists & ~window).any(1),
        "a request before the earliest time": (exists & (start < persona.avoid_before[:, None])).any(1),
        "a request after the latest time": (exists & (end > persona.avoid_after[:, None])).any(1),
        "a request away from work": (exists & (place != persona.work_place[:, None])).any(1),
        "a request at work": (exists & (place == persona.work_place[:, None])).any(1),
        "a request at home": (exists & (place == persona.home[:, None])).any(1),
    }


def _of_tasks(found):
    tasks, exists = found.tasks, _exists(found)[2]
    urgent = exists & (tasks.due_days <= 1)
    return {
        **{f"a task of priority {n}": (exists & (tasks.priority == n)).any(1) for n in (1, 2, 3)},
        **{f"a task due in {n} days": (exists & (tasks.due_days == n)).any(1) for n in range(8)},
        "a task without a date": (exists & (tasks.due_days == NO_LIMIT)).any(1),
        "an urgent task of more than 90 minutes": (urgent & (tasks.minutes > LONG)).any(1),
        "tasks of more than 90 minutes": tasks.minutes.sum(1) > LONG,
        "tasks of 90 minutes or less": (tasks.minutes.sum(1) <= LONG) & exists.any(1),
    }


def _of_persona(found):
    persona = found.persona
    early, late = persona.avoid_before != UNSET, persona.avoid_after != NO_LIMIT
    length = persona.window_end.astype(int) - persona.window_start
    result = {
        "wishes for early and late meetings": early & late,
        "a wish for early meetings only": early & ~late,
        "a wish for late meetings only": late & ~early,
        "no wishes": ~early & ~late,
        "a window of less than six hours": length < 360,
        "a window of more than seven hours": length > 420,
        "a window that begins by 9:00": persona.window_start <= 540,
        "a window that begins after 10:00": persona.window_start > 600,
        "a window that ends after 17:00": persona.window_end > 1020,
    }
    for name in ("preference_weight", "travel_weight", "focus_weight"):
        weight = getattr(persona, name)
        result |= {f"{name} below 1": weight < 1, f"{name} of 1 to 1.1": (weight >= 1) & (weight < 1.15)}
        result |= {f"{name} above 1.1": weight >= 1.15}
    return result


def _of_day(found):
    travel = found.travel.astype(int)
    symmetric = (travel == np.swapaxes(travel, 1, 2)).all((1, 2))
    return {
        **{f"a {weekday}": found.weekday == n for n, weekday in enumerate(WEEKDAYS)},
        "no weekday": found.weekday == UNSET,
        "travel that takes longer one way": ~symmetric,
        "a way of more than 30 minutes": travel.max((1, 2)) > 30,
        "a way of 15 minutes or less": ((travel > 0) & (travel <= 15)).any((1, 2)),
    }
