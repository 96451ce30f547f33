"""The game without metrics: small enough to be solved exactly, and never worth less than the real one.

Facts, routes, money, time, energy, chance and the clock stay, and so do metrics that conditions ask for and no verb
moves. Bounds on the others hold whenever that is better, nothing burns out or collapses, changes are counted in full,
and a step off routes earns what the best upkeep could. It is made smaller without being made worth less:

- The verbs of a route are done in one order: what gives energy first, what pays last. What is left undone in the end
  might as well have been upkeep.
- Rest is taken only where something that could be done next asks for more energy than is left.
- Where nothing but success counts, routes that cannot lead to it are left out.
- Where no event to come is worth waiting for, a route is begun only when it can be completed, and worked in one go: the
  others are then completed no later than in any plan that goes back and forth. With a deadline, no step is left unused
  then on the way to success, but for those (`debt`) that its bounds need.
"""

from collections.abc import Sequence
from operator import add
from typing import NamedTuple

from jaxenv.envs.lifestack.actions import FIRST_UPKEEP, LOOKING, SPEND, VERBS
from jaxenv.envs.lifestack.metrics import HIGHEST
from jaxenv.envs.lifestack.types import EVERY_STEP, NUM_METRICS
from scenarios.lifestack.planner.budget import Budget
from scenarios.lifestack.planner.metrics import bits
from scenarios.lifestack.planner.model import ENERGY, MOST_TIME, Model
from scenarios.lifestack.planner.tables import VERB_BITS, members_of

NO_ROUTE = -1
ALL = -1  # the set of everything
NEVER_BETTER = -float("inf")
REST_TIME = MOST_TIME
REST_ENERGY = -ENERGY[FIRST_UPKEEP]


class Situation(NamedTuple):
    """A state of the game without metrics; its first fields are those of `model.State`."""

    clock: int
    facts: int
    marks: int
    completed: int
    closed: int
    reached: int
    fired: int
    time: int
    money: int
    energy: int
    debt: int = 0  # steps off routes that success still needs
    carried: tuple[int, ...] = ()  # the metrics that no verb moves
    active: int = NO_ROUTE  # the route that has to be worked on


