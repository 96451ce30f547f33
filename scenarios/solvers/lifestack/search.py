"""Expectimax with memoization, pruned by upper bounds: the best expected return, whether a crisis can be won, and what
the actions of a state are worth to a player who sees everything but the draws of events.
"""

import contextlib
import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxenv.envs.lifestack import actions
from jaxenv.envs.lifestack.actions import INSPECTING, WAITING
from jaxenv.envs.lifestack.metrics import better
from jaxenv.envs.lifestack.types import EVERY_STEP, NEVER, Scenario
from scenarios.lifestack.facts import bits
from scenarios.solvers.lifestack.bounds import THRESHOLDS, Bound, Rollout, expectation, expected
from scenarios.solvers.lifestack.budget import Budget, Call, Exhausted, result_of
from scenarios.solvers.lifestack.game import TIME, WIN_ONLY, Entry, Model, Outcome, State
from scenarios.solvers.lifestack.tables import FACT_BITS, VERB_BITS, Tables

SLACK = 1e-9  # differences below are rounding
SECONDS = 10.0  # for what actions are worth
SECONDS_OF_ROLLOUTS = 0.5  # at least, however short a search is


@dataclasses.dataclass(slots=True)
class Node:
    """Bounds of the value of a state, [low, high], and the entry that earns `low`."""

    high: float
    low: float = -float("inf")
    entry: Entry | None = None
    moves: "list[Choice] | None" = None


class Choice(NamedTuple):
    """An entry at a node."""

    high: float  # the most that it can earn
    entry: Entry
    outcomes: list[Outcome]


class Search:
    """A search over one model.

    Args:
        model: the game.
        bound: at least the value of a state.
        budget: of nodes and seconds.
    """

    def __init__(self, model: Model, bound: Callable[[State], float], budget: Budget) -> None:
        self.model, self.bound, self.budget = model, bound, budget
        self.nodes: dict[State, Node] = {}

    def solve(self, at_least: float = -float("inf")) -> float:
        """The best expected return of an episode; if it is not above `at_least`, a number between the two."""
        starts = [Outcome(chance, 0.0, state, False) for chance, state in self.model.first_states()]
        return result_of(self._expectation(starts, at_least))

    def upper(self) -> float:
        """An upper bound on the best expected return, without searching."""
        return sum(chance * self.bound(state) for chance, state in self.model.first_states())

    def entry(self, state: State) -> Entry:
        """The policy's choice in a state that it can reach."""
        result_of(self._value(state, -float("inf")))
        entry = self.nodes[state].entry
        assert entry is not None
        return entry

    def expectation(self, outcomes: list[Outcome]) -> float:
        """The expected return over outcomes, with the best play after each."""
        return result_of(self._expectation(outcomes, -float("inf")))

    def _node(self, state: State) -> Node:
        node = self.nodes.get(state)
        if node is None:
            node = self.nodes[state] = Node(self.bound(state))
        return node

    def _value(self, state: State, floor: float) -> Call[float]:
        """The value of a state if it is above `floor`, otherwise an upper bound that is not."""
        node = self._node(state)
        if node.low >= node.high or node.high <= floor:
            return node.high
        self.budget.spend()
        if node.moves is None:
            node.moves = self._choices(state)
        best, highest = -float("inf"), -float("inf")
        for choice in node.moves:
            least = max(best, floor)
            if choice.high <= least + SLACK:
                highest = max(highest, choice.high)
                break
            value = yield self._expectation(choice.outcomes, least)
            highest = max(highest, value)
            if value > least:
                best, node.entry = value, choice.entry
        if best > floor:
            node.low = node.high = best
            node.moves = None
            return best
        node.high = min(node.high, highest)
        return node.high

    def _choices(self, state: State) -> list[Choice]:
        """The entries of a state, the most promising first."""
        found = []
        for entry in self.model.entries(state):
            outcomes = self.model.outcomes(state, entry)
            self.budget.hold(len(outcomes))
            found.append(Choice(expectation(outcomes, self.bound), entry, outcomes))
        return sorted(found, key=lambda choice: -choice.high)

    def _expectation(self, outcomes: list[Outcome], floor: float) -> Call[float]:
        """The expectation over outcomes if it is above `floor`, otherwise an upper bound that is not."""
        highs = [o.reward + (self._node(o.state).high if o.state else 0.0) for o in outcomes]
        total = sum(o.probability * high for o, high in zip(outcomes, highs, strict=True))
        for o, high in zip(outcomes, highs, strict=True):
            if total <= floor:
                return total
            if o.state is None:
                continue
            needed = high + (floor - total) / o.probability - o.reward
            found = yield self._value(o.state, needed)
            total += o.probability * (o.reward + found - high)
            if found <= needed:
                return min(total, floor)
        return total


