"""Checks of a task beyond its single fields: why it cannot be compiled, and what is allowed but rarely intended."""

import dataclasses
import functools
from collections.abc import Iterable, Iterator
from itertools import chain, islice

import numpy as np

from jaxenv.envs.lifestack.actions import EFFECTS, FIRST_UPKEEP, INSPECTING
from jaxenv.envs.lifestack.metrics import HIGHEST, METRICS, UNIT, better, index, spread
from jaxenv.envs.lifestack.types import EVERY_STEP, Limits
from jaxenv.host.names import did_you_mean
from scenarios.document_format import over_capacity, repeated, unknown
from scenarios.lifestack.document import ORDERING, Condition, ExoEvent, Route, Task, is_number
from scenarios.lifestack.facts import Facts, bound, bounds, hidden_keys, hundredths, metrics_at_reset, resources, token
from scenarios.text.errors import MAX_QUOTE, Path, Problem, named, quote

WORLD, HIDDEN = "the world", "the hidden state"
MAX_STAKES = 12  # side income from which on winning may not pay
MAX_STAKES_WITHOUT_DEADLINE = 7
MAX_WORDED = 3  # alternatives of a condition that a warning explains


def problems(task: Task, limits: Limits) -> list[Problem]:
    """Why a task cannot be compiled; empty if it can."""
    found = list(_over_capacity(task, limits)) or [
        *_repeated_ids(task),
        *_repeated_verbs(task),
        *_unknown_names(task),
        *_unknown_metrics(task),
        *_metrics_as_facts(task),
        *_two_homes(task),
        *_wrong_sides(task),
        *_unfit_operators(task),
    ]
    return found or [*_too_many_bounds(task, limits), *_before_the_first_step(task)]


def _repeated_ids(task: Task) -> Iterator[Problem]:
    """Routes, milestones and events are found by their ids."""
    for field in ("viable_routes", "milestones", "event_schedule"):
        yield from repeated((path, record.id) for path, record in task.placed(field))


def _repeated_verbs(task: Task) -> Iterator[Problem]:
    """A verb is done once on a route."""
    for n, route in enumerate(task.viable_routes):
        for m, verb in enumerate(route.required_action_types):
            if verb in route.required_action_types[:m]:
                text = f"{named(verb)} is repeated, expected each verb once: it is done once on a route."
                yield Problem(("viable_routes", n, "required_action_types", m), text)


def _unknown_names(task: Task) -> Iterator[Problem]:
    """Names of routes and milestones that do not exist."""
    routes, milestones = [route.id for route in task.viable_routes], [milestone.id for milestone in task.milestones]
    for field in ("viable_routes", "event_schedule"):
        yield from unknown("route", task.placed(field, "closes_routes"), routes)
    yield from unknown("milestone", task.placed("viable_routes", "milestones_unlocked"), milestones)


def _unknown_metrics(task: Task) -> Iterator[Problem]:
    """Paths in effects and disruptions that are not metrics."""
    tables: list[tuple[Path, dict]] = [(("disruption",), task.disruption)]
    for field in ("viable_routes", "event_schedule"):
        tables += [((field, n, "effects"), record.effects) for n, record in enumerate(task[field])]
    for path, changes in tables:
        yield from unknown("metric", (((*path, metric), metric) for metric in changes), METRICS)


def _metrics_as_facts(task: Task) -> Iterator[Problem]:
    """Keys of facts that are spelled like a metric."""
    for path, key, _ in chain(task.states(), task.consequences(), task.mutations()):
        if key in METRICS:
            way = {"viable_routes": "effects", "event_schedule": "effects"}.get(str(path[0]), "disruption")
            text = f"{named(key)} is a metric, not a fact. To change it, use {way}; otherwise choose another name."
            yield Problem(path, text)


def _two_homes(task: Task) -> Iterator[Problem]:
    """Keys whose home or first value is ambiguous."""
    for field in ("mutable_world", "visible_world"):
        for key in task[field]:
            if key in task.hidden_state:
                text = f"{named(key)} has two homes, hidden_state and {field}. Keep one."
                yield Problem((field, key), text)
    for key, shown in task.visible_world.items():
        first = task.mutable_world.get(key, shown)
        if token(first) != token(shown) and key not in METRICS:  # which are reported elsewhere
            text = f"{named(key)} is {quote(shown)} here and {quote(first)} in mutable_world."
            yield Problem(("visible_world", key), text)


def _wrong_sides(task: Task) -> Iterator[Problem]:
    """Consequences and world mutations write the world, hidden mutations the hidden state."""
    hidden = hidden_keys(task)
    for path, key, _ in chain(task.consequences(), task.mutations()):
        writes = HIDDEN if "hidden_state_mutation" in path else WORLD
        home = HIDDEN if key in hidden else WORLD
        if writes != home and key not in METRICS:
            yield Problem(path, functools.partial(_wrong_side, task, str(path[2]), key, writes, home))


