"""The LifeOps document: the types of its fields, and a day with its calendar, requests, tasks, persona and travel."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from jaxenv.envs.lifeops.actions import ACTION_TYPES
from jaxenv.envs.lifeops.types import (
    DAY_END,
    KINDS,
    MAX_MINUTES,
    MAX_TRAVEL,
    MAX_WEIGHT,
    NO_LIMIT,
    SPARE_STEPS,
    WEEKDAYS,
)
from jaxenv.rendering.text import clock
from scenarios.text.records import ListOf, Name, Record, expect, name_among, number_from, one_of
from scenarios.text.source import read

DEFAULT_TRIP = 30  # minutes between two places that travel_times leaves out
CLOCK = r"([01]?[0-9]|2[0-3]):[0-5][0-9]|24:00"


def minutes_of(time: Any) -> Any:
    """Minutes after midnight of a time as on a clock; anything else unchanged, so that its check can refuse it.

    >>> minutes_of("14:10"), minutes_of("09:05"), minutes_of(850), minutes_of("25:99")
    (850, 545, 850, '25:99')
    """
    if not isinstance(time, str) or not re.fullmatch(CLOCK, time):
        return time
    hours, minutes = time.split(":")
    return 60 * int(hours) + int(minutes)


def _in_order(window: tuple[int, int]) -> tuple[int, int]:
    if window[0] > window[1]:
        raise ValueError
    return window


Minute = Annotated[
    int,
    Field(ge=0, le=DAY_END, json_schema_extra={"type": ["integer", "string"], "pattern": f"^({CLOCK})$"}),
    BeforeValidator(minutes_of),
    expect(f'a time of day such as "14:10", or minutes after midnight: an integer from 0 to {DAY_END}'),
]
Level = Annotated[int, Field(ge=1, le=3), expect("1, 2 or 3 (the highest)")]
Weight = Annotated[float, *number_from(0, MAX_WEIGHT)]
Window = Annotated[
    tuple[Minute, Minute],
    Field(strict=False),
    AfterValidator(_in_order),
    expect(
        f'[from, to]: two times of day such as "14:10", or in minutes after midnight, 0 to {DAY_END}, from not after to'
    ),
]
Travel = Annotated[int, Field(ge=0, le=MAX_TRAVEL), expect(f"minutes: an integer from 0 to {MAX_TRAVEL}")]
Work = Annotated[int, Field(ge=0, le=MAX_MINUTES), expect(f"minutes: an integer from 0 to {MAX_MINUTES}")]
DueDay = Annotated[int, Field(ge=0, lt=NO_LIMIT), expect(f"0 (today), 1 (tomorrow), … below {NO_LIMIT}, or null")]
Steps = Annotated[int, Field(ge=1), expect("an integer of at least 1")]
Kind = Annotated[Literal["meeting", "obligation", "focus", "personal"], one_of(KINDS)]
Weekday = Annotated[
    Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"], one_of(WEEKDAYS)
]


class Action(Record):
    """What to do next; the fields that a type does not use are null."""

    action_type: Annotated[str, *name_among(ACTION_TYPES)]
    request_id: str | None = None
    new_start_min: Minute | None = None
    new_end_min: Minute | None = None
    duration_min: int | None = None


class Event(Record):
    """Something in the calendar."""

    event_id: Name
    """Its name; no two events or requests of a day share one."""
    title: str = ""
    """What it is, for people; changes nothing."""
    start_min: Minute
    """When it starts: as on a clock, or in minutes after midnight; 9:00 is 540."""
    end_min: Minute
    """When it ends: as on a clock, or in minutes after midnight; not before start_min."""
    location: Name
    """Where it is: best a place that travel_times names."""
    importance: Level = 1
    """1, 2 or 3 (the highest). The agent sees it; no reward depends on it."""
    kind: Kind = "meeting"
    """What sort it is. The agent sees it; no reward depends on it."""

    @field_validator("end_min")
    @classmethod
    def _ends_after_it_starts(cls, end_min: int, info: ValidationInfo) -> int:
        start_min = info.data.get("start_min", 0)
        if end_min < start_min:
            start = {"start": start_min, "clock": clock(start_min)}
            raise PydanticCustomError("order", "expected at least start_min, {start} ({clock}).", start)
        return end_min

    def plain(self) -> dict[str, Any]:
        """As `Record.plain`; times as on a clock."""
        return super().plain() | {"start_min": clock(self.start_min), "end_min": clock(self.end_min)}


class Request(Event):
    """Somebody asks for time: an event that is not in the calendar yet."""

    importance: Level = 1
    """1, 2 or 3 (the highest): rejecting a 3 costs."""
    kind: Kind = "meeting"
    """What sort it is: the persona's wishes hold for all but focus."""
    from_person: str = ""
    """Who asks, for people; changes nothing."""
    flexible: bool = True
    """Whether it may be moved: where not, moving it costs in LifeOps-Shaped-v0."""


