"""The records of LifeOps and their shapes; times are minutes after midnight, 0..1440.

Axes: E events, Q requests, T tasks, L places, A actions. Capacities are in `Limits`, everything else is traced.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core import ScenarioBank
from jaxenv.core.types import ActionMask

MEETING, OBLIGATION, FOCUS, PERSONAL = range(4)
KINDS = ("meeting", "obligation", "focus", "personal")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONDAY = 0
DAY_END = 1440

ABSENT = 32767  # start of a calendar slot that holds no event: sorts last, overlaps nothing
NO_LIMIT = 32767  # a latest time or a due day that is not set
SOURCE_STRIDE = 256  # of the clock in `State.source`, see `dynamics.added_source`
MOST_MINUTES = 2**20  # of one task
MOST_TRAVEL = 1440  # minutes from one place to another
MOST_WEIGHT = 100.0  # of a persona
VISIBLE_REQUESTS = 3  # the current one and the next two; the others are hidden
UNSET = -1  # an earliest time or a weekday that is not set


@dataclasses.dataclass(frozen=True)
class Limits:
    """Capacities; a calendar must keep room for one event a step."""

    events: int = 32
    requests: int = 8
    tasks: int = 8
    places: int = 10

    def __post_init__(self) -> None:
        """Refuses a capacity under 1 and one whose codes would not fit their dtypes."""
        for name, value in dataclasses.asdict(self).items():
            if value < 1:
                raise ValueError(f"Limits({name}={value}): a capacity is at least 1")
        if self.events > 120 or max(self.requests, self.places) > 120:
            raise ValueError(f"{self}: at most 120 events, requests and places fit their dtypes")


class Event(struct.PyTreeNode):
    """One event or request (int32 scalars), or a table of them: start and end int16, the others int8, [E] or [Q].

    A calendar is a table sorted by (start, end), ties in calendar order; its absent slots follow the last event.
    """

    start: jax.Array  # minutes, ABSENT in an absent slot of a calendar
    end: jax.Array  # minutes, >= start, 0 where absent
    place: jax.Array  # index of the travel matrix, 0 where absent
    kind: jax.Array  # MEETING, OBLIGATION, FOCUS or PERSONAL, 0 where absent
    importance: jax.Array  # 1..3, 0 where absent

    def at(self, index: jax.Array) -> "Event":
        """The row at an index, as int32 scalars."""
        return jax.tree.map(lambda column: column[index].astype(jnp.int32), self)


class Tasks(struct.PyTreeNode):
    """Unfinished work, in the order in which it is done: priority descending, then task id ascending."""

    minutes: jax.Array  # [T] int32, minutes of work at the start of the day, 0 where absent
    priority: jax.Array  # [T] int8, 1..3, 0 where absent
    due_days: jax.Array  # [T] int16, 0 today, 1 tomorrow, NO_LIMIT where not set or absent


class Persona(struct.PyTreeNode):
    """Whose day it is."""

    home: jax.Array  # [] int8, place
    work_place: jax.Array  # [] int8, place
    window_start: jax.Array  # [] int16, minutes: the preferred meeting window
    window_end: jax.Array  # [] int16, minutes
    avoid_before: jax.Array  # [] int16, minutes, UNSET where there is no rule
    avoid_after: jax.Array  # [] int16, minutes, NO_LIMIT where there is no rule
    preference_weight: jax.Array  # [] float32
    travel_weight: jax.Array  # [] float32
    focus_weight: jax.Array  # [] float32


class Scenario(struct.PyTreeNode):
    """One day as data; `overlaps` and `tight_legs` are counted once from its calendar."""

    calendar: Event  # [E], sorted
    source: jax.Array  # [E] int16, index of the event in the document's calendar, 0 where absent
    overlaps: jax.Array  # [] int16, overlapping pairs of the calendar
    tight_legs: jax.Array  # [] int16, travel issues between neighbouring events
    requests: Event  # [Q], in queue order, all 0 where absent
    flexible: jax.Array  # [Q] bool, False where absent
    num_requests: jax.Array  # [] int8
    tasks: Tasks
    persona: Persona
    travel: jax.Array  # [L, L] int16, minutes from row to column, 0 on the diagonal and where absent
    weekday: jax.Array  # [] int8, MONDAY..6, UNSET where not known
    max_steps: jax.Array  # [] int16, the time limit in steps


class State(struct.PyTreeNode):
    """What changes during a day; the rest is looked up in `params.bank`."""

    scenario: jax.Array  # [] int32, index of the bank
    clock: jax.Array  # [] int16, steps taken
    handled: jax.Array  # [] int8, requests taken off the queue
    calendar: Event  # [E], sorted
    source: jax.Array  # [E] int16, ascending in calendar order: as in the scenario, then `dynamics.added_source`
    overlaps: jax.Array  # [] int16, overlapping pairs of the calendar
    tight_legs: jax.Array  # [] int16, travel issues between neighbouring events; the leg from home is apart
    minutes_left: jax.Array  # [T] int32, minutes of work left, 0 where absent


class Observation(struct.PyTreeNode):
    """The day as the planner sees it: everything but the requests from the fourth on."""

    calendar: Event  # [E], sorted, all 0 where absent
    is_event: jax.Array  # [E] bool
    requests: Event  # [3]: the current request and the next two, all 0 where absent
    flexible: jax.Array  # [3] bool, False where absent
    is_request: jax.Array  # [3] bool
    requests_left: jax.Array  # [] int8, the current one included
    tasks: Tasks  # `minutes` are those left; finished tasks stay
    persona: Persona
    travel: jax.Array  # [L, L] int16, minutes from row to column
    overlaps: jax.Array  # [] int16, overlapping pairs of the calendar
    tight_legs: jax.Array  # [] int16, travel issues between neighbouring events
    clock: jax.Array  # [] int16, steps taken
    max_steps: jax.Array  # [] int16
    weekday: jax.Array  # [] int8, MONDAY..6, UNSET where not known
    action_mask: ActionMask  # [A] bool


class RewardWeights(struct.PyTreeNode):
    """The coefficients of the reward, each a [] float32 (or a Python float); zero switches a part off."""

    overlap_penalty: jax.Array | float
    travel_penalty: jax.Array | float
    handled_request_bonus: jax.Array | float
    rejected_important_penalty: jax.Array | float
    rejected_low_importance_bonus: jax.Array | float
    preference_penalty: jax.Array | float
    preference_bonus: jax.Array | float
    focus_reward: jax.Array | float
    focus_reward_per_minute: jax.Array | float
    wasted_focus_penalty: jax.Array | float
    feasible_schedule_bonus: jax.Array | float
    feasible_schedule_bonus_low_importance: jax.Array | float
    feasible_proposal_bonus: jax.Array | float
    inflexible_reschedule_penalty: jax.Array | float
    cascade_penalty: jax.Array | float
    monday_cancellation_penalty: jax.Array | float
    deadline_pressure_per_minute: jax.Array | float
    deadline_pressure_cap: jax.Array | float
    truncation_goal_miss_penalty: jax.Array | float
    task_progress_per_minute: jax.Array | float
    task_progress_cap: jax.Array | float
    invalid_action: jax.Array | float


class RewardParts(struct.PyTreeNode):
    """The named terms of one step's reward, each [] float32; they sum to it."""

    overlap_penalty: jax.Array
    travel_penalty: jax.Array
    handled_request_bonus: jax.Array
    rejected_important_penalty: jax.Array
    rejected_low_importance_bonus: jax.Array
    preference_penalty: jax.Array
    preference_bonus: jax.Array
    focus_reward: jax.Array
    wasted_focus_penalty: jax.Array
    feasible_schedule_bonus: jax.Array
    feasible_proposal_bonus: jax.Array
    inflexible_reschedule_penalty: jax.Array
    cascade_penalty: jax.Array
    monday_cancellation_penalty: jax.Array
    deadline_pressure_penalty: jax.Array
    truncation_goal_miss_penalty: jax.Array
    task_progress_bonus: jax.Array
    invalid_action: jax.Array


