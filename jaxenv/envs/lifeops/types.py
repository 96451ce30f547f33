"""The records of LifeOps; times are minutes after midnight, 0..1440.

Axes: E events, Q requests, T tasks, L places, A actions. Capacities are in `Limits`, everything else is traced.
"""

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core import ScenarioBank
from jaxenv.core.contents import Capacities
from jaxenv.core.fields import Sizes, array, last, record
from jaxenv.core.params import BankParams
from jaxenv.core.printing import Compact
from jaxenv.core.types import ActionMask
from jaxenv.lowering.lookup import read

MEETING, OBLIGATION, FOCUS, PERSONAL = range(4)
KINDS = ("meeting", "obligation", "focus", "personal")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONDAY = 0
DAY_END = 1440

ABSENT = 32767  # start of a calendar slot that holds no event: sorts last, overlaps nothing
NO_LIMIT = 32767  # a latest time or a due day that is not set
SOURCE_STRIDE = 256  # of the clock in `State.source`, see `dynamics.added_source`
MAX_MINUTES = 2**20  # of one task
MAX_TRAVEL = 1440  # minutes from one place to another
MAX_WEIGHT = 100.0  # of a persona
VISIBLE_REQUESTS = 3  # the current one and the next two; the others are hidden
SPARE_STEPS = 5  # the default time limit is the number of requests and these
UNSET = -1  # an earliest time or a weekday that is not set


@dataclasses.dataclass(frozen=True)
class Limits(Capacities):
    """Capacities; a calendar must keep room for one event a step."""

    events: int = 32
    requests: int = 8
    tasks: int = 8
    places: int = 10

    axes: ClassVar[str] = "E Q T L"
    greatest: ClassVar[Mapping[str, int]] = {"tasks": 2**11 - 1}  # whose minutes are summed in int32


def _pairs(sizes: Sizes) -> int:
    """How many pairs of events there can be."""
    return sizes["E"] * (sizes["E"] - 1) // 2


class Event(struct.PyTreeNode):
    """A table of n events or requests, or one of them as int32 scalars.

    A calendar is sorted by (start, end), ties in calendar order; its absent slots follow the last event.
    """

    start: jax.Array = array("n", np.int16, 0, DAY_END, doc="minutes")
    end: jax.Array = array("n", np.int16, 0, DAY_END, doc="minutes, >= start")
    place: jax.Array = array("n", np.int8, 0, last("L"), doc="index of the travel matrix")
    kind: jax.Array = array("n", np.int8, 0, len(KINDS) - 1, doc="MEETING, OBLIGATION, FOCUS or PERSONAL")
    importance: jax.Array = array("n", np.int8, 0, 3, doc="1..3")

    def at(self, index: jax.Array) -> "Event":
        """The row at an index, as int32 scalars; the rows at an array of indices."""
        return jax.tree.map(lambda entry: entry.astype(jnp.int32), read(self, index))


CALENDAR = {"fill": ABSENT, "high": ABSENT, "doc": "minutes; ABSENT where there is no event, which sorts last"}


class Tasks(struct.PyTreeNode):
    """Unfinished work, in the order in which it is done: priority descending, then task id ascending."""

    minutes: jax.Array = array("T", np.int32, 0, MAX_MINUTES, doc="minutes of work at the start of the day")
    priority: jax.Array = array("T", np.int8, 0, 3, doc="1..3")
    due_days: jax.Array = array(
        "T", np.int16, -NO_LIMIT, NO_LIMIT, fill=NO_LIMIT, doc="0 today, 1 tomorrow, NO_LIMIT where not set"
    )


class Persona(struct.PyTreeNode):
    """Whose day it is."""

    home: jax.Array = array("", np.int8, 0, last("L"), doc="place")
    work_place: jax.Array = array("", np.int8, 0, last("L"), doc="place")
    window_start: jax.Array = array("", np.int16, 0, DAY_END, doc="minutes: the preferred meeting window")
    window_end: jax.Array = array("", np.int16, 0, DAY_END, fill=DAY_END, doc="minutes")
    avoid_before: jax.Array = array("", np.int16, UNSET, DAY_END, fill=UNSET, doc="minutes, UNSET for no rule")
    avoid_after: jax.Array = array("", np.int16, 0, NO_LIMIT, fill=NO_LIMIT, doc="minutes, NO_LIMIT for no rule")
    preference_weight: jax.Array = array("", np.float32, 0, MAX_WEIGHT, doc="of broken wishes")
    travel_weight: jax.Array = array("", np.float32, 0, MAX_WEIGHT, doc="of travel issues")
    focus_weight: jax.Array = array("", np.float32, 0, MAX_WEIGHT, doc="of focus time")


