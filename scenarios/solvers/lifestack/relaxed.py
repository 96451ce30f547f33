"""The game without metrics, a relaxation: small enough to be solved exactly, and never worth less than the real one.

It keeps facts, routes, money, time, energy, chance and the clock, and the metrics that conditions use and no verb
moves. Bounds on the other metrics hold whenever that is better, nothing burns out or collapses, changes count in full,
and a step off routes earns as much as the best upkeep. The following makes it smaller, but never worth less:

- The verbs of a route are steps without names, each as cheap and as good as it can be (`RemainingWork`).
- Where no coming event is worth waiting for, there is a hurry. Random events that may close a route are foreseen then;
  a route is begun only when it can be completed, and worked in one go, so that the others are completed no later than
  in any plan that goes back and forth; energy is gained, by a rest or by the first steps of any route, only where
  a possible next step needs more than remains; and no step is left unused on the way to success.
"""

import functools
from typing import NamedTuple

from jaxenv.envs.lifestack.actions import FIRST_UPKEEP
from jaxenv.envs.lifestack.types import EVERY_STEP
from scenarios.lifestack.facts import bits, members_of
from scenarios.solvers.lifestack.budget import Budget, Call, require_few_draws, result_of
from scenarios.solvers.lifestack.game import ENERGY, MAX_TIME, Model, State
from scenarios.solvers.lifestack.kept import Kept, Needed, RemainingWork
from scenarios.solvers.lifestack.tables import clipped

NO_ROUTE = -1
UNKNOWN = -1
ALL = -1  # the set of everything
NEVER_BETTER = -float("inf")
REST_TIME = MAX_TIME
REST_ENERGY = -ENERGY[FIRST_UPKEEP]


class Situation(NamedTuple):
    """A state of the game without metrics; its first fields are those of `game.State`, except `work`."""

    clock: int
    facts: int
    work: int  # remaining on routes, as `RemainingWork` packs it; 0 for those that are over
    completed: int
    closed: int
    reached: int
    fired: int
    time: int
    money: int
    energy: int
    carried: tuple[int, ...] = ()  # the metrics that no verb moves
    active: int = NO_ROUTE  # the route that has to be worked on
    foreseen: int = UNKNOWN  # of the random events that change the options, those that will fire


