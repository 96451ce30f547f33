"""Expectimax with memoization, pruned by upper bounds: the best expected return of a model, and its policy."""

from collections.abc import Callable
from typing import NamedTuple

from jaxenv.envs.lifestack.actions import WAITING
from scenarios.solvers.lifestack.budget import Budget
from scenarios.solvers.lifestack.model import Model
from scenarios.solvers.lifestack.records import Entry, Outcome, State
from scenarios.solvers.lifestack.recursion import Call, result_of

SLACK = 1e-9  # differences below are rounding
UNLIMITED = -1
END = -1_000.0  # the hint for an outcome that ends the episode without success; success needs none


class Node:
    """Bounds of the value of a state, [low, high], and the entry that earns `low`."""

    __slots__ = ("entry", "high", "low", "moves")

    def __init__(self, high: float) -> None:
        self.low, self.high = -float("inf"), high
        self.entry: Entry | None = None
        self.moves: list[Choice] | None = None


class Choice(NamedTuple):
    """An entry at a node."""

    high: float  # the most that it can earn
    entry: Entry
    outcomes: list[Outcome]
    spare: int  # steps off routes that are left then


class Search:
    """A search over one model.

    Args:
        model: the game.
        bound: at least the value of a state.
        budget: of nodes and seconds.
        steps_off: how many steps may be spent off routes; where no route has a legal entry, waiting is free.
        hint: the entry to try first among entries with equal bounds.
    """

    def __init__(
        self,
        model: Model,
        bound: Callable[[State], float],
        budget: Budget,
        steps_off: int = UNLIMITED,
        hint: Callable[[State], float] | None = None,
    ) -> None:
        self.model, self.bound, self.budget, self.steps_off = model, bound, budget, steps_off
        self.hint = hint
        self.first_memory = steps_off
        self.nodes: dict[tuple[State, int], Node] = {}

    def solve(self, at_least: float = -float("inf")) -> float:
        """The best expected return of an episode; if it is not above `at_least`, a number between the two."""
        starts = [Outcome(chance, 0.0, state, False) for chance, state in self.model.first_states()]
        return result_of(self._expectation(starts, self.steps_off, at_least))

    def upper(self) -> float:
        """An upper bound on the best expected return, without searching."""
        return sum(chance * self.bound(state) for chance, state in self.model.first_states())

    def entry(self, state: State, memory: int) -> tuple[Entry, int]:
        """The policy's choice in a state that it can reach; its memory is the steps off routes that remain."""
        result_of(self._value(state, memory, -float("inf")))
        entry = self.nodes[state, memory].entry
        assert entry is not None
        return entry, self._spare_after(entry, memory) or 0

    def _node(self, state: State, spare: int) -> Node:
        node = self.nodes.get((state, spare))
        if node is None:
            node = self.nodes[state, spare] = Node(self.bound(state))
        return node

    def _value(self, state: State, spare: int, floor: float) -> Call[float]:
        """The value of a state if it is above `floor`, otherwise an upper bound that is not."""
        node = self._node(state, spare)
        if node.low >= node.high or node.high <= floor:
            return node.high
        self.budget.spend()
        if node.moves is None:
            node.moves = self._choices(state, spare)
        best, highest = -float("inf"), -float("inf")
        for choice in node.moves:
            least = max(best, floor)
            if choice.high <= least + SLACK:
                highest = max(highest, choice.high)
                break
            value = yield self._expectation(choice.outcomes, choice.spare, least)
            highest = max(highest, value)
            if value > least:
                best, node.entry = value, choice.entry
        if best > floor:
            node.low = node.high = best
            node.moves = None
            return best
        node.high = min(node.high, highest)
        return node.high

    def _choices(self, state: State, spare: int) -> list[Choice]:
        """The entries of a state, the most promising first."""
        model, found = self.model, []
        entries = list(model.entries(state))
        stuck = all(entry.fails or entry.route < 0 for entry in entries)
        for entry in entries:
            left = self._spare_after(entry, spare)
            if left is None and stuck and entry.kind == WAITING:
                left = 0
            if left is not None:
                outcomes = model.outcomes(state, entry)
                self.budget.hold(len(outcomes))
                found.append(Choice(self._high(outcomes), entry, outcomes, left))
        if self.hint is None:
            return sorted(found, key=lambda choice: -choice.high)
        hint = self.hint
        promise = {
            choice.entry: sum(o.probability * (hint(o.state) if o.state else END) for o in choice.outcomes)
            for choice in found
        }
        return sorted(found, key=lambda choice: (-choice.high, -promise[choice.entry]))

    @staticmethod
    def _spare_after(entry: Entry, spare: int) -> int | None:
        """The steps off routes that remain after an entry; None if there are not enough."""
        if spare == UNLIMITED or (entry.route >= 0 and not entry.fails):
            return spare
        return spare - 1 if spare > 0 else None

    def _high(self, outcomes: list[Outcome]) -> float:
        """An upper bound on the value of outcomes."""
        return sum(o.probability * (o.reward + (self.bound(o.state) if o.state else 0.0)) for o in outcomes)

    def _expectation(self, outcomes: list[Outcome], spare: int, floor: float) -> Call[float]:
        """The expectation over outcomes if it is above `floor`, otherwise an upper bound that is not."""
        highs = [o.reward + (self._node(o.state, spare).high if o.state else 0.0) for o in outcomes]
        total = sum(o.probability * high for o, high in zip(outcomes, highs, strict=True))
        for o, high in zip(outcomes, highs, strict=True):
            if total <= floor:
                return total
            if o.state is None:
                continue
            needed = high + (floor - total) / o.probability - o.reward
            found = yield self._value(o.state, spare, needed)
            total += o.probability * (o.reward + found - high)
            if found <= needed:
                return min(total, floor)
        return total
