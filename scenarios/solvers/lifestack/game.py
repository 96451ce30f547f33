"""The game of one scenario for a player who sees the facts: states, entries and outcomes.

It follows the turn of the rules without knowledge, which changes nothing for such a player. States with the same
future are made equal: marks of routes that are over, closed routes that are completed, and resources that cannot
be spent any more are dropped.
"""

import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax

from jaxenv.envs.lifestack import actions
from jaxenv.envs.lifestack.actions import FIRST_UPKEEP, INSPECTING, WAITING
from jaxenv.envs.lifestack.metrics import HIGHEST
from jaxenv.envs.lifestack.reward import WEIGHTS, RewardWeights
from jaxenv.envs.lifestack.types import EVERY_STEP, MAX_ENERGY, NUM_METRICS
from scenarios.lifestack.facts import bits, members_of
from scenarios.solvers.lifestack.budget import require_few_draws
from scenarios.solvers.lifestack.tables import VERB_BITS, Tables

TIME = [int(time) for time in actions.TIME]
ENERGY = [int(energy) for energy in actions.ENERGY]
MAX_TIME = max(TIME[FIRST_UPKEEP:])
MAX_UPKEEP = max(ENERGY[FIRST_UPKEEP:])
ALL_VERBS = (1 << VERB_BITS) - 1


WIN_ONLY: RewardWeights = jax.tree.map(lambda _: 0.0, WEIGHTS).replace(success=1.0)
"""With these weights the return is the probability of success."""


class State(NamedTuple):
    """A state of the game; sets are bit sets."""

    facts: int
    metrics: int  # number in `Metrics`
    time: int
    money: int
    energy: int
    clock: int = 0
    marks: int = 0  # VERB_BITS bits a route, of routes that can be worked
    completed: int = 0
    closed: int = 0  # of routes that are not completed
    reached: int = 0  # milestones
    fired: int = 0  # of events without a step


class Entry(NamedTuple):
    """A legal action in a state."""

    kind: int  # a verb, an upkeep or waiting: row of the tables of `actions`
    route: int = -1  # without one
    completes: bool = False
    fails: bool = False


class Outcome(NamedTuple):
    """The possible outcomes of an entry."""

    probability: float
    reward: float
    state: State | None  # None where the episode is over
    success: bool


class RemainingCost(NamedTuple):
    """The most that the remaining routes can use up."""

    marks: int  # of these routes alone
    money: int
    energy: int
    extra_time: int  # beyond the time of as many steps of upkeep
    extra_energy: int


