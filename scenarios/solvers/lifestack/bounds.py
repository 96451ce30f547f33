"""An upper bound on the remaining return of a state, from the game without metrics."""

from typing import NamedTuple

from jaxenv.envs.lifestack.types import EVERY_STEP
from scenarios.solvers.lifestack.budget import Budget, Exhausted
from scenarios.solvers.lifestack.model import Model
from scenarios.solvers.lifestack.records import State
from scenarios.solvers.lifestack.relaxed import Relaxed, Situation
from scenarios.solvers.lifestack.tables import VERB_BITS, members_of

MAX_NODES = 300_000  # of the game without metrics; beyond, bounds are coarse
SHARE = 0.5  # of the seconds, for the game without metrics
MAX_STEPS = 400  # of an episode; beyond, bounds are coarse


class Need(NamedTuple):
    """A bound on a metric without which there is no success; higher is better."""

    metric: int
    low: int
    high: int


class Bound:
    """Upper bounds for the states of one model.

    The parts that this game leaves out can only lower a return, with one exception: a loss that would take a metric
    below 0 costs less than counted. Where an action does that, the crisis ends in burnout or in success; where events
    do it, or the last action, `spared` is the most that this can save.
    """

    def __init__(self, model: Model, budget: Budget) -> None:
        self.model, self.tables = model, model.tables
        nodes = min(budget.nodes, MAX_NODES) if model.tables.last <= MAX_STEPS else 0
        self.relaxed = Relaxed(model, budget.part(SHARE, nodes))
        on_facts = self.tables.members_on_facts
        alone = [bounds for n, bounds in enumerate(self.tables.member_bounds) if not on_facts >> n & 1]
        alone = [bounds & ~self.relaxed.kept.fixed for bounds in alone if bounds.bit_count() == 1]
        self._needs = [Need(*self.tables.bounds[bounds.bit_length() - 1]) for bounds in alone if bounds]
        self._values: dict[Situation, float] = {}
        self._spared: dict[tuple[int, int, int], float] = {}
        self._debts: dict[tuple[int, int, int, int], int] = {}

    def __call__(self, state: State) -> float:
        """An upper bound on the expected return from a state on."""
        situation = self.relaxed.situation(state, self.debt(state))
        value = self._values.get(situation)
        if value is None:
            value = self._values[situation] = self._without_metrics(situation)
        return value + self.spared(state)

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

    def spared(self, state: State) -> float:
        """The most that losses cost less than counted, because a metric cannot fall below 0."""
        workable = self.model.workable(state)
        key = (workable, state.clock, state.metrics)
        if key not in self._spared:
            changes = [self.tables.changes[number] for number in self._to_come(state, workable)]
            losses = [sum(-min(0, part) for part in parts) for parts in zip(*changes, strict=True)]
            values = self.tables.metrics.values[state.metrics]
            saved = sum(max(0, loss - value) for loss, value in zip(losses, values, strict=False))
            self._spared[key] = self.model.per_unit * saved
        return self._spared[key]

    def energy_left(self, state: State) -> int:
        """The energy that the remaining verbs can use up."""
        return self.model.remaining_cost(state).energy

    def debt(self, state: State) -> int:
        """A lower bound on the steps off routes that success needs, since routes and events alone miss its bounds."""
        if not self._needs:
            return 0
        workable = self.model.workable(state)
        key = (workable, state.marks, state.clock, state.metrics)
        if key not in self._debts:
            self._debts[key] = max(self._steps_for(need, state, workable) for need in self._needs)
        return self._debts[key]

    def _steps_for(self, need: Need, state: State, workable: int) -> int:
        """Steps off routes that one bound needs, where all that is left to come moves the metric the right way."""
        value = self.tables.metrics.values[state.metrics][need.metric]
        missing = max(need.low - value, value - need.high)
        if missing <= 0:
            return 0
        sign = 1 if value < need.low else -1
        to_come = self._to_come(state, workable)
        for n in members_of(workable):
            outstanding = self.tables.routes[n].required & ~(state.marks >> VERB_BITS * n)
            to_come += [self.tables.kind_changes[verb] for verb in members_of(outstanding)]
        missing -= sum(max(0, sign * self.tables.changes[number][need.metric]) for number in to_come)
        if missing <= 0:
            return 0
        most = max(sign * self.tables.changes[kind][need.metric] for kind in self.tables.kind_changes)
        return -(-missing // most) if most > 0 else self.tables.last + 1

    def _to_come(self, state: State, workable: int) -> list[int]:
        """The changes, by number, of the remaining routes and of the events that may still come."""
        events = (event for event in self.tables.events if event.step > state.clock or event.step == EVERY_STEP)
        return [*(self.tables.routes[n].change for n in members_of(workable)), *(event.change for event in events)]


class Guess(Bound):
    """An estimate of the value of a state for choosing; 0 where the game without metrics was not searched.

    The bound of an unsearched state is high and would attract a policy.
    """

    def _coarse(self, situation: Situation) -> float:
        return 0.0
