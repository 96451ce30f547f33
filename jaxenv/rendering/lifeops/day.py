"""A day as facts for people: the state's arrays read on the host, with every conflict and every leg by name."""

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

from jaxenv.envs.lifeops.types import (
    ABSENT,
    KINDS,
    NO_LIMIT,
    SOURCE_STRIDE,
    UNSET,
    VISIBLE_REQUESTS,
    WEEKDAYS,
    Event,
    Scenario,
    State,
)
from jaxenv.rendering.lifeops.names import Names


@dataclasses.dataclass(frozen=True)
class Entry:
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


@dataclasses.dataclass(frozen=True)
class Leg:
    """The way to an event from the one before it, or from home; times in minutes."""

    origin: str
    target: str
    arrives: int  # minutes after midnight, when the event starts
    needed: int
    available: int

    @property
    def tight(self) -> bool:
        """Whether it takes longer than there is time: a travel issue."""
        return self.needed > self.available


@dataclasses.dataclass(frozen=True)
class Work:
    """A task; times in minutes."""

    name: str
    total: int
    left: int
    priority: int
    due_days: int | None


@dataclasses.dataclass(frozen=True)
class Day:
    """Everything that is shown of a state."""

    scenario: str
    weekday: str  # empty where not known
    clock: int  # steps taken
    max_steps: int
    window: tuple[int, int]  # minutes after midnight, the preferred meeting window
    avoid_before: int | None
    avoid_after: int | None
    calendar: tuple[Entry, ...]  # sorted
    conflicts: tuple[tuple[Entry, Entry], ...]  # overlapping pairs
    legs: tuple[Leg, ...]  # between places, in the order of the day
    queue: tuple[Entry, ...]  # the current request and the next two
    hidden: int  # requests behind those
    tasks: tuple[Work, ...]  # in the order of work

    @property
    def tight_legs(self) -> tuple[Leg, ...]:
        """The travel issues."""
        return tuple(leg for leg in self.legs if leg.tight)


def read(state: State, scenario: Scenario, departure_min: int, names: Names) -> Day:
    """The day of a state; all arrays are NumPy's."""
    persona, handled = scenario.persona, int(state.handled)
    calendar = tuple(_entry(state, slot, names) for slot in range(_count(state)))
    waiting = range(handled, int(scenario.num_requests))
    return Day(
        scenario=names.scenario,
        weekday=WEEKDAYS[int(scenario.weekday)] if scenario.weekday != UNSET else "",
        clock=int(state.clock),
        max_steps=int(scenario.max_steps),
        window=(int(persona.window_start), int(persona.window_end)),
        avoid_before=_unless(persona.avoid_before, UNSET),
        avoid_after=_unless(persona.avoid_after, NO_LIMIT),
        calendar=calendar,
        conflicts=tuple(pair for pair in itertools.combinations(calendar, 2) if overlap(*pair)),
        legs=tuple(_legs(state, scenario, departure_min, names)),
        queue=tuple(_request(scenario, index, names) for index in waiting[:VISIBLE_REQUESTS]),
        hidden=len(waiting[VISIBLE_REQUESTS:]),
        tasks=tuple(_tasks(state, scenario, names)),
    )


def overlap(a: Entry, b: Entry) -> bool:
    """Whether two events share time; touching is fine."""
    return a.start < b.end and b.start < a.end


def clock(minutes: int) -> str:
    """Minutes after midnight as `9:05`."""
    return f"{minutes // 60}:{minutes % 60:02}"


def _count(state: State) -> int:
    return int((state.calendar.start != ABSENT).sum())


def _entry(state: State, slot: int, names: Names) -> Entry:
    """An event of the calendar; `State.source` tells what it is, see `dynamics.added_source`."""
    capacity, source = len(state.source), int(state.source[slot])
    what = (source - capacity) % SOURCE_STRIDE
    if source < capacity:
        name = names.events[source]
    else:
        name = names.requests[what - 1] if what else "focus"
    return _of_table(state.calendar, slot, name, names, added=source >= capacity)


def _request(scenario: Scenario, index: int, names: Names) -> Entry:
    return _of_table(
        scenario.requests,
        index,
        names.requests[index],
        names,
        flexible=bool(scenario.flexible[index]),
        person=names.people[index] if names.people else "",
    )


def _of_table(table: Event, row: int, name: str, names: Names, **more: Any) -> Entry:
    return Entry(
        name=name,
        place=names.place(int(table.place[row])),
        kind=KINDS[int(table.kind[row])],
        start=int(table.start[row]),
        end=int(table.end[row]),
        importance=int(table.importance[row]),
        **more,
    )


def _legs(state: State, scenario: Scenario, departure_min: int, names: Names) -> Sequence[Leg]:
    """The ways of the day that take time; between events that overlap there is none."""
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


def _tasks(state: State, scenario: Scenario, names: Names) -> Sequence[Work]:
    tasks = scenario.tasks
    present = [index for index, priority in enumerate(tasks.priority.tolist()) if priority > 0]
    return [
        Work(
            name=names.tasks[index],
            total=int(tasks.minutes[index]),
            left=int(state.minutes_left[index]),
            priority=int(tasks.priority[index]),
            due_days=_unless(tasks.due_days[index], NO_LIMIT),
        )
        for index in present
    ]


def _unless(value: Any, missing: int) -> int | None:
    return None if int(value) == missing else int(value)