def _wrong_side(task: Task, field: str, key: str, writes: str, home: str) -> str:
    """Which side a field writes, and where the key belongs."""
    return f"{field} writes {writes}, and {named(key)} belongs to {home}: {_why(task, key)}."


def _why(task: Task, key: str) -> str:
    """The reason why a key belongs to its table."""
    for field in ("hidden_state", "mutable_world", "visible_world"):
        if key in task[field]:
            return f"it is in {field}"
    writer = next(event.id for event in task.event_schedule if key in event.hidden_state_mutation)
    return f"a hidden_state_mutation of {named(writer)} writes it"


def _unfit_operators(task: Task) -> Iterator[Problem]:
    """Comparisons that are meaningless."""
    for path, condition in task.conditions():
        if condition.key in METRICS and condition.op not in ORDERING:
            text = f"{named(condition.key)} is a metric, found op {condition.op}, expected {', '.join(ORDERING)}."
            yield Problem(path, text)
        elif condition.op in ORDERING and not is_number(condition.value):
            yield Problem(path, f"op {condition.op} compares numbers only, found {quote(condition.value)}.")


def _over_capacity(task: Task, limits: Limits) -> Iterator[Problem]:
    """Tables that are longer than the arrays."""
    facts = Facts.of(task)
    members = f"{len(task.success_conditions)} members of success_conditions"
    yield from over_capacity((), "keys", len(facts.keys), limits, f"{len(facts.keys)} facts")
    yield from over_capacity(("viable_routes",), "routes", len(task.viable_routes), limits)
    yield from over_capacity(("milestones",), "milestones", len(task.milestones), limits)
    yield from over_capacity(("event_schedule",), "events", len(task.event_schedule), limits)
    yield from over_capacity(("success_conditions",), "success", len(task.success_conditions), limits, members)
    for key, values in facts.values.items():
        counts = f"absence and the {len(values)} values that {named(key)} can take"
        yield from over_capacity((), "codes", len(values) + 1, limits, counts)


def _too_many_bounds(task: Task, limits: Limits) -> Iterator[Problem]:
    """More different bounds on metrics than the arrays hold."""
    count = len(bounds(task))
    yield from over_capacity((), "bounds", count, limits, f"{count} different bounds on metrics")


def _before_the_first_step(task: Task) -> Iterator[Problem]:
    """Ends and milestones that would come before the first step."""
    at_reset = Reach.at_reset(task)
    unlocked = {name for route in task.viable_routes for name in route.milestones_unlocked}
    for n, milestone in enumerate(task.milestones):
        if milestone.id not in unlocked and at_reset.allows(milestone.condition):
            text = f"milestone {named(milestone.id)} is open and reached before the first step."
            yield Problem(("milestones", n, "condition_value"), text)
    members = [any(map(at_reset.allows, member.alternatives)) for member in task.success_conditions]
    if members and all(members):
        yield Problem(("success_conditions",), "all success_conditions hold before the first step.")
    for n, member in enumerate(task.failure_conditions):
        if any(map(at_reset.allows, member.alternatives)):
            yield Problem(("failure_conditions", n), "the failure condition holds before the first step.")
    for metric in np.flatnonzero(better(at_reset.low) <= 0):
        worst = at_reset.low[metric] // UNIT
        text = f"burnout before the first step: the disruption brings {METRICS[metric]} to {worst}, its worst."
        yield Problem(("disruption",), text)


def never_fires(task: Task, event: ExoEvent) -> bool:
    """Whether an event comes only after the end of the task."""
    return (1 if event.step == EVERY_STEP else event.step) >= task.last_step


@dataclasses.dataclass(frozen=True)
class Reach:
    """The values that a task could reach.

    Attributes:
        codes: key -> set of codes.
        low: [23] int32, the lowest value of each metric.
        high: [23] int32, the highest.
    """

    facts: Facts
    codes: dict[str, int]
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def at_reset(cls, task: Task) -> "Reach":
        """The values before the first step: one of each."""
        facts, metrics = Facts.of(task), metrics_at_reset(task)
        return cls(facts, {key: 1 << code for key, code in facts.first.items()}, metrics, metrics)

    @classmethod
    def of(cls, task: Task) -> "Reach":
        """Lets routes complete and events fire until nothing new is reached."""
        found = first = cls.at_reset(task)
        events = [event for event in task.event_schedule if event.probability and not never_fires(task, event)]
        done: list[Route] = []
        while True:
            found = cls(first.facts, found._written(events, done), *_ranges(first.low, events, done))
            more = [route for route in task.viable_routes if found._can_complete(task, route)]
            if len(more) == len(done):
                return found
            done = more

    def allows(self, condition: Condition) -> bool:
        """Whether a condition could hold."""
        if condition.key not in METRICS:
            return bool(self.codes[condition.key] & self.facts.codes(condition))
        metric, low, high = bound(condition)
        return max(low, self.low[metric]) <= min(high, self.high[metric])

    def _can_complete(self, task: Task, route: Route) -> bool:
        """Whether there is the money, and every precondition could hold."""
        return hundredths(route.cost.money) <= resources(task)["money"] and all(map(self.allows, route.conditions))

    def _written(self, events: list[ExoEvent], routes: list[Route]) -> dict[str, int]:
        """The codes with those that events and completed routes write."""
        codes = dict(self.codes)
        written = [event.world_mutation for event in events] + [event.hidden_state_mutation for event in events]
        for record in written + [route.consequences for route in routes]:
            for key, value in record.items():
                codes[key] |= 1 << self.facts.code(key, value)
        return codes


