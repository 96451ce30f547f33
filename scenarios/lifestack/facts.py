"""The facts and the start of a task: keys and values as slots and codes, bounds on metrics, resources; sets as bits."""

import dataclasses
import math
import operator
from collections.abc import Hashable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from jaxenv.envs.lifestack.metrics import FIRST, HIGHEST, METRICS, UNIT, index, spread
from jaxenv.envs.lifestack.types import ABSENT, CENTS, MAX_ENERGY
from scenarios.lifestack.document import Condition, Task, is_number

MONEY_PER_STEP = 100  # if neither a budget nor resources give an amount


class Bound(NamedTuple):
    """Closed bounds on a metric, in units of 10⁻⁵."""

    metric: int
    low: int
    high: int


@dataclasses.dataclass(frozen=True)
class Facts:
    """The keys of a task in the order of their slots, and the values that each can ever take.

    Attributes:
        values: key -> values in the order of their codes, from 1.
        first: key -> first code.
    """

    values: Mapping[str, tuple[Any, ...]]
    first: Mapping[str, int]

    @classmethod
    def of(cls, task: Task) -> "Facts":
        """The facts of a task."""
        taken: dict[str, dict[Hashable, Any]] = {key: {} for key in _keys(task)}
        for _, key, value in chain(task.states(), task.consequences(), task.mutations()):
            if value is not None and key in taken:
                taken[key].setdefault(token(value), value)
        facts = cls(values={key: tuple(values.values()) for key, values in taken.items()}, first={})
        first = {key: facts.code(key, value) for _, key, value in task.states() if key in taken}
        return dataclasses.replace(facts, first=dict.fromkeys(taken, ABSENT) | first)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys in the order of their slots."""
        return tuple(self.values)

    def slot(self, key: str) -> int:
        """The slot of a key."""
        return self.keys.index(key)

    def code(self, key: str, value: Any) -> int:
        """The code of a value that the key can take; 0 for null."""
        return ABSENT if value is None else 1 + list(map(token, self.values[key])).index(token(value))

    def value(self, key: str, code: int) -> Any:
        """The meaning of a code; null for 0."""
        return None if code == ABSENT else self.values[key][code - 1]

    def codes(self, condition: Condition) -> int:
        """The set of codes of a fact for which a condition holds: bit c for code c."""
        taken = (None, *self.values[condition.key])
        return bits(holds(condition.op, value, condition.value) for value in taken)


def holds(op: str, value: Any, wanted: Any) -> bool:
    """Whether a value compares so; order is between numbers alone, and null equals null."""
    if op in ("eq", "ne"):
        return (token(value) == token(wanted)) == (op == "eq")
    return is_number(value) and is_number(wanted) and getattr(operator, op)(value, wanted)


def token(value: Any) -> Hashable:
    """A token that is equal for equal values: numbers compare as numbers, all others with their type."""
    if isinstance(value, list):
        return "list", *map(token, value)
    if isinstance(value, dict):
        return "mapping", frozenset((key, token(item)) for key, item in value.items())
    return "number" if is_number(value) else type(value).__name__, value


def bound(condition: Condition) -> Bound:
    """A condition on a metric by gt, ge, lt or le, exact to the last unit; beyond 0 and 100 all limits are alike."""
    limit = Fraction(str(condition.value)) * UNIT
    low, high = {
        "gt": (math.floor(limit) + 1, HIGHEST),
        "ge": (math.ceil(limit), HIGHEST),
        "lt": (0, math.ceil(limit) - 1),
        "le": (0, math.floor(limit)),
    }[condition.op]
    return Bound(index(condition.key), min(max(low, 0), HIGHEST + 1), max(min(high, HIGHEST), -1))


def bounds(task: Task) -> list[Bound]:
    """The distinct bounds of a task, in the order of their first use."""
    found = (bound(condition) for _, condition in task.conditions() if condition.key in METRICS)
    return list(dict.fromkeys(found))


def hidden_keys(task: Task) -> set[str]:
    """The keys of the hidden state: its own, and those without a home that events write there."""
    written = {key for path, key, _ in task.mutations() if path[2] == "hidden_state_mutation"}
    return set(task.hidden_state) | (written - set(task.mutable_world) - set(task.visible_world))


def _keys(task: Task) -> list[str]:
    """Every fact once: states, preconditions and consequences by route, other conditions, mutations."""
    keys = [key for _, key, _ in task.states()]
    for route in task.viable_routes:
        keys += (*route.preconditions, *route.consequences)
    keys += (condition.key for _, condition in task.conditions())
    keys += (key for _, key, _ in task.mutations())
    return [key for key in dict.fromkeys(keys) if key not in METRICS]


def metrics_at_reset(task: Task) -> np.ndarray:
    """[23] int32, the metrics after the disruption."""
    return np.clip(FIRST + spread(task.disruption), 0, HIGHEST)


def resources(task: Task) -> dict[str, int]:
    """Time, money and energy at first, in hundredths."""
    given, budget = task.resources, task.constraints.budget_max
    money = [amount for amount in (given.money, budget) if amount is not None]
    return {
        "time": hundredths(task.horizon if given.time is None else given.time),
        "money": hundredths(min(money) if money else MONEY_PER_STEP * task.horizon),
        "energy": MAX_ENERGY if given.energy is None else hundredths(given.energy),
    }


def hundredths(amount: float) -> int:
    """An amount of time, money or energy, rounded."""
    return round(Fraction(str(amount)) * CENTS)


def bits(flags: Iterable[Any]) -> int:
    """The set of the places where a flag is true, as the bits of a number."""
    return sum(1 << place for place, flag in enumerate(flags) if flag)


def members_of(numbers: int) -> Iterator[int]:
    """The numbers in a set, ascending."""
    while numbers:
        lowest = numbers & -numbers
        yield lowest.bit_length() - 1
        numbers ^= lowest
