"""Values of the 23 metrics, numbered in the order of discovery, so that a state holds one number for all of them."""

from collections.abc import Iterable, Sequence
from operator import add
from typing import Any

from jaxenv.envs.lifestack.metrics import HIGHEST
from jaxenv.envs.lifestack.reward import COLLAPSED

Change = tuple[int, ...]
"""The additions to each metric; higher is better."""


class Metrics:
    """Values of all 23 metrics, numbered in the order of discovery, and the successors of each."""

    def __init__(self, first: Change, changes: Sequence[Change], bounds: Sequence[tuple[int, int, int]]) -> None:
        self._bounds, self._changes = bounds, changes
        self._numbers: dict[Change, int] = {}
        self._shifts: dict[tuple[int, int], int] = {}
        self.values: list[Change] = []  # higher is better
        self.worth: list[int] = []  # the sum
        self.low: list[int] = []  # the set of those that have collapsed
        self.burnt: list[bool] = []  # one is at 0
        self.within: list[int] = []  # the set of bounds that hold
        self.first = self._number(first)

    def shift(self, number: int, change: int) -> int:
        """The metrics after one phase, clipped to 0 and 100."""
        found = self._shifts.get((number, change))
        if found is None:
            moved = map(add, self.values[number], self._changes[change])
            found = self._number(tuple([0 if v < 0 else HIGHEST if v > HIGHEST else v for v in moved]))
            self._shifts[number, change] = found
        return found

    def _number(self, values: Change) -> int:
        if values in self._numbers:
            return self._numbers[values]
        self.values.append(values)
        self.worth.append(sum(values))
        self.low.append(bits(value < COLLAPSED for value in values))
        self.burnt.append(min(values) <= 0)
        self.within.append(bits(low <= values[metric] <= high for metric, low, high in self._bounds))
        self._numbers[values] = len(self.values) - 1
        return self._numbers[values]


def bits(flags: Iterable[Any]) -> int:
    """The set of indices where a flag is true."""
    return sum(1 << place for place, flag in enumerate(flags) if flag)
