"""The parts of a scenario that the game without metrics (`relaxed`) keeps, the remaining work on routes among them."""

import functools
from collections.abc import Sequence
from operator import add
from typing import NamedTuple

from jaxenv.envs.lifestack.actions import FIRST_UPKEEP, INSPECTING, SPEND, VERBS
from jaxenv.envs.lifestack.metrics import HIGHEST
from jaxenv.envs.lifestack.types import EVERY_STEP, NUM_METRICS
from scenarios.lifestack.facts import bits, members_of
from scenarios.solvers.lifestack.game import ALL_VERBS, Model
from scenarios.solvers.lifestack.tables import VERB_BITS, Event, Route

WORK_BITS = 16  # of the rest of a route: a tail of the steps that any of 2**VERB_BITS sets of verbs leaves


class Kept:
    """The metrics, routes and events of one model that matter there, and the most that steps off them earn.

    Attributes:
        metrics: those that conditions use and no verb moves.
        fixed: the set of the bounds on them.
        verb_gain: of each verb, the most that its changes of metrics earn.
        idle_gain: the most that a step off routes earns so.
        route_worth, event_worth: earnings from the changes of metrics of each route and event.
        waits: for each clock, whether it can be worth letting a step pass.
        lucky: for each clock, the set of the later random events, at given steps, that change the options.
    """

    def __init__(self, model: Model) -> None:
        self.tables, self.weights = model.tables, model.weights
        changes, kinds = self.tables.changes, self.tables.kind_changes
        moved = [any(changes[kind][metric] for kind in kinds) for metric in range(NUM_METRICS)]
        asked = [metric for metric, _, _ in self.tables.bounds]
        self.metrics = sorted({metric for metric in asked if not moved[metric]})
        self.fixed = bits(not moved[metric] for metric in asked)
        worth = [model.per_unit * sum(change) for change in changes]
        gains = [model.per_unit * sum(max(0, part) for part in changes[kind]) for kind in kinds]
        self.verb_gain = gains[: len(VERBS)]
        self.idle_gain = max(gains[FIRST_UPKEEP:INSPECTING])
        self.route_worth = [worth[route.change] for route in self.tables.routes]
        self.event_worth = [worth[event.change] for event in self.tables.events]
        clocks = range(self.tables.last + 1)
        self.waits = [self._is_worth_waiting(clock) for clock in clocks]
        events = self.tables.events
        self.lucky = [bits(event.step > clock and self._is_lucky(event) for event in events) for clock in clocks]

    def carried(self, values: Sequence[int]) -> tuple[int, ...]:
        """Of all metrics, those that the game keeps."""
        return tuple([values[metric] for metric in self.metrics])

    def moved(self, carried: tuple[int, ...], change: int) -> tuple[int, ...]:
        """The metrics that the game keeps after a change, not clipped."""
        return tuple(map(add, carried, self.carried(self.tables.changes[change])))

    def _is_worth_waiting(self, clock: int) -> bool:
        """Whether later events could be a reason to let a step pass, or are random at every step.

        With a deadline, passing time earns nothing by itself: without success every way ends in failure.
        """
        if self.tables.deadline > self.tables.horizon or self.idle_gain + self.weights.step_cost > 0:
            return True
        return any(
            (event.step > clock or event.step == EVERY_STEP)
            and (
                event.writes.mask
                or self.event_worth[n] > 0
                or self._may_help(event.change)
                or (event.step == EVERY_STEP and self._is_lucky(event))
            )
            for n, event in enumerate(self.tables.events)
        )

    def _may_help(self, change: int) -> bool:
        """Whether a change could bring a metric of this game to where a condition wants it."""
        tables, wanted, shunned = self.tables, 0, self.tables.failure_bounds
        for bounds in (*(route.bounds for route in tables.routes), *tables.milestone_bounds, *tables.member_bounds):
            wanted |= bounds
        for bounds, reward in zip(tables.milestone_bounds, tables.rewards, strict=True):
            shunned |= bounds if reward < 0 else 0
        parts = tables.changes[change]
        below = (tables.bounds[n] for n in members_of(wanted & self.fixed))
        above = (tables.bounds[n] for n in members_of(shunned & self.fixed))
        return (
            any(parts[metric] > 0 for metric in self.metrics)
            or any(parts[metric] < 0 and high < HIGHEST for metric, _, high in below)
            or any(parts[metric] < 0 and low > 0 for metric, low, _ in above)
        )

    def _is_lucky(self, event: Event) -> bool:
        """Whether an event is random and changes the options."""
        is_felt = event.closes or any(self.carried(self.tables.changes[event.change]))
        return bool(is_felt) and 0.0 < event.probability < 1.0