class Model:
    """One scenario under one set of weights, which are Python floats."""

    def __init__(self, tables: Tables, weights: RewardWeights = WEIGHTS) -> None:
        self.tables, self.may_fail, self.metrics = tables, tables.metrics_matter, tables.metrics
        self.weights: Any = weights
        self.per_unit = self.weights.wellbeing / (NUM_METRICS * HIGHEST)
        self.all_routes = (1 << len(tables.routes)) - 1
        self._remaining = functools.cache(self._remaining_cost)

    # ------------------------------------------------------------------------------------------- start

    def first_states(self) -> list[tuple[float, State]]:
        """The states after reset, with their probabilities."""
        crisis = self.tables.scenario
        resources = {name: int(getattr(crisis, name)) for name in ("time", "money", "energy")}
        start = State(facts=self.tables.first_facts, metrics=self.metrics.first, **resources)
        return [(chance, self.reduced(state)) for chance, state in self.after_events(start)]

    # ----------------------------------------------------------------------------------------- entries

    def workable(self, state: Any) -> int:
        """The set of routes that are neither closed nor completed."""
        return self.all_routes & ~(state.completed | state.closed)

    def entries(self, state: State) -> Iterator[Entry]:
        """The legal entries except inspections: to a player who sees everything, waiting does the same and is free."""
        yield from self.route_entries(state)
        for number in range(FIRST_UPKEEP, INSPECTING):
            if TIME[number] <= state.time and ENERGY[number] <= state.energy:
                yield Entry(number)
        yield Entry(WAITING)

    def route_entries(self, state: State) -> Iterator[Entry]:
        """The legal entries on routes, those included that fail."""
        tables = self.tables
        for number in members_of(self.workable(state)):
            route = tables.routes[number]
            outstanding = self.outstanding(state, number)
            for verb in members_of(outstanding):
                if route.time[verb] > state.time or route.energy[verb] > state.energy:
                    continue
                if route.pays_with(verb, outstanding) and route.money > state.money:
                    continue
                entry = self.route_entry(state, number, verb)
                if self.may_fail or not entry.fails:
                    yield entry

    def outstanding(self, state: State, route: int) -> int:
        """The set of verbs that a route still requires."""
        return self.tables.routes[route].required & ~(state.marks >> VERB_BITS * route)

    def route_entry(self, state: State, route: int, verb: int) -> Entry:
        """The entry of a verb that a route still requires, of which the last one completes it or fails."""
        is_last = self.outstanding(state, route) == 1 << verb
        completes = is_last and self.completes(state, route, verb)
        return Entry(verb, route, completes, is_last and not completes)

    def completes(self, state: State, number: int, verb: int) -> bool:
        """Whether the last verb of a route completes it: preconditions are judged after the effects of the verb."""
        bounds = self.tables.routes[number].bounds
        if not self.tables.read(state.facts).ready >> number & 1:
            return False
        moved = self.metrics.shift(state.metrics, self.tables.kind_changes[verb]) if bounds else state.metrics
        return not bounds & ~self.metrics.within[moved]

    # -------------------------------------------------------------------------------------------- turn

    def outcomes(self, state: State, entry: Entry) -> list[Outcome]:
        """The possible outcomes of an entry, with their probabilities."""
        after, reward = self.apply(state, entry)
        after, earned, success, failure = self.milestones_and_end(after)
        reward += earned + self.weights.step_cost
        if success or failure:
            reward += self.weights.success if success else self.weights.failure
        if success or failure or after.clock >= self.tables.horizon:
            return [Outcome(1.0, reward + self.metric_reward(state.metrics, after.metrics), None, success)]
        return [
            Outcome(chance, reward + self.metric_reward(state.metrics, struck.metrics), self.reduced(struck), False)
            for chance, struck in self.after_events(after)
        ]

    def apply(self, state: State, entry: Entry) -> tuple[State, float]:
        """Applies the entry alone: (state, reward), with the clock advanced."""
        tables = self.tables
        metrics = self.metrics.shift(state.metrics, tables.kind_changes[entry.kind])
        route = tables.routes[entry.route] if entry.route >= 0 else None
        time, energy = (TIME, ENERGY) if route is None else (route.time, route.energy)
        state = state._replace(
            clock=state.clock + 1,
            metrics=metrics,
            time=state.time - time[entry.kind],
            energy=max(0, min(MAX_ENERGY, state.energy - energy[entry.kind])),
        )
        if route is None:
            return state, 0.0
        if entry.fails:
            return state, self.weights.failed_attempt
        pays = route.pays_with(entry.kind, self.outstanding(state, entry.route))
        money = state.money - (route.money if pays else 0)
        marks = state.marks | 1 << VERB_BITS * entry.route + entry.kind
        if not entry.completes:
            return state._replace(marks=marks, money=money), 0.0
        state = state._replace(
            marks=marks,
            money=money,
            facts=route.writes.on(state.facts),
            completed=state.completed | 1 << entry.route,
            closed=state.closed | route.closes,
            metrics=self.metrics.shift(metrics, route.change),
        )
        return state, self.weights.routes * route.reward

    def milestones_and_end(self, state: State) -> tuple[State, float, bool, bool]:
        """Milestones and ends: (state, reward of milestones, success, failure)."""
        tables, within = self.tables, self.metrics.within[state.metrics]
        held = tables.read(state.facts).milestones
        if within:
            held |= bits(bounds & within for bounds in tables.milestone_bounds)
        new, reward = held & self.open_milestones(state), 0.0
        if new:
            state = state._replace(reached=state.reached | new)
            reward = self.weights.milestones * sum(tables.rewards[n] for n in members_of(new))
        unmet = self.unmet(state, within)
        if not unmet and tables.num_members:
            return state, reward, True, False
        return state, reward, False, self.is_lost(state, within, unmet) or self.metrics.burnt[state.metrics]

    def open_milestones(self, state: Any) -> int:
        """The milestones that are not reached, and not locked or unlocked by a completed route."""
        opened = ~self.tables.locked & (1 << self.tables.num_milestones) - 1
        for number in members_of(state.completed):
            opened |= self.tables.routes[number].unlocks
        return opened & ~state.reached

    def unmet(self, state: Any, within: int) -> int:
        """The members of success that neither facts nor the bounds `within` that hold meet."""
        unmet = self.tables.members & ~self.tables.read(state.facts).members
        return unmet & ~bits(bounds & within for bounds in self.tables.member_bounds) if within else unmet

    def is_lost(self, state: Any, within: int, unmet: int) -> bool:
        """Whether a condition, the deadline or a dead end has ended the crisis."""
        tables = self.tables
        if tables.read(state.facts).failed or tables.failure_bounds & within or state.clock >= tables.deadline:
            return True
        return not self.workable(state) and bool(unmet & ~tables.may_still_hold(state.clock, state.fired))

    def due(self, state: Any) -> list[int]:
        """The events that may fire now."""
        clock = state.clock
        return [
            n
            for n, event in enumerate(self.tables.events)
            if event.step == clock or (event.step == EVERY_STEP and clock >= 1 and not state.fired >> n & 1)
        ]

    def after_events(self, state: State) -> Iterator[tuple[float, State]]:
        """The states that the events of the clock may lead to, with their probabilities."""
        events, due = self.tables.events, self.due(state)
        if not due:
            yield 1.0, state
            return
        chances = [events[n].probability for n in due]
        require_few_draws(sum(0.0 < chance < 1.0 for chance in chances))
        for draws in itertools.product(*(_draws(chance) for chance in chances)):
            chance = math.prod(draw for draw, _ in draws)
            yield chance, self._with_events(state, [n for n, (_, fires) in zip(due, draws, strict=True) if fires])

    def _with_events(self, state: State, fires: list[int]) -> State:
        """The state after some events."""
        if not fires:
            return state
        facts, closed, fired = state.facts, state.closed, state.fired
        for n in fires:
            event = self.tables.events[n]
            facts = event.writes.on(facts)
            closed |= event.closes
            fired |= (event.step == EVERY_STEP) << n
        metrics = self.metrics.shift(state.metrics, self.tables.sum_of(tuple(fires)))
        return state._replace(facts=facts, closed=closed, fired=fired, metrics=metrics)

    def metric_reward(self, before: int, after: int) -> float:
        """The reward for the change of the metrics over a step."""
        if before == after:
            return 0.0
        metrics = self.metrics
        fallen = metrics.low[after] & ~metrics.low[before]
        reward = self.per_unit * (metrics.worth[after] - metrics.worth[before])
        return reward + self.weights.collapse * fallen.bit_count() if fallen else reward

    # ------------------------------------------------------------------------------------------- equals

    def reduced(self, state: State) -> State:
        """The state without its irrelevant parts."""
        left, steps = self.remaining_cost(state), self.tables.last - state.clock
        often = steps if self.may_fail else 1
        return state._replace(
            marks=left.marks,
            closed=state.closed & ~state.completed,
            money=min(state.money, left.money),
            time=min(state.time, often * left.extra_time + steps * MAX_TIME),
            energy=min(state.energy, often * left.extra_energy + steps * MAX_UPKEEP),
        )

    def remaining_cost(self, state: State) -> RemainingCost:
        """The most that the remaining verbs can use up."""
        return self._remaining(self.workable(state), state.marks)

    def _remaining_cost(self, workable: int, marks: int) -> RemainingCost:
        kept = money = energy = extra_time = extra_energy = 0
        for number in members_of(workable):
            route = self.tables.routes[number]
            marked = marks >> VERB_BITS * number & ALL_VERBS
            kept |= marked << VERB_BITS * number
            money += route.money
            for verb in members_of(route.required & ~marked):
                energy += max(0, route.energy[verb])
                extra_time += max(0, route.time[verb] - MAX_TIME)
                extra_energy += max(0, route.energy[verb] - MAX_UPKEEP)
        return RemainingCost(kept, money, energy, extra_time, extra_energy)


def _draws(chance: float) -> list[tuple[float, bool]]:
    """The possible effects of an event, with the probabilities: fire, or not; impossible ones are left out."""
    return [(share, fires) for share, fires in ((chance, True), (1.0 - chance, False)) if share > 0.0]