def _ranges(metrics: np.ndarray, events: list[ExoEvent], routes: list[Route]) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and highest value of each metric: upkeep may be repeated, effects happen once.

    Verbs may be repeated too, and move no metric in a direction in which no upkeep does.
    """
    often = EFFECTS[FIRST_UPKEEP:INSPECTING]
    once = np.array([metrics, *(spread(record.effects) for record in (*events, *routes))])
    low = np.where((often < 0).any(axis=0), 0, metrics + np.minimum(once[1:], 0).sum(axis=0))
    high = np.where((often > 0).any(axis=0), HIGHEST, metrics + np.maximum(once[1:], 0).sum(axis=0))
    return np.clip(low, 0, HIGHEST), np.clip(high, 0, HIGHEST)


def warnings(task: Task) -> list[Problem]:
    """Remarks on allowed but rarely intended contents, by the states that the task could reach."""
    reach = Reach.of(task)
    return [*_impossible(task, reach), *_late_events(task), *_stakes(task)]


def _impossible(task: Task, reach: Reach) -> Iterator[Problem]:
    """Success, failures and other conditions that neither routes nor events nor upkeep can bring about."""
    if not task.success_conditions:
        yield Problem((), "the task cannot be won: there are no success_conditions.")
    reported = set()
    cannot = {"success_conditions": "the task cannot be won", "failure_conditions": "the failure cannot happen"}
    for field, words in cannot.items():
        for n, member in enumerate(task[field]):
            if not any(map(reach.allows, member.alternatives)):
                reported.add((field, n))
                yield Problem((field, n), f"{words}: {_why_not(member.alternatives, reach)}")
    for path, condition in task.conditions():
        if path[:2] not in reported and not reach.allows(condition):
            yield Problem(path, _why_not([condition], reach))


def _why_not(conditions: Iterable[Condition], reach: Reach) -> str:
    """Why some conditions can never hold."""
    return " ".join(
        f"{each.key[:MAX_QUOTE]} {each.op} {quote(each.value)} never holds: {_what_holds(each, reach)}"
        for each in islice(conditions, MAX_WORDED)
    )


def _what_holds(condition: Condition, reach: Reach) -> str:
    """The values that the key of a condition takes instead; if nothing sets it, the nearest name of another."""
    key, facts = condition.key, reach.facts
    if key in METRICS:
        low, high = reach.low[index(key)] / UNIT, reach.high[index(key)] / UNIT
        return f"the metric stays from {low:g} to {high:g}."
    if not facts.values[key]:
        others = [name for name, taken in facts.values.items() if taken]
        return f"nothing sets {named(key)}.{did_you_mean(key, [*others, *METRICS])}"
    met = [facts.value(key, code) for code in range(len(facts.values[key]) + 1) if reach.codes[key] >> code & 1]
    return f"{named(key)} is only ever {', '.join(map(quote, met))}."


def _late_events(task: Task) -> Iterator[Problem]:
    """Events that come when the task is over."""
    for n, event in enumerate(task.event_schedule):
        if never_fires(task, event):
            which = "horizon" if task.last_step == task.horizon else "deadline_step"
            late = f"step {event.step} is not before the {which}, {task.last_step}."
            yield Problem(("event_schedule", n, "step"), f"the event {named(event.id)} never fires: {late}")


def _stakes(task: Task) -> Iterator[Problem]:
    """Side income for which delaying the win may pay."""
    stakes = sum(route.final_reward for route in task.viable_routes) + sum(item.reward for item in task.milestones)
    deadline = task.constraints.deadline_step
    most = MAX_STAKES if deadline else MAX_STAKES_WITHOUT_DEADLINE
    if stakes >= most:
        without = "" if deadline else " without a deadline_step"
        text = f"rewards of routes and milestones sum to {stakes:g}: from {most}{without} on, delaying to win may pay."
        yield Problem(("viable_routes",), text)
