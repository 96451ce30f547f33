"""The parts of a LifeStack document, read: conditions, routes, milestones and the slots of its keys."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from reference.lifestack_rules import HUNDREDTHS, METRICS, TOP, UNIT, VERBS, Record, exact, spread

# ------------------------------------------------------------------------------------- conditions


def is_number(value: Any) -> bool:
    """Whether a value compares as a number: true and false do not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def same(a: Any, b: Any) -> bool:
    """Equality of values: numbers as numbers, all others with their type, also inside of lists and mappings."""
    if is_number(a) and is_number(b):
        return a == b
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    return a == b


@dataclass(frozen=True)
class Fact:
    """A condition on a fact."""

    key: str
    op: str
    value: Any

    def allows(self, value: Any) -> bool:
        """Whether the condition holds for a value; None is the absent fact."""
        if self.op in ("eq", "ne"):
            return same(value, self.value) == (self.op == "eq")
        if not (is_number(value) and is_number(self.value)):
            return False
        return {
            "gt": value > self.value,
            "lt": value < self.value,
            "ge": value >= self.value,
            "le": value <= self.value,
        }[self.op]


@dataclass(frozen=True)
class Bound:
    """A condition on a metric as closed integer bounds in units of 1e-5, open to one side."""

    metric: str
    low: int
    high: int

    def allows(self, value: int) -> bool:
        """Whether a value lies within the bounds."""
        return self.low <= value <= self.high


Condition = Fact | Bound


def condition(key: str, value: Any, op: str | None = None) -> Condition:
    """A condition of a document; a key that is a metric path makes a bound."""
    op = op or "eq"
    if key not in METRICS:
        return Fact(key, op, value)
    limit = exact(value) * UNIT
    if op in ("gt", "ge"):
        return Bound(key, math.floor(limit) + 1 if op == "gt" else math.ceil(limit), TOP)
    if op in ("lt", "le"):
        return Bound(key, 0, math.ceil(limit) - 1 if op == "lt" else math.floor(limit))
    raise ValueError(f"{op} does not compare a metric: {key}")


def precondition(key: str, value: Any) -> Condition:
    """A precondition: a plain value, or a mapping with exactly the fields `op` and `value`."""
    if isinstance(value, dict) and value.keys() == {"op", "value"}:
        return condition(key, value["value"], value["op"])
    return condition(key, value)


def member(record: Record) -> list[Condition]:
    """A member of the success or failure conditions as the list of its alternatives."""
    records: Iterable[Record] = record.get("any", [record])
    return [condition(each["key"], each.get("value"), each.get("op")) for each in records]


# ------------------------------------------------------------------------- routes and milestones


@dataclass
class Route:
    """A route of the document and how far it is."""

    id: str
    verbs: list[str]  # in the order of the catalogue
    preconditions: list[Condition]
    consequences: Record
    closes: list[str]
    unlocks: list[str]
    final_reward: float
    time: int  # its cost: time and energy of every verb, money once
    energy: int
    money: int
    effects: dict[str, int]
    open: bool = True
    completed: bool = False
    marks: set[str] = field(default_factory=set)

    @property
    def workable(self) -> bool:
        """Open and not completed."""
        return self.open and not self.completed

    @property
    def outstanding(self) -> list[str]:
        """The verbs that are not marked."""
        return [verb for verb in self.verbs if verb not in self.marks]


@dataclass
class Milestone:
    """A milestone of the document and how far it is."""

    id: str
    condition: Condition
    reward: float
    open: bool
    reached: bool = False


def read_route(record: Record) -> Route:
    """A route of a document at reset."""
    needed = record.get("required_action_types") or ["execute"]
    cost = record.get("cost") or {}

    def share(name: str) -> int:
        return math.ceil(exact(cost.get(name, 0)) * HUNDREDTHS / len(needed))

    return Route(
        id=record["id"],
        verbs=[verb for verb in VERBS if verb in needed],
        preconditions=[precondition(key, value) for key, value in (record.get("preconditions") or {}).items()],
        consequences=record.get("consequences") or {},
        closes=record.get("closes_routes") or [],
        unlocks=record.get("milestones_unlocked") or [],
        final_reward=record.get("final_reward") or 0.0,
        time=share("time"),
        energy=share("energy"),
        money=hundredths(cost.get("money", 0)),
        effects=spread(record.get("effects") or {}),
    )


def hundredths(number: float) -> int:
    """An amount of time, money or energy as an integer."""
    return round(exact(number) * HUNDREDTHS)


def read_milestone(record: Record, routes: Iterable[Route]) -> Milestone:
    """A milestone of a document at reset: locked if a route unlocks it."""
    return Milestone(
        id=record["id"],
        condition=condition(record["condition_key"], record.get("condition_value"), record.get("condition_op")),
        reward=record.get("reward") or 0.0,
        open=all(record["id"] not in route.unlocks for route in routes),
    )


def key_slots(document: Record) -> list[str]:
    """The facts of a document in the order of their slots."""
    routes, events = document.get("viable_routes") or [], document.get("event_schedule") or []
    named: list[str] = []
    for home in ("hidden_state", "mutable_world", "visible_world"):
        named += document.get(home) or {}
    for route in routes:
        named += [*(route.get("preconditions") or {}), *(route.get("consequences") or {})]
    named += [milestone["condition_key"] for milestone in document.get("milestones") or []]
    for name in ("success_conditions", "failure_conditions"):
        for record in document.get(name) or []:
            named += [each["key"] for each in record.get("any", [record])]
    for event in events:
        named += [*(event.get("world_mutation") or {}), *(event.get("hidden_state_mutation") or {})]
    return [key for key in dict.fromkeys(named) if key not in METRICS]
