"""The states that a task could reach without a clock and without routes that close each other.

A state ruled out here can never happen; any other may still be out of reach.
"""

import dataclasses

import numpy as np

from jaxenv.envs.lifestack.actions import EFFECTS, FIRST_UPKEEP, INSPECTING, VERBS
from jaxenv.envs.lifestack.metrics import HIGHEST, METRICS, spread
from jaxenv.envs.lifestack.types import EVERY_STEP
from scenarios.lifestack.conditions import Condition
from scenarios.lifestack.document import ExoEvent, Route, Task
from scenarios.lifestack.facts import Facts, bound
from scenarios.lifestack.start import hundredths, metrics_at_reset, resources


def never_fires(task: Task, event: ExoEvent) -> bool:
    """Whether an event comes only after the end of the task."""
    return (1 if event.step == EVERY_STEP else event.step) >= task.last_step


@dataclasses.dataclass(frozen=True)
class Reach:
    """The values that a task could reach.

    Attributes:
        codes: key -> set of codes.
        low: [23] int32, the lowest value of each metric.
        high: [23] int32, the highest.
    """

    facts: Facts
    codes: dict[str, int]
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, task: Task) -> "Reach":
        """Lets routes complete and events fire until nothing new is reached."""
        facts, metrics = Facts.of(task), metrics_at_reset(task)
        found = cls(facts, {key: 1 << code for key, code in facts.first.items()}, metrics, metrics)
        events = [event for event in task.event_schedule if event.probability and not never_fires(task, event)]
        done: list[Route] = []
        while True:
            found = cls(facts, found._written(events, done), *_ranges(metrics, events, done))
            more = [route for route in task.viable_routes if found._can_complete(task, route)]
            if len(more) == len(done):
                return found
            done = more

    def allows(self, condition: Condition) -> bool:
        """Whether a condition could hold."""
        if condition.key not in METRICS:
            return bool(self.codes[condition.key] & self.facts.codes(condition))
        metric, low, high = bound(condition)
        return max(low, self.low[metric]) <= min(high, self.high[metric])

    def wins(self, task: Task) -> bool:
        """Whether every member of success could hold."""
        members = task.success_conditions
        return bool(members) and all(any(map(self.allows, member.alternatives)) for member in members)

    def _can_complete(self, task: Task, route: Route) -> bool:
        """Whether there is the money, and every precondition could hold."""
        return hundredths(route.cost.money) <= resources(task)["money"] and all(map(self.allows, route.conditions))

    def _written(self, events: list[ExoEvent], routes: list[Route]) -> dict[str, int]:
        """The codes with those that events and completed routes write."""
        codes = dict(self.codes)
        written = [event.world_mutation for event in events] + [event.hidden_state_mutation for event in events]
        for record in written + [route.consequences for route in routes]:
            for key, value in record.items():
                codes[key] |= 1 << self.facts.code(key, value)
        return codes


def could_be_won(task: Task) -> bool | None:
    """Whether a task can be won: False if that is ruled out, None if it takes a search, as `scenarios.solvers` does."""
    return None if Reach.of(task).wins(task) else False


def _ranges(metrics: np.ndarray, events: list[ExoEvent], routes: list[Route]) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and highest value of each metric: verbs and upkeep may be repeated, all else happens once."""
    verbs = [VERBS.index(verb) for route in routes for verb in route.verbs]
    often = EFFECTS[[*verbs, *range(FIRST_UPKEEP, INSPECTING)]]
    once = np.array([metrics, *(spread(record.effects) for record in (*events, *routes))])
    low = metrics + np.minimum(once[1:], 0).sum(axis=0)
    high = metrics + np.maximum(once[1:], 0).sum(axis=0)
    low = np.where((often < 0).any(axis=0), 0, low)
    high = np.where((often > 0).any(axis=0), HIGHEST, high)
    return np.clip(low, 0, HIGHEST), np.clip(high, 0, HIGHEST)