class Task(Record):
    """Work to be done in focus time."""

    task_id: Name
    """Its name; no two tasks share one. Equal priorities go by it, in text order."""
    title: str = ""
    """What it is, for people; changes nothing."""
    remaining_minutes: Work
    """Minutes of focus time that it still needs."""
    priority: Level = 2
    """1, 2 or 3 (the highest): focus time goes to the highest first."""
    due_in_days: DueDay | None = None
    """Days until it is due: 0 today, 1 tomorrow, null for no date.
    Up to 1, every step before it is done costs in LifeOps-Shaped-v0."""


class Persona(Record):
    """Whose day it is, and what they like."""

    persona_id: Name
    """Its name."""
    name: str = ""
    """What to call them, for people; changes nothing."""
    home_location: Name
    """The place where the day begins."""
    primary_work_location: Name
    """The place of focus time."""
    preferred_meeting_window: Window
    """[from, to], as on a clock or in minutes after midnight: a request taken outside of it costs."""
    avoid_meetings_before_min: Minute | None = None
    """A time as on a clock, or minutes after midnight: a request taken that starts before it costs;
    null for no such wish."""
    avoid_meetings_after_min: Minute | None = None
    """A time as on a clock, or minutes after midnight: a request taken that ends after it costs;
    null for no such wish."""
    preference_weight: Weight = 1.0
    """How much the wishes for meeting times count: a factor of their penalty."""
    travel_aversion_weight: Weight = 1.0
    """How much ways count that take longer than there is time: a factor of their penalty."""
    focus_time_weight: Weight = 1.0
    """How much focus time is worth: a factor of its reward."""

    def plain(self) -> dict[str, Any]:
        """As `Record.plain`; times as on a clock."""
        plain = super().plain()
        limits = [name for name in ("avoid_meetings_before_min", "avoid_meetings_after_min") if name in plain]
        window = [clock(minutes) for minutes in self.preferred_meeting_window]
        return plain | {"preferred_meeting_window": window} | {name: clock(plain[name]) for name in limits}


_PERSONAS = Path(__file__).parents[1] / "library" / "lifeops.personas.yaml"
PERSONAS = {source.value["persona_id"]: Persona.model_validate(source.value) for source in read(_PERSONAS)}
"""The personas that a document can name by their id."""


def _known_persona(persona: Any) -> Any:
    """The persona of the library that an id names; anything else unchanged."""
    if not isinstance(persona, str):
        return persona
    if persona not in PERSONAS:
        known = {"ids": ", ".join(PERSONAS), "names": tuple(PERSONAS)}
        raise PydanticCustomError("persona", "expected a mapping or the id of a persona of the library: {ids}.", known)
    return PERSONAS[persona]


class _OrItsId:
    """Tells editors that the id of a persona of the library may replace it."""

    def __get_pydantic_json_schema__(self, core_schema: Any, persona_schema: Any) -> dict[str, Any]:
        return {"anyOf": [{"enum": list(PERSONAS)}, persona_schema(core_schema)]}


class Day(Record):
    """A scenario: one day before its first step."""

    model_config = ConfigDict(title="A day of LifeOps")

    environment: Annotated[Literal["lifeops"], one_of(["lifeops"])] = "lifeops"
    """Which environment plays it."""
    scenario_id: str = ""
    """What the day is called; without one, as its file."""
    day_of_week: Weekday | None = None
    """On a Monday, accepting a request of importance 1 or 2 costs in LifeOps-Shaped-v0."""
    tags: ListOf[str] = ()
    """Words to find it by; change nothing."""
    max_steps: Steps | None = Field(
        default=None,
        description=f"The time limit in steps, an action each; null for the number of requests + {SPARE_STEPS}.",
    )
    persona: Annotated[Persona, BeforeValidator(_known_persona), _OrItsId()]
    """Whose day it is: the id of a persona of the library, or one of your own."""
    calendar: ListOf[Event] = ()
    """What is booked already, in any order."""
    pending_requests: ListOf[Request] = ()
    """Who asks for time, answered in this order."""
    tasks: ListOf[Task] = ()
    """Work to be done in focus time. A day needs a request, or a task with minutes left."""
    travel_times: dict[str, dict[str, Travel]] = Field(
        default={},
        description="Minutes from place (row) to place (column), each direction for itself. "
        f"What is left out takes {DEFAULT_TRIP}; within a place it is 0.",
    )

    @property
    def step_limit(self) -> int:
        """`max_steps`, or its default."""
        return self.max_steps or len(self.pending_requests) + SPARE_STEPS

    @property
    def places(self) -> tuple[str, ...]:
        """Every place once: home, the work place, those of the travel times, then in the order of their first use."""
        named = [self.persona.home_location, self.persona.primary_work_location]
        named += self.travel_times
        named += (place for row in self.travel_times.values() for place in row)
        named += (event.location for event in (*self.calendar, *self.pending_requests))
        return tuple(dict.fromkeys(named))

    def minutes_between(self, origin: str, target: str) -> int:
        """The travel time in minutes."""
        return 0 if origin == target else self.travel_times.get(origin, {}).get(target, DEFAULT_TRIP)

    def plain(self) -> dict[str, Any]:
        """As `Record.plain`; a persona of the library by its id."""
        plain = super().plain()
        if PERSONAS.get(self.persona.persona_id) == self.persona:
            plain["persona"] = self.persona.persona_id
        return plain