def chance_to_win(scenario: Scenario, seconds: float = 5.0) -> tuple[float, float]:
    """The largest probability of success, as (at least, at most), which are equal where the search closes."""
    model, budget = Model(Tables(scenario), WIN_ONLY), Budget(seconds)
    bound, low, following = Bound(model, budget), 0.0, following_budget(seconds)
    with contextlib.suppress(Exhausted):
        for threshold in THRESHOLDS:
            low = max(low, expected(model, Rollout(model, bound, threshold).entry, following))
            if low >= 1.0 - SLACK:
                return 1.0, 1.0
    high = 1.0
    with contextlib.suppress(Exhausted):
        search = Search(model, bound, budget)
        high = search.upper()
        if low < high - SLACK:
            low = high = max(low, search.solve(low + SLACK))
    return low, high


def following_budget(seconds: float) -> Budget:
    """The budget for following policies through all that may happen."""
    return Budget(max(seconds, SECONDS_OF_ROLLOUTS))


def winnable(scenario: Scenario, seconds: float = 5.0) -> str:
    """`"yes"` if some policy can succeed, `"no"` if none can, `"unknown"` if the seconds ran out."""
    low, high = chance_to_win(scenario, seconds)
    if low > SLACK:
        return "yes"
    return "no" if high <= SLACK else "unknown"


class Worth:
    """The search of one crisis, whose results are kept for its later states.

    Args:
        crisis: the arrays of the task, on the host.
        weights: of the reward.
    """

    def __init__(self, crisis: Any, weights: Any) -> None:
        self.model = Model(Tables(crisis), jax.tree.map(float, weights))
        self._bound = Bound(self.model, Budget(SECONDS))
        self._search = Search(self.model, self._bound, Budget(SECONDS))

    def of_actions(self, state: Any, legal: np.ndarray) -> np.ndarray | None:
        """The expected return after each action and the best play from there on.

        Args:
            state: in which the crisis has not ended, on the host.
            legal: [L] indices of its legal actions.

        Returns:
            [L] float64, or None where the seconds ran out.
        """
        self._search.budget, self._bound.relaxed.budget = Budget(SECONDS), Budget(SECONDS)
        now = state_of(self.model, state)
        entries = [entry_of(self.model, now, int(index)) for index in legal]
        try:
            return np.array([self._search.expectation(self.model.outcomes(*entry)) for entry in entries])
        except Exhausted:
            return None


def state_of(model: Model, state: Any) -> State:
    """A state of the environment as one of the game."""
    tables, step = model.tables, model.tables.scenario.events.step
    fired = np.asarray(state.fired) & (step == EVERY_STEP)
    return model.reduced(
        State(
            facts=sum(int(state.facts[key]) << FACT_BITS * place for place, key in enumerate(tables.keys)),
            metrics=model.metrics.number(tuple(int(value) for value in better(np.asarray(state.metrics)))),
            marks=sum(int(marks) << VERB_BITS * n for n, marks in enumerate(state.marks)),
            fired=bits(fired[step != NEVER]),
            **{name: int(getattr(state, name)) for name in ("time", "money", "energy", "clock")},
            **{name: bits(getattr(state, name)) for name in ("completed", "closed", "reached")},
        )
    )


def entry_of(model: Model, state: State, index: int) -> tuple[State, Entry]:
    """The entry of an index of the catalogue; an inspection is a wait that takes time."""
    kind, route, _ = model.tables.catalogue.table[index].tolist()
    if kind == INSPECTING:
        spent = state._replace(time=state.time - TIME[INSPECTING])
        return spent, Entry(WAITING)
    if kind >= actions.NUM_VERBS:
        return state, Entry(kind)
    return state, model.route_entry(state, route, kind)