class Step(NamedTuple):
    """A verb on a route, as cheap and as good as it can be at its place."""

    time: int
    energy: int
    money: int
    gain: float


class Needed(NamedTuple):
    """The most that the remaining steps can use up."""

    time: int
    money: int
    energy: int


Steps = tuple[Step, ...]


class RemainingWork:
    """The remaining steps of every route, numbered in the order of discovery and packed into one number.

    The verbs of a route may be done in any order, and chance may stop it anywhere. So the n-th step that is left takes
    the n-th least time and energy and gains the n-th most, and the last one pays: whatever the order, as many verbs
    never took less or gained more, and all of them come to the same. 0 stands for a route of which nothing is done.

    Args:
        routes: all of them.
        gains: the gain of each verb on a route.
    """

    def __init__(self, routes: Sequence[Route], gains: Sequence[float]) -> None:
        self._routes, self._gains = routes, gains
        self._steps: list[list[Steps]] = [[] for _ in routes]
        self._number = functools.cache(self._new_number)
        for n in range(len(routes)):
            self._number(n, self._best_steps(n, 0))
        self.of, self.needed = functools.cache(self._of), functools.cache(self._needed)

    def _of(self, marks: int) -> int:
        """The remaining work after some verbs, `VERB_BITS` bits per route."""
        done = (marks >> VERB_BITS * n & ALL_VERBS for n in range(len(self._routes)))
        numbers = [self._number(n, self._best_steps(n, verbs)) for n, verbs in enumerate(done)]
        return sum(number << WORK_BITS * n for n, number in enumerate(numbers))

    def steps(self, work: int, route: int) -> Steps:
        """The remaining steps of one route, the next one first."""
        return self._steps[route][work >> WORK_BITS * route & (1 << WORK_BITS) - 1]

    def after(self, work: int, route: int) -> int:
        """The remaining work after the next step of a route."""
        number = self._number(route, self.steps(work, route)[1:])
        return self.without(work, 1 << route) | number << WORK_BITS * route

    def without(self, work: int, routes: int) -> int:
        """The remaining work, forgetting the progress on some routes."""
        for n in members_of(routes if work else 0):
            work &= ~((1 << WORK_BITS) - 1 << WORK_BITS * n)
        return work

    def _needed(self, work: int, routes: int) -> Needed:
        """The most that the remaining steps of some routes can use up."""
        steps = [step for n in members_of(routes) for step in self.steps(work, n)]
        time, money = sum(step.time for step in steps), sum(step.money for step in steps)
        return Needed(time, money, sum(max(0, step.energy) for step in steps))

    def _new_number(self, route: int, steps: Steps) -> int:
        self._steps[route].append(steps)
        return len(self._steps[route]) - 1

    def _best_steps(self, number: int, done: int) -> Steps:
        """The steps of a route of which some verbs are done."""
        route = self._routes[number]
        left = list(members_of(route.required & ~done))
        times, energies = (sorted(costs[verb] for verb in left) for costs in (route.time, route.energy))
        money = 0 if done >> SPEND & 1 else route.money
        gains = sorted((self._gains[verb] for verb in left), reverse=True)
        return tuple(map(Step, times, energies, [0] * (len(left) - 1) + [money], gains))