class Scenario(Compact):
    """One day as data; `overlaps` and `tight_legs` are counted once from its calendar."""

    calendar: Event = record(Event, {"n": "E"}, start=CALENDAR, doc="sorted")
    source: jax.Array = array("E", np.int16, 0, last("E"), doc="index of the event in the document's calendar")
    overlaps: jax.Array = array("", np.int16, 0, _pairs, doc="overlapping pairs of the calendar")
    tight_legs: jax.Array = array("", np.int16, 0, "E", doc="travel issues between neighboring events")
    requests: Event = record(Event, {"n": "Q"}, doc="in queue order")
    flexible: jax.Array = array("Q", bool, doc="the request may be moved")
    num_requests: jax.Array = array("", np.int8, 0, "Q", doc="in the queue")
    tasks: Tasks = record(Tasks)
    persona: Persona = record(Persona)
    travel: jax.Array = array("L L", np.int16, 0, MAX_TRAVEL, doc="minutes from row to column, 0 on the diagonal")
    weekday: jax.Array = array("", np.int8, UNSET, len(WEEKDAYS) - 1, fill=UNSET, doc="MONDAY..6, UNSET if not known")
    max_steps: jax.Array = array("", np.int16, 0, "E", doc="the time limit in steps")


class State(Compact):
    """What changes during a day; the rest is looked up in `params.bank`."""

    scenario: jax.Array = array("", np.int32, 0, np.iinfo(np.int32).max - 1, doc="index of the bank")
    clock: jax.Array = array("", np.int16, 0, "E", doc="steps taken")
    handled: jax.Array = array("", np.int8, 0, "Q", doc="requests taken off the queue")
    calendar: Event = record(Event, {"n": "E"}, start=CALENDAR, doc="sorted")
    source: jax.Array = array(
        "E",
        np.int16,
        0,
        np.iinfo(np.int16).max - 1,
        doc="ascending in calendar order: as in the scenario, then `dynamics.added_source`",
    )
    overlaps: jax.Array = array("", np.int16, 0, _pairs, doc="overlapping pairs of the calendar")
    tight_legs: jax.Array = array(
        "", np.int16, 0, "E", doc="travel issues between neighbors, without the leg from home"
    )
    minutes_left: jax.Array = array("T", np.int32, 0, MAX_MINUTES, doc="minutes of work left")


class Observation(Compact):
    """The day as the planner sees it: everything but the requests from the fourth on."""

    calendar: Event = record(Event, {"n": "E"}, doc="sorted, all 0 where absent")
    event_exists: jax.Array = array("E", bool, doc="the slot holds an event")
    requests: Event = record(Event, {"n": f"{VISIBLE_REQUESTS}"}, doc="the current request and the next two")
    flexible: jax.Array = array(f"{VISIBLE_REQUESTS}", bool, doc="the request may be moved")
    request_exists: jax.Array = array(f"{VISIBLE_REQUESTS}", bool, doc="the slot holds a request")
    requests_left: jax.Array = array("", np.int8, 0, "Q", doc="the current one included")
    tasks: Tasks = record(Tasks, minutes={"doc": "minutes of work left"}, doc="finished tasks stay")
    persona: Persona = record(Persona)
    travel: jax.Array = array("L L", np.int16, 0, MAX_TRAVEL, doc="minutes from row to column")
    overlaps: jax.Array = array("", np.int16, 0, _pairs, doc="overlapping pairs of the calendar")
    tight_legs: jax.Array = array("", np.int16, 0, "E", doc="travel issues between neighboring events")
    clock: jax.Array = array("", np.int16, 0, "E", doc="steps taken")
    max_steps: jax.Array = array("", np.int16, 1, "E", doc="the time limit in steps")
    weekday: jax.Array = array("", np.int8, UNSET, len(WEEKDAYS) - 1, doc="MONDAY..6, UNSET if not known")
    action_mask: ActionMask = array("A", bool, doc="the legal actions")


class Params(BankParams):
    """The numbers of the environment, all traced."""

    departure_min: jax.Array | int  # [] int32, minutes, 0 .. 1440: when the person leaves home at the earliest

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"departure_min": (0, DAY_END)}

    @property
    def max_steps_in_episode(self) -> jax.Array:
        """[] int32, an upper bound over the bank; each scenario's own limit decides."""
        return self.bank.scenarios.max_steps.max().astype(jnp.int32)


def require_room(bank: ScenarioBank, limits: Limits) -> None:
    """Refuses a bank in which a calendar could overflow: each step may add one event (host side).

    Raises:
        ValueError: with the events and steps of the fullest day and the capacity.
    """
    days = bank.scenarios
    events = np.sum(np.asarray(days.calendar.start) != ABSENT, axis=-1)
    steps = np.asarray(days.max_steps)
    fullest = np.argmax(events + steps)
    if events[fullest] + steps[fullest] > limits.events:
        raise ValueError(
            f"scenario {fullest} of the bank starts with {events[fullest]} events and a limit of {steps[fullest]} "
            f"steps, each of which may add one; the capacity is {limits.events}: raise Limits(events=...)"
        )
