"""A day in plain Python, read from the arrays for drawing: every event, conflict, leg, request and task by name."""

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from jaxenv.envs.lifeops import types
from jaxenv.envs.lifeops.dynamics import origin_of
from jaxenv.envs.lifeops.types import ABSENT, NO_LIMIT, UNSET, Event, Scenario, State
from jaxenv.rendering.view import Given, numbered, remembered, with_defaults


@dataclasses.dataclass(frozen=True)
class Names:
    """Names by the indices of the arrays.

    Attributes:
        scenario: the id, or empty.
        places: index of the travel matrix -> name; home and work have defaults.
        events: by index in the document's calendar.
        requests: in queue order.
        people: who asks, in queue order, or empty.
        tasks: in the order of work.
    """

    places: Mapping[int, str]
    events: tuple[str, ...]
    requests: tuple[str, ...]
    people: tuple[str, ...]
    tasks: tuple[str, ...]
    scenario: str = ""

    def place(self, index: int) -> str:
        """The name of a place."""
        return self.places.get(index, f"place {index + 1}")


@remembered
def names_of(day: Scenario, given: Given) -> Names:
    """The names of a scenario (arrays on the host), by number if they are not given.

    Raises:
        ValueError: if other events, requests or tasks are given than the scenario has.
    """
    requests = int(day.num_requests)
    return with_defaults(
        Names,
        given,
        places={int(day.persona.work_place): "work", int(day.persona.home): "home"},
        events=numbered("event", int((day.calendar.start != ABSENT).sum())),
        requests=numbered("request", requests),
        people=("",) * requests,
        tasks=numbered("task", int((day.tasks.priority > 0).sum())),
    )


class ShownEvent(NamedTuple):
    """An event of the calendar or a request; times in minutes after midnight."""

    name: str
    place: str
    kind: str
    start: int
    end: int
    importance: int
    added: bool = False  # booked in this episode
    flexible: bool = True  # of a request
    person: str = ""  # who asks


class Leg(NamedTuple):
    """The way to an event from the previous one, or from home; times in minutes."""

    origin: str
    target: str
    arrives: int  # minutes after midnight, when the event starts
    needed: int
    available: int

    @property
    def tight(self) -> bool:
        """Whether it takes longer than there is time: a travel issue."""
        return self.needed > self.available


class Task(NamedTuple):
    """A task; times in minutes."""

    name: str
    total: int
    left: int
    priority: int
    due_days: int | None


class ShownDay(NamedTuple):
    """Everything that is shown of a state."""

    scenario: str
    weekday: str  # empty if unknown
    clock: int  # steps taken
    max_steps: int
    window: tuple[int, int]  # minutes after midnight, the preferred meeting window
    limits: Mapping[str, int]  # "before" and "after", minutes after midnight, if the person avoids such meetings
    calendar: tuple[ShownEvent, ...]  # sorted
    conflicts: tuple[tuple[ShownEvent, ShownEvent], ...]  # overlapping pairs
    legs: tuple[Leg, ...]  # between places, in the order of the day
    queue: tuple[ShownEvent, ...]  # the current request and the next two
    hidden: int  # requests behind those
    tasks: tuple[Task, ...]  # in the order of work
    places: tuple[str, ...]  # home, then those of work, the calendar and the queue
    travel: tuple[tuple[int, ...], ...]  # minutes from row to column, of these places


def read(state: State, scenario: Scenario, departure_min: int, names: Names) -> ShownDay:
    """The day of a state; all arrays are NumPy's."""
    persona = scenario.persona
    calendar = tuple(_event(state, slot, names) for slot in range(_count(state)))
    waiting = range(int(state.handled), int(scenario.num_requests))
    places = _places(state, scenario, waiting[: types.VISIBLE_REQUESTS])
    limits = {"before": _unless(persona.avoid_before, UNSET), "after": _unless(persona.avoid_after, NO_LIMIT)}
    return ShownDay(
        scenario=names.scenario,
        weekday=types.WEEKDAYS[int(scenario.weekday)] if scenario.weekday != UNSET else "",
        clock=int(state.clock),
        max_steps=int(scenario.max_steps),
        window=(int(persona.window_start), int(persona.window_end)),
        limits={word: limit for word, limit in limits.items() if limit is not None},
        calendar=calendar,
        conflicts=tuple((a, b) for a, b in itertools.combinations(calendar, 2) if a.start < b.end and b.start < a.end),
        legs=tuple(_legs(state, scenario, departure_min, names)),
        queue=tuple(_request(scenario, index, names) for index in waiting[: types.VISIBLE_REQUESTS]),
        hidden=len(waiting[types.VISIBLE_REQUESTS :]),
        tasks=tuple(_tasks(state, scenario, names)),
        places=tuple(map(names.place, places)),
        travel=tuple(tuple(int(scenario.travel[origin, target]) for target in places) for origin in places),
    )


def _count(state: State) -> int:
    return int((state.calendar.start != ABSENT).sum())


def _places(state: State, scenario: Scenario, visible: Sequence[int]) -> list[int]:
    """The indices of the places that the person can be sent to, home first."""
    persona = scenario.persona
    booked = state.calendar.place[: _count(state)].tolist()
    asked = [int(scenario.requests.place[index]) for index in visible]
    return list(dict.fromkeys([int(persona.home), int(persona.work_place), *booked, *asked]))


def _event(state: State, slot: int, names: Names) -> ShownEvent:
    """An event of the calendar."""
    origin, number = origin_of(state, slot)
    called = {"event": names.events, "request": names.requests}
    name = called[origin][number] if origin in called else "focus"
    return _shown(state.calendar, slot, name, names, added=origin != "event")


def _request(scenario: Scenario, index: int, names: Names) -> ShownEvent:
    flexible, person = bool(scenario.flexible[index]), names.people[index]
    return _shown(scenario.requests, index, names.requests[index], names, flexible=flexible, person=person)


def _shown(table: Event, row: int, name: str, names: Names, **more: Any) -> ShownEvent:
    return ShownEvent(
        name=name,
        place=names.place(int(table.place[row])),
        kind=types.KINDS[int(table.kind[row])],
        start=int(table.start[row]),
        end=int(table.end[row]),
        importance=int(table.importance[row]),
        **more,
    )


def _legs(state: State, scenario: Scenario, departure_min: int, names: Names) -> Sequence[Leg]:
    """The trips of the day that take time; overlapping events have no trip between them."""
    place, start, end = (column.tolist() for column in (state.calendar.place, state.calendar.start, state.calendar.end))
    stops = [(int(scenario.persona.home), departure_min), *zip(place, end, strict=True)][: _count(state) + 1]
    legs = []
    for index, ((origin, leaves), (target, _)) in enumerate(itertools.pairwise(stops)):
        needed, available = int(scenario.travel[origin, target]), start[index] - leaves
        if index == 0:
            available = max(0, available)
        if needed > 0 and available >= 0:
            legs.append(Leg(names.place(origin), names.place(target), start[index], needed, available))
    return legs


def _tasks(state: State, scenario: Scenario, names: Names) -> Sequence[Task]:
    tasks = scenario.tasks
    due = [_unless(days, NO_LIMIT) for days in tasks.due_days]
    columns = (tasks.minutes.tolist(), state.minutes_left.tolist(), tasks.priority.tolist(), due)
    return [Task(*row) for row in zip(names.tasks, *columns, strict=False)]


def _unless(value: Any, missing: int) -> int | None:
    return None if int(value) == missing else int(value)
