"""Checks of a task beyond its single fields: why it cannot be compiled."""

import functools
from collections.abc import Iterator
from itertools import chain

import numpy as np

from jaxenv.envs.lifestack.metrics import METRICS, UNIT, better
from jaxenv.envs.lifestack.types import Limits
from jaxenv.host.names import did_you_mean
from scenarios.compiling import over_capacity, repeated, unknown
from scenarios.lifestack.document import ExoEvent, Route, Task
from scenarios.lifestack.facts import Facts, bound, bounds, hidden_keys, metrics_at_reset
from scenarios.lifestack.fields import ORDERING, Condition, is_number
from scenarios.text.errors import Path, Problem, named, quote

WORLD, HIDDEN = "the world", "the hidden state"


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
        yield from repeated(((field, n), record.id) for n, record in enumerate(task[field]))


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
        for n, record in enumerate(task[field]):
            yield from unknown("route", _listed((field, n), record, "closes_routes"), routes)
    for n, route in enumerate(task.viable_routes):
        yield from unknown("milestone", _listed(("viable_routes", n), route, "milestones_unlocked"), milestones)


def _listed(path: Path, record: Route | ExoEvent, field: str) -> Iterator[tuple[Path, str]]:
    """The names that a field lists, and where they are."""
    yield from (((*path, field, n), name) for n, name in enumerate(record[field]))


def _unknown_metrics(task: Task) -> Iterator[Problem]:
    """Paths in effects and disruptions that are not metrics."""
    tables: list[tuple[Path, dict]] = [(("disruption",), task.disruption)]
    for field in ("viable_routes", "event_schedule"):
        tables += [((field, n, "effects"), record.effects) for n, record in enumerate(task[field])]
    for path, changes in tables:
        for metric in changes:
            if metric not in METRICS:
                yield Problem((*path, metric), functools.partial(_no_metric, metric))


def _no_metric(path: str) -> str:
    """Names the nearest metric, and all."""
    return f"no metric {named(path)}.{did_you_mean(path, METRICS)} The metrics are {', '.join(METRICS)}."


def _metrics_as_facts(task: Task) -> Iterator[Problem]:
    """Keys of facts that are spelled like a metric."""
    for path, key, _ in chain(task.states(), task.consequences(), task.mutations()):
        if key in METRICS:
            way = {"viable_routes": "effects", "event_schedule": "effects"}.get(str(path[0]), "disruption")
            yield Problem(
                path, f"{named(key)} is a metric, not a fact. To change it, use {way}; otherwise choose another name."
            )


def _two_homes(task: Task) -> Iterator[Problem]:
    """Keys whose home or first value is ambiguous."""
    facts = Facts.of(task)
    for field in ("mutable_world", "visible_world"):
        for key in task[field]:
            if key in task.hidden_state:
                text = f"{named(key)} has two homes, hidden_state and {field}. Keep one."
                yield Problem((field, key), text)
    for key in task.visible_world:
        if key in task.mutable_world and not _are_equal(facts, task, key):
            first, other = quote(task.mutable_world[key]), quote(task.visible_world[key])
            yield Problem(("visible_world", key), f"{named(key)} is {other} here and {first} in mutable_world.")


def _are_equal(facts: Facts, task: Task, key: str) -> bool:
    """Whether both halves of the world give a key the same first value."""
    if key not in facts.values:
        return True  # a metric, reported elsewhere
    return facts.code(key, task.mutable_world[key]) == facts.code(key, task.visible_world[key])


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
            text = (
                f"{named(condition.key)} is a metric, found op {condition.op}, expected one of {', '.join(ORDERING)}."
            )
            yield Problem(path, text)
        elif condition.op in ORDERING and not is_number(condition.value):
            text = f"op {condition.op} compares numbers only, found {quote(condition.value)}."
            yield Problem(path, text)


def _over_capacity(task: Task, limits: Limits) -> Iterator[Problem]:
    """Tables that are longer than the arrays."""
    facts = Facts.of(task)
    tables: tuple[tuple[Path, str, int], ...] = (
        ((), "keys", len(facts.keys)),
        (("viable_routes",), "routes", len(task.viable_routes)),
        (("milestones",), "milestones", len(task.milestones)),
        (("event_schedule",), "events", len(task.event_schedule)),
        (("success_conditions",), "success", len(task.success_conditions)),
    )
    words = {"success": "members of success_conditions", "keys": "facts"}
    for path, field, count in tables:
        yield from over_capacity(path, f"{count} {words.get(field, field)}", field, count, limits)
    for key, values in facts.values.items():
        counts = f"absence and the {len(values)} values that {named(key)} can take"
        yield from over_capacity((), counts, "codes", len(values) + 1, limits)


def _too_many_bounds(task: Task, limits: Limits) -> Iterator[Problem]:
    """More different bounds on metrics than the arrays hold."""
    count = len(bounds(task))
    yield from over_capacity((), f"{count} different bounds on metrics", "bounds", count, limits)


def _before_the_first_step(task: Task) -> Iterator[Problem]:
    """Ends and milestones that would come before the first step."""
    facts, metrics = Facts.of(task), metrics_at_reset(task)

    def holds(condition: Condition) -> bool:
        if condition.key not in METRICS:
            return bool(1 << facts.first[condition.key] & facts.codes(condition))
        metric, low, high = bound(condition)
        return low <= metrics[metric] <= high

    unlocked = {name for route in task.viable_routes for name in route.milestones_unlocked}
    for n, milestone in enumerate(task.milestones):
        if milestone.id not in unlocked and holds(milestone.condition):
            text = f"milestone {named(milestone.id)} is open and reached before the first step."
            yield Problem(("milestones", n, "condition_value"), text)
    members = [any(map(holds, member.alternatives)) for member in task.success_conditions]
    if members and all(members):
        yield Problem(("success_conditions",), "all success_conditions hold before the first step.")
    for n, member in enumerate(task.failure_conditions):
        if any(map(holds, member.alternatives)):
            yield Problem(("failure_conditions", n), "the failure condition holds before the first step.")
    for metric in np.flatnonzero(better(metrics) <= 0):
        worst = metrics[metric] // UNIT
        text = f"burnout before the first step: the disruption brings {METRICS[metric]} to {worst}, its worst."
        yield Problem(("disruption",), text)
