"""The baselines of LifeStack, Random and Greedy, on what the reference engine shows.

They follow docs/rules/lifestack.md, section 9. Greedy

- counts as outstanding the verbs of the route that it would work now (0 where there is none), and as steps left
  those to the deadline or the horizon, whichever comes first;
- looks at the five metrics in the order of the rules, and goes on to the next where one has no legal upkeep;
- takes for a metric the upkeep with the largest effect on it, and no other where that one is not legal;
- inspects in the order of the key slots, and works the verbs in the order of the catalogue;
- treats a metric precondition that does not hold as one that is known to fail;
- does without an inspection that it cannot pay.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from reference.lifestack import Crisis
from reference.lifestack_document import Bound
from reference.lifestack_rules import (
    FREE_HOURS,
    HUNDREDTHS,
    INVERTED,
    LOW_METRIC,
    MOTIVATION,
    ROMANTIC,
    STRESS,
    UPKEEP,
    VERBS,
    WORKLOAD,
    adjusted,
    spread,
)

Policy = Callable[[Crisis], int]

LOW_ENERGY = 20 * HUNDREDTHS
WATCHED = (STRESS, WORKLOAD, FREE_HOURS, ROMANTIC, MOTIVATION)
EFFECTS = {verb: spread(VERBS[verb].upkeep or {}) for verb in UPKEEP}


def random_legal(crisis: Crisis, rng: random.Random) -> int:
    """A legal entry, all with the same chance."""
    return rng.choice(crisis.legal())


def greedy(crisis: Crisis) -> int:
    """Look after oneself where it is urgent; else the shortest route that serves; else a metric of success."""
    legal = set(crisis.legal())
    wait = crisis.index_of({"action_type": "wait", "target": None})
    rest = crisis.index_of({"action_type": "rest", "target": None})
    if crisis.energy < LOW_ENERGY and rest in legal:
        return rest
    target = best_route(crisis, legal)
    outstanding = 0 if target is None else len(crisis.routes[target].outstanding)
    if steps_left(crisis) > outstanding:
        for metric in WATCHED:
            if adjusted(metric, crisis.metrics[metric]) < LOW_METRIC:
                index = upkeep(crisis, metric, -1 if metric in INVERTED else 1)
                if index in legal:
                    return index
    if target is not None:
        return next(index for index in (*looks(crisis, target), *works(crisis, target)) if index in legal)
    for bound in crisis.unmet_success_bounds():
        index = upkeep(crisis, bound.metric, direction(crisis, bound))
        if index in legal:
            return index
    return wait


def steps_left(crisis: Crisis) -> int:
    """Steps to the deadline or to the horizon."""
    limits = [crisis.horizon] if crisis.deadline is None else [crisis.horizon, crisis.deadline]
    return min(limits) - crisis.t


def best_route(crisis: Crisis, legal: set[int]) -> int | None:
    """The serving route to work: fewest outstanding verbs, then final reward, then order."""
    ready = [
        number
        for number in crisis.serving()
        if not known_to_fail(crisis, number) and any(index in legal for index in works(crisis, number))
    ]

    def cost(number: int) -> tuple[int, float]:
        return len(crisis.routes[number].outstanding), -crisis.routes[number].final_reward

    return min(ready, key=cost, default=None)


def known_to_fail(crisis: Crisis, number: int) -> bool:
    """Whether a precondition of a route is known to fail, a metric bound included."""
    bounds = [each for each in crisis.routes[number].preconditions if isinstance(each, Bound)]
    fails = any(crisis.relation(number, key) == "fails" for key in crisis.keys)
    return fails or not all(each.allows(crisis.metrics[each.metric]) for each in bounds)


def looks(crisis: Crisis, number: int) -> list[int]:
    """The entries that inspect a route's unknown preconditions."""
    unknown = [key for key in crisis.keys if crisis.relation(number, key) == "unknown"]
    return [crisis.index_of({"action_type": "inspect", "target": key}) for key in unknown]


def works(crisis: Crisis, number: int) -> list[int]:
    """The entries of a route's outstanding verbs."""
    route = crisis.routes[number]
    return [crisis.index_of({"action_type": verb, "target": route.id}) for verb in route.outstanding]


def direction(crisis: Crisis, bound: Bound) -> int:
    """The way in which a metric has to go to meet a bound."""
    return 1 if crisis.metrics[bound.metric] < bound.low else -1


def upkeep(crisis: Crisis, metric: str, way: int) -> int | None:
    """The upkeep that moves a metric most in a direction (1 up, -1 down); None where none does."""
    best = max(UPKEEP, key=lambda verb: way * EFFECTS[verb][metric])  # `max` keeps the first of equals
    if way * EFFECTS[best][metric] <= 0:
        return None
    return crisis.index_of({"action_type": best, "target": None})