class Params(struct.PyTreeNode):
    """The numbers of the environment, all traced."""

    bank: ScenarioBank  # of Scenario
    weights: RewardWeights
    departure_min: jax.Array | int  # [] int32, minutes: when the person leaves home at the earliest

    @property
    def max_steps_in_episode(self) -> jax.Array:
        """[] int32, an upper bound over the bank; each scenario's own limit decides."""
        return self.bank.scenarios.max_steps.max().astype(jnp.int32)


def empty_scenario(limits: Limits) -> Scenario:
    """A scenario of padding only, as NumPy arrays: the shapes, dtypes and padding of everything compiled or drawn."""
    E, Q, T, L = limits.events, limits.requests, limits.tasks, limits.places
    zero_weight = _full((), 0, np.float32)
    return Scenario(
        calendar=_empty_events(E).replace(start=_full(E, ABSENT, np.int16)),
        source=_full(E, 0, np.int16),
        overlaps=_full((), 0, np.int16),
        tight_legs=_full((), 0, np.int16),
        requests=_empty_events(Q),
        flexible=_full(Q, 0, bool),
        num_requests=_full((), 0, np.int8),
        tasks=Tasks(
            minutes=_full(T, 0, np.int32),
            priority=_full(T, 0, np.int8),
            due_days=_full(T, NO_LIMIT, np.int16),
        ),
        persona=Persona(
            home=_full((), 0, np.int8),
            work_place=_full((), 0, np.int8),
            window_start=_full((), 0, np.int16),
            window_end=_full((), DAY_END, np.int16),
            avoid_before=_full((), UNSET, np.int16),
            avoid_after=_full((), NO_LIMIT, np.int16),
            preference_weight=zero_weight,
            travel_weight=zero_weight,
            focus_weight=zero_weight,
        ),
        travel=_full((L, L), 0, np.int16),
        weekday=_full((), UNSET, np.int8),
        max_steps=_full((), 0, np.int16),
    )


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


def _empty_events(size: int) -> Event:
    """A table of zeros."""
    return Event(
        start=_full(size, 0, np.int16),
        end=_full(size, 0, np.int16),
        place=_full(size, 0, np.int8),
        kind=_full(size, 0, np.int8),
        importance=_full(size, 0, np.int8),
    )


def _full(shape: int | tuple[int, ...], value: int, dtype: Any) -> Any:
    """An array of one number."""
    return np.full(shape, value, dtype)
