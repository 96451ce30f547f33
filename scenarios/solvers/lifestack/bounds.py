"""Upper bounds on the return of a state, from the game without metrics, and the simple policies that follow them."""

import functools
from collections.abc import Callable, Iterator

from jaxenv.envs.lifestack.actions import FIRST_UPKEEP, WAITING
from jaxenv.envs.lifestack.metrics import UNIT
from jaxenv.envs.lifestack.types import EVERY_STEP
from scenarios.lifestack.facts import members_of
from scenarios.solvers.lifestack.budget import Budget, Call, Exhausted, result_of
from scenarios.solvers.lifestack.game import Entry, Model, Outcome, State
from scenarios.solvers.lifestack.relaxed import Relaxed, Situation

MAX_NODES = 300_000  # of the game without metrics; beyond, bounds are coarse
SHARE = 0.5  # of the seconds, for the game without metrics
MAX_STEPS = 400  # of an episode; beyond, bounds are coarse
THRESHOLDS = (0, 8, 15, 20, 30)  # of the lowest metric
REST = FIRST_UPKEEP
DIGITS = 9  # behind which bounds are equal


class Bound:
    """Upper bounds for the states of one model.

    The parts that this game leaves out can only lower a return, with one exception: a loss that would take a metric
    below 0 costs less than counted. Where an action does that, the crisis ends in burnout or in success; where events
    do it, or the last action, `_saved` is the most that this can save.
    """

    def __init__(self, model: Model, budget: Budget) -> None:
        self.model, self.tables = model, model.tables
        nodes = min(budget.nodes, MAX_NODES) if model.tables.last <= MAX_STEPS else 0
        self.relaxed = Relaxed(model, Budget(SHARE * budget.left, nodes))
        self._value = functools.cache(self._without_metrics)
        self._spared = functools.cache(self._saved)

    def __call__(self, state: State) -> float:
        """An upper bound on the expected return from a state on."""
        spared = self._spared(self.model.workable(state), state.clock, state.metrics)
        return self._value(self.relaxed.situation(state)) + spared

    def _without_metrics(self, situation: Situation) -> float:
        try:
            return self.relaxed.value(situation)
        except Exhausted:
            return self._coarse(situation)

    def _coarse(self, situation: Situation) -> float:
        """Success and every remaining reward, and in every step the greatest gain."""
        tables, weights, relaxed = self.tables, self.model.weights, self.relaxed
        routes = members_of(self.model.workable(situation))
        total = sum(max(0.0, weights.routes * tables.routes[n].reward + relaxed.kept.route_worth[n]) for n in routes)
        total += sum(max(0.0, worth) for worth in relaxed.kept.event_worth)
        left = members_of((1 << tables.num_milestones) - 1 & ~situation.reached)
        total += sum(max(0.0, weights.milestones * tables.rewards[n]) for n in left)
        step = max(0.0, max(relaxed.kept.idle_gain, *relaxed.kept.verb_gain) + weights.step_cost)
        return total + max(0.0, weights.success) + step * (tables.last - situation.clock)

    def _saved(self, workable: int, clock: int, metrics: int) -> float:
        """The most that losses cost less than counted, because a metric cannot fall below 0.

        The losses are those of the remaining routes and of the events that may still come.
        """
        tables = self.tables
        events = (event for event in tables.events if event.step > clock or event.step == EVERY_STEP)
        causes = [*(tables.routes[n] for n in members_of(workable)), *events]
        parts = zip(*(tables.changes[cause.change] for cause in causes), strict=True)
        losses = [sum(-min(0, part) for part in of_metric) for of_metric in parts]
        saved = sum(max(0, loss - value) for loss, value in zip(losses, tables.metrics.values[metrics], strict=False))
        return self.model.per_unit * saved


Policy = Callable[[State], Entry]
"""The entry to play in each state."""


def expected(
    model: Model, policy: Policy, budget: Budget, earned: Callable[[Outcome], float] = lambda outcome: outcome.reward
) -> float:
    """The expected sum of the earnings of outcomes in an episode, by default their rewards: the expected return.

    Raises:
        Exhausted: if the budget is spent before all outcomes are counted.
    """
    memo: dict[State, float] = {}

    def value(state: State) -> Call[float]:
        if state not in memo:
            budget.spend()
            parts = []
            for o in model.outcomes(state, policy(state)):
                parts.append(o.probability * (earned(o) + ((yield value(o.state)) if o.state else 0.0)))
            memo[state] = sum(parts)
        return memo[state]

    return sum(chance * result_of(value(state)) for chance, state in model.first_states())


class Rollout:
    """A simple policy, evaluated over every draw: one of them wins most winnable tasks, in milliseconds.

    It plays the best entry of the game without metrics (`relaxed`), but first tends to a metric that is below a
    threshold, or that is the only thing that success or a route still requires.

    Args:
        model: the game; its weights decide what counts.
        bound: finds the best entries without metrics.
        threshold: a metric below it is improved first.
    """

    def __init__(self, model: Model, bound: Bound, threshold: int) -> None:
        self.model, self.bound, self.threshold = model, bound, threshold * UNIT

    def entry(self, state: State) -> Entry:
        """The policy's choice."""
        entries = [entry for entry in self.model.entries(state) if not entry.fails]
        wanted = self._wanted(state)
        if wanted is not None:
            metric, sign = wanted
            upkeep = [entry for entry in entries if entry.route < 0 and entry.kind != WAITING]
            best = max(upkeep, key=lambda entry: sign * self._move(entry, metric), default=None)
            if best is not None and sign * self._move(best, metric) > 0:
                return best
        steps = (WAITING, REST) if state.energy < self.model.remaining_cost(state).energy else (WAITING,)
        entries = [entry for entry in entries if entry.route >= 0 or entry.kind in steps]
        return max(entries, key=lambda entry: round(expectation(self.model.outcomes(state, entry), self.bound), DIGITS))

    def _wanted(self, state: State) -> tuple[int, int] | None:
        """The metric to improve now, and in which direction."""
        values = self.model.metrics.values[state.metrics]
        lowest = min(range(len(values)), key=values.__getitem__)
        if values[lowest] < self.threshold:
            return lowest, 1
        missing = next(filter(None, self._missing(state)), 0)
        if not missing:
            return None
        metric, low, _ = self.model.tables.bounds[missing.bit_length() - 1]
        return metric, 1 if values[metric] < low else -1

    def _missing(self, state: State) -> Iterator[int]:
        """Sets of bounds, which may be empty: of the one member of success that does not hold yet, and of open routes.

        A route comes with the bounds that it still requires, if it requires nothing else.
        """
        tables, within = self.model.tables, self.model.metrics.within[state.metrics]
        reading = tables.read(state.facts)
        for n, bounds in enumerate(tables.member_bounds):
            if reading.members | 1 << n == tables.members and not bounds & within:
                yield bounds
        for n in members_of(reading.ready & self.model.workable(state)):
            yield tables.routes[n].bounds & ~within

    def _move(self, entry: Entry, metric: int) -> int:
        return self.model.tables.changes[self.model.tables.kind_changes[entry.kind]][metric]


def expectation(outcomes: list[Outcome], bound: Callable[[State], float]) -> float:
    """The value of outcomes where a state is worth its bound."""
    return sum(o.probability * (o.reward + (bound(o.state) if o.state else 0.0)) for o in outcomes)