class Relaxed:
    """The game without metrics, for one model."""

    def __init__(self, model: Model, budget: Budget) -> None:
        self.model, self.tables, self.weights, self.budget = model, model.tables, model.weights, budget
        self.metrics, self.fixed = self._unmoved()
        self._memo: dict[Situation, float] = {}
        changes = self.tables.changes
        worth = [model.per_unit * sum(change) for change in changes]
        gains = [model.per_unit * sum(max(0, part) for part in changes[deed]) for deed in self.tables.deeds]
        self.verb_gain = gains[: len(VERBS)]
        self.idle_gain = max(gains[FIRST_UPKEEP:LOOKING])
        self.route_worth = [worth[route.change] for route in self.tables.routes]
        self.event_worth = [worth[event.change] for event in self.tables.events]
        self.useless = self.model.all_routes & ~self._useful_routes()
        self._order = [self._best_order(n) for n in range(len(self.tables.routes))]
        self._waits = [self._is_worth_waiting(clock) for clock in range(self.tables.last + 1)]
        self._only_metrics = self._events_on_metrics()

    def value(self, situation: Situation) -> float:
        """The best expectation.

        Raises:
            Exhausted: where the nodes are spent.
        """
        found = self._memo.get(situation)
        if found is not None:
            return found
        self.budget.spend()
        best = self._given_up(situation)
        for after, gain in self._moves(situation):
            best = max(best, gain + self._arrive(after))
        self._memo[situation] = best
        return best

    def _given_up(self, situation: Situation) -> float:
        """What it is worth at most to fail as soon as possible, off routes."""
        opened = self.model.open_milestones(situation.completed) & ~situation.reached
        rewards = (self.tables.rewards[n] for n in members_of(opened) if self.tables.milestone_bounds[n])
        earned = self.weights.milestones * sum(max(0.0, reward) for reward in rewards)
        return earned + self.weights.failure + self.weights.step_cost + self.idle_gain

    def cut(self, situation: Situation) -> Situation:
        """The situation with its resources cut to what can still be used, and metrics to what they can be."""
        if self.useless:
            completed = situation.completed | self.useless
            situation = situation._replace(completed=completed, closed=situation.closed & ~completed)
        left = self.model.left_of(situation)
        time = left.time
        if situation.energy < left.energy:
            time += REST_TIME * (self.tables.last - situation.clock)
        return situation._replace(
            marks=left.marks,
            reached=situation.reached if self.weights.milestones else ALL,
            time=min(situation.time, time),
            money=min(situation.money, left.money),
            energy=min(situation.energy, left.energy),
            carried=tuple([max(0, min(HIGHEST, value)) for value in situation.carried]),
        )

    def carried(self, values: Sequence[int]) -> tuple[int, ...]:
        """Of all metrics, those that stay in this game."""
        return tuple([values[metric] for metric in self.metrics])

    # ------------------------------------------------------------------------------------- beforehand

    def _unmoved(self) -> tuple[list[int], int]:
        """The metrics that conditions ask for and no verb moves, and the set of the bounds on them."""
        moved = [any(self.tables.changes[deed][m] for deed in self.tables.deeds) for m in range(NUM_METRICS)]
        asked = [metric for metric, _, _ in self.tables.bounds]
        return sorted({metric for metric in asked if not moved[metric]}), bits(not moved[metric] for metric in asked)

    def _useful_routes(self) -> int:
        """The routes that can matter: where nothing but success counts, those that may lead to it."""
        weights, tables = self.weights, self.tables
        if weights.routes or weights.milestones or weights.wellbeing:
            return self.model.all_routes
        wanted, useful = tables.deciding, 0
        for _ in tables.routes:
            for n, route in enumerate(tables.routes):
                if route.writes.mask & wanted or any(self.carried(tables.changes[route.change])):
                    useful |= 1 << n
                    wanted |= route.needs
        return useful

    def _best_order(self, number: int) -> list[int]:
        """The verbs of a route, what gives energy first and what pays last."""
        route = self.tables.routes[number]
        return sorted(route.verbs, key=lambda verb: (verb == SPEND and route.money > 0, route.energy[verb]))

    def _is_worth_waiting(self, clock: int) -> bool:
        """Whether something that comes later could be a reason to let a step pass.

        With a deadline, passing time earns nothing by itself: without success every way ends in failure.
        """
        if self.tables.deadline > self.tables.horizon:
            return True
        return any(
            (event.step > clock or event.step == EVERY_STEP)
            and (event.writes.mask or self.event_worth[n] > 0 or self._may_help(event.change))
            for n, event in enumerate(self.tables.events)
        )

    def _may_help(self, change: int) -> bool:
        """Whether a change could bring a metric of this game to where a condition wants it."""
        tables, wanted = self.tables, 0
        for bounds in (*(route.bounds for route in tables.routes), *tables.milestone_bounds, *tables.member_bounds):
            wanted |= bounds
        parts = tables.changes[change]
        upwards = any(parts[metric] > 0 for metric in self.metrics)
        tops = (tables.bounds[n] for n in members_of(wanted & self.fixed))
        return upwards or any(parts[metric] < 0 and high < HIGHEST for metric, _, high in tops)

    def _events_on_metrics(self) -> set[int]:
        """The events that only move metrics that are left out, and have a step: they need no branches."""
        return {
            n
            for n, event in enumerate(self.tables.events)
            if event.step != EVERY_STEP
            and not (event.writes.mask or event.closes or any(self.carried(self.tables.changes[event.change])))
        }

    # ------------------------------------------------------------------------------------------- turn

    def _moves(self, situation: Situation) -> list[tuple[Situation, float]]:
        """What can be done: (situation, gain), the clock moved on."""
        waits = self._waits[situation.clock]
        numbers, ready = self.model.workable(situation), self._ready(situation)
        if not waits:
            numbers &= ready
            if situation.active >= 0 and numbers >> situation.active & 1:
                numbers = 1 << situation.active
        moves, is_tired = [], False
        after = situation._replace(clock=situation.clock + 1, active=NO_ROUTE)
        for number in members_of(numbers):
            verb = self._next_verb(situation, number)
            if self.tables.routes[number].energy[verb] > situation.energy:
                is_tired = True
            elif move := self._work(after, number, verb, bool(ready >> number & 1), waits):
                moves.append(move)
        idle = after._replace(debt=max(0, situation.debt - 1))
        if not moves or situation.debt or waits or self._awaits_metrics(situation):
            moves.append((idle, self.idle_gain))
        if is_tired and situation.time >= REST_TIME:
            rested = idle._replace(
                energy=situation.energy + REST_ENERGY, time=situation.time - REST_TIME, active=situation.active
            )
            moves.append((rested, self.idle_gain))
        return moves

    def _awaits_metrics(self, situation: Situation) -> bool:
        """Whether success asks for nothing but metrics that are left out."""
        unmet = self.tables.members & ~self.tables.read(situation.facts).members
        return bool(unmet) and all(self.tables.member_bounds[n] & ~self.fixed for n in members_of(unmet))

    def _within(self, situation: Situation) -> int:
        """The bounds on the metrics of this game that hold."""
        if not self.metrics:
            return 0
        values = dict(zip(self.metrics, situation.carried, strict=True))
        return bits(m in values and low <= values[m] <= high for m, low, high in self.tables.bounds)

    def _ready(self, situation: Situation) -> int:
        """The routes whose preconditions hold or might."""
        ready = self.tables.read(situation.facts).ready
        if self.fixed:
            missing = self.fixed & ~self._within(situation)
            ready &= ~bits(route.bounds & missing for route in self.tables.routes)
        return ready

    def _next_verb(self, situation: Situation, number: int) -> int:
        """The first verb in order that is not done."""
        marks = situation.marks >> VERB_BITS * number
        return next(verb for verb in self._order[number] if not marks >> verb & 1)

    def _work(
        self, situation: Situation, number: int, verb: int, ready: bool, waits: bool
    ) -> tuple[Situation, float] | None:
        """A verb done on a route; None where that cannot be paid or would fail."""
        route = self.tables.routes[number]
        outstanding = route.required & ~(situation.marks >> VERB_BITS * number)
        last, pays = outstanding == 1 << verb, route.pays_with(verb, outstanding)
        if route.time[verb] > situation.time or (pays and route.money > situation.money) or (last and not ready):
            return None
        after = situation._replace(
            marks=situation.marks | 1 << VERB_BITS * number + verb,
            time=situation.time - route.time[verb],
            energy=situation.energy - route.energy[verb],
            money=situation.money - (route.money if pays else 0),
            active=NO_ROUTE if last or waits else number,
        )
        return self._completed(after, number, self.verb_gain[verb]) if last else (after, self.verb_gain[verb])

    def _completed(self, situation: Situation, number: int, gain: float) -> tuple[Situation, float]:
        """The situation after a route is completed."""
        route = self.tables.routes[number]
        completed = situation.completed | 1 << number
        after = situation._replace(
            facts=route.writes.on(situation.facts),
            completed=completed,
            closed=(situation.closed | route.closes) & ~completed,
            marks=self._kept_marks(situation.marks, completed | situation.closed | route.closes),
            carried=self._moved(situation, route.change),
        )
        return after, gain + self.weights.routes * route.reward + self.route_worth[number]

    def _moved(self, situation: Situation, change: int) -> tuple[int, ...]:
        """The metrics of this game after a change."""
        if not self.metrics:
            return ()
        return tuple(map(add, situation.carried, self.carried(self.tables.changes[change])))

    def _kept_marks(self, marks: int, over: int) -> int:
        """The marks without those of routes that are over."""
        for number in members_of(over & self.model.all_routes):
            marks &= ~((1 << VERB_BITS) - 1 << VERB_BITS * number)
        return marks

    def _arrive(self, situation: Situation) -> float:
        """What a situation is worth whose clock has just moved: milestones, ends, events, and what comes then."""
        tables, weights = self.tables, self.weights
        reading, within = tables.read(situation.facts), self._within(situation)
        opened = self.model.open_milestones(situation.completed) & ~situation.reached
        new = opened & reading.milestones
        for n in members_of(opened & ~new):
            bounds = tables.milestone_bounds[n]
            if bounds & within or (bounds & ~self.fixed and tables.rewards[n] > 0):
                new |= 1 << n
        earned = weights.step_cost + weights.milestones * sum(tables.rewards[n] for n in members_of(new))
        situation = situation._replace(reached=situation.reached | new)
        unmet = tables.members & ~reading.members
        if within:
            unmet &= ~bits(bounds & within for bounds in tables.member_bounds)
        if not unmet and tables.num_members:
            return earned + weights.success
        optional = tables.num_members > 0 and all(tables.member_bounds[n] & ~self.fixed for n in members_of(unmet))
        stop = earned + weights.success if optional and not situation.debt else NEVER_BETTER
        lasting = tables.may_still_hold(situation.clock, situation.fired)
        stuck = not self.model.workable(situation) and bool(unmet & ~lasting)
        failed = reading.failed or tables.failure_bounds & within
        if failed or situation.clock >= tables.deadline or stuck:
            return max(stop, earned + weights.failure)
        if situation.clock >= tables.horizon:
            return max(stop, earned)
        return max(stop, earned + self._struck(situation))

    def _struck(self, situation: Situation) -> float:
        """The expectation over the events of the clock."""
        due = self.model.due(situation)
        if not due:
            return self.value(self.cut(situation))
        value = sum(self.tables.events[n].probability * self.event_worth[n] for n in due if n in self._only_metrics)
        return value + self._expected(situation, [n for n in due if n not in self._only_metrics], 1.0)

    def _expected(self, situation: Situation, due: list[int], chance: float) -> float:
        """The expectation over events that write or close."""
        if chance == 0.0:
            return 0.0
        if not due:
            return chance * self.value(self.cut(situation))
        n, event = due[0], self.tables.events[due[0]]
        closed = (situation.closed | event.closes) & ~situation.completed
        struck = situation._replace(
            facts=event.writes.on(situation.facts),
            closed=closed,
            marks=self._kept_marks(situation.marks, closed),
            fired=situation.fired | (event.step == EVERY_STEP) << n,
            carried=self._moved(situation, event.change),
        )
        hit = chance * event.probability
        value = self._expected(struck, due[1:], hit) + hit * self.event_worth[n]
        return value + self._expected(situation, due[1:], chance - hit)