class Relaxed:
    """The game without metrics, for one model."""

    def __init__(self, model: Model, budget: Budget) -> None:
        self.model, self.tables, self.weights, self.budget = model, model.tables, model.weights, budget
        self.kept = Kept(model)
        self.remaining = RemainingWork(self.tables.routes, self.kept.verb_gain)
        self._memo: dict[Situation, float] = {}
        self._bounds_within = functools.cache(self._bounds_that_hold)
        self._milestones_on_metrics = bits(self.tables.milestone_bounds)
        gains = (self.weights.milestones, self.weights.routes, self.weights.wellbeing)
        costs = (self.weights.failure, self.weights.collapse, self.weights.step_cost, self.weights.failed_attempt)
        self._most = float("inf") if any(gains) or max(costs) > 0 else self.weights.success

    def situation(self, state: State) -> Situation:
        """A state as this game keeps it."""
        carried = self.kept.carried(self.tables.metrics.values[state.metrics])
        resources = (state.time, state.money, state.energy)
        sets = (state.completed, state.closed, state.reached, state.fired)
        work = self.remaining.of(state.marks)
        return self.cut(Situation(state.clock, state.facts, work, *sets, *resources, carried))

    def value(self, situation: Situation) -> float:
        """The best expected return.

        Raises:
            Exhausted: where the nodes are spent.
        """
        return result_of(self._value(situation))

    def _value(self, situation: Situation) -> Call[float]:
        """`value`, of a situation that may be new."""
        found = self._memo.get(situation)
        if found is not None:
            return found
        self.budget.spend()
        if situation.foreseen == UNKNOWN and not self.kept.waits[situation.clock]:
            best = yield self._foreseen(situation)
        else:
            best = self._given_up(situation)
            for after, gain in self._moves(situation):
                if best >= self._most:
                    break
                best = max(best, gain + (yield self._arrive(after)))
        self._memo[situation] = best
        return best

    def _foreseen(self, situation: Situation) -> Call[float]:
        """The expectation over which random events will fire, each case foreseen."""
        foreseen, lucky = [(1.0, 0)], self.kept.lucky[situation.clock]
        require_few_draws(lucky.bit_count())
        for n in members_of(lucky):
            hit = self.tables.events[n].probability
            draws = ((hit, 1 << n), (1.0 - hit, 0))
            foreseen = [(chance * share, events | fires) for chance, events in foreseen for share, fires in draws]
        parts = []
        for chance, events in foreseen:
            parts.append(chance * (yield self._value(situation._replace(foreseen=events))))
        return sum(parts)

    def _given_up(self, situation: Situation) -> float:
        """An upper bound on the value of failing as soon as possible, off routes."""
        opened = self.model.open_milestones(situation)
        held = self.tables.read(situation.facts).milestones | self._milestones_on_metrics
        rewards = (self.tables.rewards[n] for n in members_of(opened & held))
        earned = self.weights.milestones * sum(max(0.0, reward) for reward in rewards)
        return earned + self.weights.failure + self.weights.step_cost + self.kept.idle_gain

    def cut(self, situation: Situation) -> Situation:
        """The situation with its resources reduced to the usable amounts, and its metrics clipped."""
        completed = situation.completed
        closed, lucky = situation.closed & ~completed, self.kept.lucky[situation.clock]
        work = self.remaining.without(situation.work, completed | closed)
        needed = self.remaining.needed(work, self.model.all_routes & ~(completed | closed))
        return situation._replace(
            work=work,
            closed=closed,
            reached=situation.reached if self.weights.milestones else ALL,
            time=min(situation.time, self._usable_time(situation, needed)),
            money=min(situation.money, needed.money),
            energy=min(situation.energy, needed.energy),
            carried=clipped(situation.carried),
            foreseen=UNKNOWN if situation.foreseen == UNKNOWN and lucky else situation.foreseen & lucky,
        )

    def _usable_time(self, situation: Situation, needed: Needed) -> int:
        """The time that routes and rests can use up."""
        rests = self.tables.last - situation.clock if situation.energy < needed.energy else 0
        return needed.time + REST_TIME * rests

    # ------------------------------------------------------------------------------------------- turn

    def _moves(self, situation: Situation) -> list[tuple[Situation, float]]:
        """The possible moves: (situation, gain), with the clock advanced."""
        ready = self._ready(situation)
        if not self.kept.waits[situation.clock]:
            return self._hurried_moves(situation, ready)
        workable = members_of(self.model.workable(situation))
        works = [self._worked(situation, number, bool(ready >> number & 1), NO_ROUTE) for number in workable]
        return [*filter(None, works), *self._pauses(situation)]

    def _pauses(self, situation: Situation) -> list[tuple[Situation, float]]:
        """Steps off routes: a rest where energy may be needed, otherwise, or where time is short, any other."""
        idle, needed = self._idle(situation), self.remaining.needed(situation.work, self.model.workable(situation))
        if situation.energy >= needed.energy or situation.time < REST_TIME:
            return [idle]
        rest = self._rest(situation)
        return [rest] if situation.time >= self._usable_time(situation, needed) else [idle, rest]

    def _hurried_moves(self, situation: Situation, ready: int) -> list[tuple[Situation, float]]:
        """The possible moves where nothing is worth waiting for."""
        workable = self.model.workable(situation)
        numbers = workable & ready
        if situation.active >= 0 and numbers >> situation.active & 1:
            numbers = 1 << situation.active
        moves = [*filter(None, (self._worked(situation, number, True, number) for number in members_of(numbers)))]
        if not moves or self._is_left_to_metrics(self._unmet(situation)):
            moves.append(self._idle(situation))
        next_steps = (self.remaining.steps(situation.work, number)[0] for number in members_of(numbers))
        if any(step.energy > situation.energy for step in next_steps):
            moves += self._refreshing(situation, workable)
        return moves

    def _refreshing(self, situation: Situation, workable: int) -> list[tuple[Situation, float]]:
        """The moves that give energy: a rest, and steps that do not complete a route."""
        rests = [self._rest(situation)] if situation.time >= REST_TIME else []
        gaining = (n for n in members_of(workable) if self.remaining.steps(situation.work, n)[0].energy < 0)
        return [*rests, *filter(None, (self._worked(situation, n, False, situation.active) for n in gaining))]

    def _idle(self, situation: Situation) -> tuple[Situation, float]:
        """A step off routes that costs nothing."""
        return situation._replace(clock=situation.clock + 1, active=NO_ROUTE), self.kept.idle_gain

    def _rest(self, situation: Situation) -> tuple[Situation, float]:
        """A rest, after which the same route is worked on."""
        energy, time = situation.energy + REST_ENERGY, situation.time - REST_TIME
        after, gain = self._idle(situation)
        return after._replace(energy=energy, time=time, active=situation.active), gain

    def _is_left_to_metrics(self, unmet: int) -> bool:
        """Whether metrics that are left out could meet these members of success."""
        return all(self.tables.member_bounds[n] & ~self.kept.fixed for n in members_of(unmet))

    def _unmet(self, situation: Situation) -> int:
        """The members of success that neither facts nor the metrics of this game meet."""
        return self.model.unmet(situation, self._bounds_within(situation.carried))

    def _bounds_that_hold(self, carried: tuple[int, ...]) -> int:
        """The bounds on the metrics of this game that hold; `_bounds_within` computes them once."""
        values = dict(zip(self.kept.metrics, carried, strict=True))
        return bits(m in values and low <= values[m] <= high for m, low, high in self.tables.bounds)

    def _ready(self, situation: Situation) -> int:
        """The routes whose preconditions hold or might hold."""
        ready = self.tables.read(situation.facts).ready
        if self.kept.fixed:
            missing = self.kept.fixed & ~self._bounds_within(situation.carried)
            ready &= ~bits(route.bounds & missing for route in self.tables.routes)
        return ready

    def _worked(self, situation: Situation, number: int, ready: bool, active: int) -> tuple[Situation, float] | None:
        """A step on a route, with the route to be worked on next; None where it cannot be paid or would fail."""
        step, *others = self.remaining.steps(situation.work, number)
        is_dear = step.time > situation.time or step.energy > situation.energy or step.money > situation.money
        if is_dear or not (others or ready):
            return None
        after = situation._replace(
            clock=situation.clock + 1,
            work=self.remaining.after(situation.work, number),
            time=situation.time - step.time,
            energy=situation.energy - step.energy,
            money=situation.money - step.money,
            active=active,
        )
        return (after, step.gain) if others else self._completed(after, number, step.gain)

    def _completed(self, situation: Situation, number: int, gain: float) -> tuple[Situation, float]:
        """The situation after a route is completed."""
        route = self.tables.routes[number]
        completed = situation.completed | 1 << number
        after = situation._replace(
            facts=route.writes.on(situation.facts),
            completed=completed,
            closed=(situation.closed | route.closes) & ~completed,
            carried=clipped(self.kept.moved(situation.carried, route.change)),
            active=NO_ROUTE,
        )
        return after, gain + self.weights.routes * route.reward + self.kept.route_worth[number]

    def _arrive(self, situation: Situation) -> Call[float]:
        """The value of a situation whose clock has just advanced: milestones, ends, events, and later gains."""
        tables, weights = self.tables, self.weights
        within, unmet = self._bounds_within(situation.carried), self._unmet(situation)
        opened = self.model.open_milestones(situation)
        new = opened & tables.read(situation.facts).milestones
        for n in members_of(opened & ~new):
            bounds = tables.milestone_bounds[n]
            if bounds & within or (bounds & ~self.kept.fixed and tables.rewards[n] > 0):
                new |= 1 << n
        earned = weights.step_cost + weights.milestones * sum(tables.rewards[n] for n in members_of(new))
        situation = situation._replace(reached=situation.reached | new)
        if not unmet and tables.num_members:
            return earned + weights.success
        optional = tables.num_members > 0 and self._is_left_to_metrics(unmet)
        stop = earned + weights.success if optional else NEVER_BETTER
        if self.model.is_lost(situation, within, unmet):
            return max(stop, earned + weights.failure)
        if situation.clock >= tables.horizon:
            return max(stop, earned)
        due = self.model.due(situation)
        require_few_draws(len(due))
        return max(stop, earned + (yield self._expected(situation, due, 1.0)))

    def _expected(self, situation: Situation, due: list[int], chance: float) -> Call[float]:
        """The expectation over events that write or close."""
        if chance == 0.0:
            return 0.0
        if not due:
            return chance * (yield self._value(self.cut(situation)))
        n, event = due[0], self.tables.events[due[0]]
        struck = situation._replace(
            facts=event.writes.on(situation.facts),
            closed=(situation.closed | event.closes) & ~situation.completed,
            fired=situation.fired | (event.step == EVERY_STEP) << n,
            carried=self.kept.moved(situation.carried, event.change),
        )
        is_known = situation.foreseen != UNKNOWN and self.kept.lucky[situation.clock - 1] >> n & 1
        hit = chance * (situation.foreseen >> n & 1 if is_known else event.probability)
        value = (yield self._expected(struck, due[1:], hit)) + hit * self.kept.event_worth[n]
        return value + (yield self._expected(situation, due[1:], chance - hit))
