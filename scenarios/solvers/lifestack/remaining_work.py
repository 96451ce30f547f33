"""The remaining work on routes in the game without metrics, each quantity in its own best order."""

from collections.abc import Sequence
from typing import NamedTuple

from jaxenv.envs.lifestack.actions import SPEND
from scenarios.solvers.lifestack.model import ALL_VERBS
from scenarios.solvers.lifestack.tables import VERB_BITS, Route, members_of

WORK_BITS = 16  # of the rest of a route: a tail of the steps that any of 2**VERB_BITS sets of verbs leaves


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
        self._numbers: list[dict[Steps, int]] = [{} for _ in routes]
        for n in range(len(routes)):
            self._number(n, self._best_steps(n, 0))
        self._of: dict[int, int] = {0: 0}
        self._needed: dict[tuple[int, int], Needed] = {}

    def of(self, marks: int) -> int:
        """The remaining work after some verbs, `VERB_BITS` bits per route."""
        if marks not in self._of:
            done = (marks >> VERB_BITS * n & ALL_VERBS for n in range(len(self._routes)))
            numbers = [self._number(n, self._best_steps(n, verbs)) for n, verbs in enumerate(done)]
            self._of[marks] = sum(number << WORK_BITS * n for n, number in enumerate(numbers))
        return self._of[marks]

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

    def needed(self, work: int, routes: int) -> Needed:
        """The most that the remaining steps of some routes can use up."""
        if (work, routes) not in self._needed:
            steps = [step for n in members_of(routes) for step in self.steps(work, n)]
            time, money = sum(step.time for step in steps), sum(step.money for step in steps)
            self._needed[work, routes] = Needed(time, money, sum(max(0, step.energy) for step in steps))
        return self._needed[work, routes]

    def _number(self, route: int, steps: Steps) -> int:
        if steps not in self._numbers[route]:
            self._numbers[route][steps] = len(self._steps[route])
            self._steps[route].append(steps)
        return self._numbers[route][steps]

    def _best_steps(self, number: int, done: int) -> Steps:
        """The steps of a route of which some verbs are done."""
        route = self._routes[number]
        left = list(members_of(route.required & ~done))
        if not left:
            return ()
        times, energies = (sorted(costs[verb] for verb in left) for costs in (route.time, route.energy))
        money = 0 if done >> SPEND & 1 else route.money
        gains = sorted((self._gains[verb] for verb in left), reverse=True)
        return tuple(map(Step, times, energies, [0] * (len(left) - 1) + [money], gains))
