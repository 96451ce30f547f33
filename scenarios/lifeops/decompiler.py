"""Arrays to days: compiled or generated scenarios as LifeOps documents."""

from collections.abc import Sequence

import numpy as np

from jaxenv.envs.lifeops import types
from jaxenv.envs.lifeops.types import ABSENT, KINDS, NO_LIMIT, UNSET, WEEKDAYS, Scenario
from scenarios.arrays import shortest
from scenarios.lifeops.document import SPARE_STEPS, Day, Event, Persona, Request, Task

PLACE_NAMES = ("Home", "Office", "Downtown", "Gym", "School", "Cafe", "Market", "Library")
COLUMNS = ("start", "end", "place", "kind", "importance")


def decompile(scenario: Scenario, scenario_id: str = "", places: Sequence[str] = ()) -> Day:
    """A day in words from arrays of one scenario, such as a generated one.

    Names are not in the arrays: events are called e1, e2, …, requests r1, …, tasks t1, …, and places by `places` or
    `PLACE_NAMES`. Compiled again, it gives the same arrays, if home is place 0 and the work place 0 or 1 as in
    everything compiled or generated.
    """
    count = _count_places(scenario)
    names = [*places, *PLACE_NAMES[len(places) :]]
    names += [f"Place {n}" for n in range(len(names), count)]
    present = np.asarray(scenario.calendar.start) != ABSENT
    in_document = np.flatnonzero(present)[np.argsort(np.asarray(scenario.source)[present])]
    rows = range(int(scenario.num_requests))
    steps, weekday = int(scenario.max_steps), int(scenario.weekday)
    travel = np.asarray(scenario.travel)[:count, :count].tolist()
    return Day(
        scenario_id=scenario_id,
        persona=_persona_words(scenario.persona, names),
        day_of_week=None if weekday == UNSET else WEEKDAYS[weekday],
        max_steps=None if steps == len(rows) + SPARE_STEPS else steps,
        calendar=tuple(
            Event(event_id=f"e{n}", **_event_words(scenario.calendar, slot, names))
            for n, slot in enumerate(in_document, 1)
        ),
        pending_requests=tuple(
            Request(
                event_id=f"r{row + 1}",
                flexible=bool(scenario.flexible[row]),
                **_event_words(scenario.requests, row, names),
            )
            for row in rows
        ),
        tasks=_tasks_words(scenario.tasks),
        travel_times={origin: dict(zip(names, row, strict=False)) for origin, row in zip(names, travel, strict=False)},
    )


def _count_places(scenario: Scenario) -> int:
    """One more than the last place that anything refers to or that has a travel time."""
    travel, present = np.asarray(scenario.travel), np.asarray(scenario.calendar.start) != ABSENT
    used = [int(scenario.persona.home), int(scenario.persona.work_place)]
    used += np.asarray(scenario.calendar.place)[present].tolist()
    used += np.asarray(scenario.requests.place)[: int(scenario.num_requests)].tolist()
    used += np.flatnonzero((travel != 0).any(axis=0) | (travel != 0).any(axis=1)).tolist()
    return max(used) + 1


def _event_words(table: types.Event, row: int, names: Sequence[str]) -> dict:
    """The fields of an event except its id."""
    start, end, place, kind, importance = (int(getattr(table, name)[row]) for name in COLUMNS)
    return {
        "start_min": start,
        "end_min": end,
        "location": names[place],
        "importance": importance,
        "kind": KINDS[kind],
    }


def _tasks_words(tasks: types.Tasks) -> tuple[Task, ...]:
    """Tasks in the order in which they are done; their ids sort in that order."""
    count = int((np.asarray(tasks.priority) > 0).sum())
    return tuple(
        Task(
            task_id=f"t{row + 1:0{len(str(count))}}",
            remaining_minutes=int(tasks.minutes[row]),
            priority=int(tasks.priority[row]),
            due_in_days=None if (due := int(tasks.due_days[row])) == NO_LIMIT else due,
        )
        for row in range(count)
    )


def _persona_words(persona: types.Persona, names: Sequence[str]) -> Persona:
    """An unnamed persona."""
    early, late = int(persona.avoid_before), int(persona.avoid_after)
    return Persona(
        persona_id="generated",
        home_location=names[int(persona.home)],
        primary_work_location=names[int(persona.work_place)],
        preferred_meeting_window=(int(persona.window_start), int(persona.window_end)),
        avoid_meetings_before_min=None if early == UNSET else early,
        avoid_meetings_after_min=None if late == NO_LIMIT else late,
        preference_weight=shortest(persona.preference_weight),
        travel_aversion_weight=shortest(persona.travel_weight),
        focus_time_weight=shortest(persona.focus_weight),
    )
