"""Days to arrays and back: LifeOps documents as `jaxenv` scenarios."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from jaxenv.core import fields
from jaxenv.envs.lifeops import types
from jaxenv.envs.lifeops.types import ABSENT, KINDS, NO_LIMIT, SPARE_STEPS, UNSET, WEEKDAYS, Limits, Scenario
from scenarios.document_format import put, refuse, shortest
from scenarios.lifeops import checks
from scenarios.lifeops.document import Day, Event, Persona, Request, Task
from scenarios.words import USUAL, drawn

PLACE_NAMES = ("Home", "Office", "Downtown", "Gym", "School", "Cafe", "Market", "Library")
COLUMNS = ("start", "end", "place", "kind", "importance")

Words = Mapping[str, Iterator[str]]
"""Kind -> its words, from the banks."""


def compile(day: Day, limits: Limits = Limits()) -> Scenario:
    """The arrays of a day, as NumPy arrays.

    Raises:
        ScenarioError: where the day does not fit into the limits, ids are repeated, or there is nothing to decide.
    """
    refuse(checks.problems(day, limits))
    empty = fields.padding(Scenario, limits.sizes)
    place = {name: index for index, name in enumerate(day.places)}
    times = [(event.start_min, event.end_min) for event in day.calendar]
    order = sorted(range(len(times)), key=times.__getitem__)  # ties as in the document
    calendar = _fill_events(empty.calendar, [day.calendar[index] for index in order], place)
    travel = np.array([[day.minutes_between(origin, target) for target in day.places] for origin in day.places])
    return put(
        empty,
        calendar=calendar,
        source=order,
        overlaps=_count_overlaps(calendar),
        tight_legs=_count_tight_legs(calendar, travel),
        requests=_fill_events(empty.requests, day.pending_requests, place),
        flexible=[request.flexible for request in day.pending_requests],
        num_requests=len(day.pending_requests),
        tasks=_fill_tasks(empty.tasks, [day.tasks[index] for index in task_order(day)]),
        persona=_persona_arrays(empty.persona, day.persona, place),
        travel=travel,
        weekday=WEEKDAYS.index(day.day_of_week) if day.day_of_week else UNSET,
        max_steps=day.step_limit,
    )


def task_order(day: Day) -> list[int]:
    """Indices of the tasks in the order in which they are done: priority descending, then the id as text."""
    return sorted(range(len(day.tasks)), key=lambda n: (-day.tasks[n].priority, day.tasks[n].task_id))


def _fill_events(padding: types.Event, events: Sequence[Event], place: Mapping[str, int]) -> types.Event:
    """A table of events or requests."""
    return put(
        padding,
        start=[event.start_min for event in events],
        end=[event.end_min for event in events],
        place=[place[event.location] for event in events],
        kind=[KINDS.index(event.kind) for event in events],
        importance=[event.importance for event in events],
    )


def _fill_tasks(padding: types.Tasks, tasks: Sequence[Task]) -> types.Tasks:
    """A table of tasks."""
    return put(
        padding,
        minutes=[task.remaining_minutes for task in tasks],
        priority=[task.priority for task in tasks],
        due_days=[NO_LIMIT if task.due_in_days is None else task.due_in_days for task in tasks],
    )


def _persona_arrays(padding: types.Persona, persona: Persona, place: Mapping[str, int]) -> types.Persona:
    """The numbers of a persona."""
    early, late = persona.avoid_meetings_before_min, persona.avoid_meetings_after_min
    return put(
        padding,
        home=place[persona.home_location],
        work_place=place[persona.primary_work_location],
        window_start=persona.preferred_meeting_window[0],
        window_end=persona.preferred_meeting_window[1],
        avoid_before=UNSET if early is None else early,
        avoid_after=NO_LIMIT if late is None else late,
        preference_weight=persona.preference_weight,
        travel_weight=persona.travel_aversion_weight,
        focus_weight=persona.focus_time_weight,
    )


def _count_overlaps(calendar: types.Event) -> int:
    """Unordered pairs of events that share time; absent slots start after everything."""
    start, end = np.asarray(calendar.start), np.asarray(calendar.end)
    meets = (start[:, None] < end[None, :]) & (start[None, :] < end[:, None])
    return int(np.triu(meets, 1).sum())


def _count_tight_legs(calendar: types.Event, travel: np.ndarray) -> int:
    """Neighbors in time, not overlapping, between which the trip takes longer than the gap."""
    count = np.count_nonzero(np.asarray(calendar.start) != ABSENT)
    start, end, place = (np.asarray(column)[:count] for column in (calendar.start, calendar.end, calendar.place))
    gap = start[1:] - end[:-1]
    return int(((gap >= 0) & (travel[place[:-1], place[1:]] > gap)).sum())


def decompile(scenario: Scenario, scenario_id: str = "", wording: str = USUAL) -> Day:
    """A day in words from arrays of one scenario, such as a generated one.

    Names are not in the arrays: ids are e1, e2, … of events, r1, … of requests and t1, … of tasks, titles and people
    come from `words.json`, and places are called by `PLACE_NAMES`. Compiled again, it gives the same arrays, if home is
    place 0 and the work place 0 or 1 as in everything compiled or generated.
    """
    count = _count_places(scenario)
    names = [*PLACE_NAMES, *(f"Place {n}" for n in range(len(PLACE_NAMES), count))]
    present = np.asarray(scenario.calendar.start) != ABSENT
    in_document = np.flatnonzero(present)[np.argsort(np.asarray(scenario.source)[present])]
    rows = range(int(scenario.num_requests))
    words = _words(scenario, wording)
    steps, weekday = int(scenario.max_steps), int(scenario.weekday)
    travel = np.asarray(scenario.travel)[:count, :count].tolist()
    return Day(
        scenario_id=scenario_id,
        persona=_persona_words(scenario.persona, names),
        day_of_week=None if weekday == UNSET else WEEKDAYS[weekday],
        max_steps=None if steps == len(rows) + SPARE_STEPS else steps,
        calendar=tuple(
            Event(event_id=f"e{n}", **_event_words(scenario.calendar, slot, names, words))
            for n, slot in enumerate(in_document, 1)
        ),
        pending_requests=tuple(
            Request(
                event_id=f"r{row + 1}",
                from_person=next(words["people"]),
                flexible=bool(scenario.flexible[row]),
                **_event_words(scenario.requests, row, names, words),
            )
            for row in rows
        ),
        tasks=_tasks_words(scenario.tasks, words),
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


def _words(scenario: Scenario, wording: str) -> Words:
    """The words for titles by kind, for people and for tasks."""
    numbers = np.asarray(scenario.requests.start)[: int(scenario.num_requests)], np.asarray(scenario.tasks.minutes)
    seed = sum(int(each.astype(int).sum()) for each in numbers) // 5  # times are multiples of five
    return {kind: drawn("lifeops", kind, seed, wording) for kind in (*KINDS, "people", "tasks")}


def _event_words(table: types.Event, row: int, names: Sequence[str], words: Words) -> dict:
    """The fields of an event except its id."""
    start, end, place, kind, importance = (int(getattr(table, name)[row]) for name in COLUMNS)
    title = next(words[KINDS[kind]])
    what = {"title": title[0].upper() + title[1:], "importance": importance, "kind": KINDS[kind]}
    return {"start_min": start, "end_min": end, "location": names[place], **what}


def _tasks_words(tasks: types.Tasks, words: Words) -> tuple[Task, ...]:
    """Tasks in the order in which they are done; their ids sort in that order."""
    count = int((np.asarray(tasks.priority) > 0).sum())
    return tuple(
        Task(
            task_id=f"t{row + 1:0{len(str(count))}}",
            title=next(words["tasks"]),
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
