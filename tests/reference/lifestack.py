"""LifeStack in slow, plain Python: the executable form of docs/rules/lifestack.md, and the oracle of the tests.

`Crisis` is an episode (its course is told in `lifestack_episode`) with the relations of the observation.
They rest on what is known, on the metrics, and on what the document says openly: never on hidden facts.

What is easily missed:

- A route that is open and not completed is *workable*; only such a route serves, wants a key or meets a milestone.
- A milestone on a metric is met by no route's consequences.
- Bounds that are the same integers on the same metric are one bound; they are listed as first met in
  preconditions, milestones, success and failure conditions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from reference.lifestack_document import Bound, Condition, Fact, Milestone, Route
from reference.lifestack_episode import UNKNOWN as UNKNOWN
from reference.lifestack_episode import Episode
from reference.lifestack_episode import Step as Step
from reference.lifestack_rules import Record


class BoundShown(NamedTuple):
    """A metric bound of the document as the observation tells it."""

    metric: str
    low: int
    high: int
    holds: bool
    used: frozenset[str]  # of preconditions, milestones, success, failure


class Crisis(Episode):
    """One episode of a document, with what an observer is told of it."""

    # ------------------------------------------------------------------------------ what is known

    def _known_to_allow(self, each: Condition) -> bool | None:
        """Whether a condition holds as far as known; None where its fact is unknown."""
        if isinstance(each, Bound):
            return each.allows(self.metrics[each.metric])
        value = self.known[each.key]
        return None if value is UNKNOWN else each.allows(value)

    def relation(self, route: int, key: str) -> str:
        """What is known of a route's precondition on a key: none, holds, fails or unknown."""
        for each in self.routes[route].preconditions:
            if isinstance(each, Fact) and each.key == key:
                return {None: "unknown", True: "holds", False: "fails"}[self._known_to_allow(each)]
        return "none"

    def unmet_success(self) -> list[list[Condition]]:
        """The members of the success conditions of which nothing is known to hold."""
        return [each for each in self.success if not any(self._known_to_allow(one) for one in each)]

    def unmet_success_bounds(self) -> list[Bound]:
        """The metric bounds among the alternatives of the unmet members of success, in order."""
        bounds = [one for each in self.unmet_success() for one in each if isinstance(one, Bound)]
        return list(dict.fromkeys(bounds))

    def bounds(self) -> list[BoundShown]:
        """Every metric bound of the document, once."""
        places: list[tuple[str, list[Condition]]] = [
            ("preconditions", [each for route in self.routes for each in route.preconditions]),
            ("milestones", [milestone.condition for milestone in self.milestones]),
            ("success", [one for each in self.success for one in each]),
            ("failure", [one for each in self.failure for one in each]),
        ]
        used: dict[Bound, set[str]] = {}
        for place, conditions in places:
            for each in conditions:
                if isinstance(each, Bound):
                    used.setdefault(each, set()).add(place)
        return [
            BoundShown(each.metric, each.low, each.high, each.allows(self.metrics[each.metric]), frozenset(where))
            for each, where in used.items()
        ]

    def places(self, key: str) -> frozenset[str]:
        """The kinds of place that a fact has in conditions."""
        facts = {
            "preconditions": [each for route in self.routes for each in route.preconditions],
            "milestones": [milestone.condition for milestone in self.milestones],
            "success": [one for each in self.success for one in each],
            "failure": [one for each in self.failure for one in each],
        }
        return frozenset(
            place
            for place, conditions in facts.items()
            if any(isinstance(each, Fact) and each.key == key for each in conditions)
        )

    def shown_events(self) -> list[str]:
        """The ids of the events that have fired, the silent ones left out."""
        pairs = zip(self.events, self.fired, strict=True)
        return [event["id"] for event, fired in pairs if fired and not event.get("silent")]

    # --------------------------------------------------------------------- routes to one another

    def enables(self, route: int, other: int) -> bool:
        """Whether a consequence of a route satisfies a precondition of the other."""
        return True in self._effects_on(self.routes[route], self.routes[other])

    def breaks(self, route: int, other: int) -> bool:
        """Whether a consequence of a route violates a precondition of the other."""
        return False in self._effects_on(self.routes[route], self.routes[other])

    def closes(self, route: int, other: int) -> bool:
        """Whether completing a route closes the other."""
        return self.routes[other].id in self.routes[route].closes

    def brings_failure(self, route: int) -> bool:
        """Whether a consequence of a route satisfies a failure condition."""
        return _satisfies(self.routes[route].consequences, [one for each in self.failure for one in each])

    def shift(self, route: int, bound: BoundShown) -> int:
        """What completing a route adds to the metric of a bound, before it is clipped."""
        return self.routes[route].effects[bound.metric]

    @staticmethod
    def _effects_on(route: Route, other: Route) -> list[bool]:
        return [
            each.allows(route.consequences[each.key])
            for each in other.preconditions
            if isinstance(each, Fact) and each.key in route.consequences
        ]

    # ----------------------------------------------------------------------------- what serves

    def serves(self, route: int) -> bool:
        """Whether a workable route leads, as far as known, to an unmet part of success."""
        return route in self.serving()

    def serving(self) -> list[int]:
        """Every route that serves: those that lead to success, then those that lead to these, and so on."""
        workable = [number for number, route in enumerate(self.routes) if route.workable]
        found = {number for number in workable if self._serves_success(self.routes[number])}
        for _ in self.routes:
            wanted = [each for number in found for each in self._not_known_to_hold(self.routes[number])]
            found |= {number for number in workable if _satisfies(self.routes[number].consequences, wanted)}
        return sorted(found)

    def _serves_success(self, route: Route) -> bool:
        unmet = [one for each in self.unmet_success() for one in each]
        if _satisfies(route.consequences, unmet):
            return True
        return any(self.moves_right(each, route.effects) for each in self.unmet_success_bounds())

    def _not_known_to_hold(self, route: Route) -> list[Condition]:
        return [each for each in route.preconditions if not self._known_to_allow(each)]

    def moves_right(self, bound: Bound, effects: dict[str, int]) -> bool:
        """Whether spread effects move the metric of a bound that does not hold towards it."""
        value, change = self.metrics[bound.metric], effects[bound.metric]
        return change > 0 if value < bound.low else change < 0

    def wanted(self, key: str) -> bool:
        """Whether a serving route has a precondition on a key."""
        return any(self.relation(number, key) != "none" for number in self.serving())

    def meets(self, milestone: int) -> bool:
        """Whether the consequences of a workable route meet the condition of a milestone."""
        target: Milestone = self.milestones[milestone]
        return any(route.workable and _satisfies(route.consequences, [target.condition]) for route in self.routes)


def _satisfies(consequences: Record, conditions: list[Condition]) -> bool:
    """Whether one of the consequences satisfies one of the conditions on facts."""
    missing: Any = object()
    for each in conditions:
        value = consequences.get(each.key, missing) if isinstance(each, Fact) else missing
        if value is not missing and each.allows(value):
            return True
    return False
