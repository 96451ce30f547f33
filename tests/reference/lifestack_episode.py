"""The course of a LifeStack episode in slow, plain Python: documents, actions, events, reward and ends.

Everything here is written to be read next to docs/rules/lifestack.md. Facts are plain values with None for an
absent one, metrics are integers of 1e-5, time, money and energy integers of hundredths, and
nothing but the entries of the document is precomputed. Chance comes in as numbers: one for each event
of the schedule and each clock position.

What is easily missed:

- Ends: a success leaves every other end False; without one, all that hold are told together. An episode
  may terminate and be truncated at once.
- Dead end: an event can still write a key if a mutation of it has the key, it has not fired, and its step is -1
  or not behind the clock. Ends are judged after the clock has moved and before the events of that step fire,
  so an event of this very step still counts (that is: a step later than the clock before the action).
  Its probability, its value and a deadline before it are not looked at.
- Success makes every fact known that its conditions name, every alternative included.
- A route that is closed after its completion is no longer open, and stays completed.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from reference.lifestack_document import (
    Bound,
    Condition,
    Fact,
    Route,
    hundredths,
    key_slots,
    member,
    read_milestone,
    read_route,
)
from reference.lifestack_rules import (
    ENDS,
    FULL_ENERGY,
    INSPECT_TIME,
    LOW_METRIC,
    METRICS,
    PARTS,
    TOP,
    UNIT,
    UPKEEP,
    VERBS,
    WEIGHTS,
    Record,
    adjusted,
    spread,
)


class Unknown(Enum):
    """What is known of a fact that has never been looked at."""

    UNKNOWN = "unknown"


UNKNOWN = Unknown.UNKNOWN


@dataclass
class Step:
    """What one step gives back."""

    reward: float
    parts: dict[str, float]
    terminated: bool
    truncated: bool
    ends: dict[str, bool]


def mutations(event: Record) -> Record:
    """All that an event writes, to the world and to the hidden state."""
    return {**(event.get("world_mutation") or {}), **(event.get("hidden_state_mutation") or {})}


class Episode:
    """One episode of a document, without the relations that an observer is shown."""

    def __init__(
        self,
        document: Record,
        draws: Sequence[float],
        *,
        routes: int = 8,
        keys: int = 16,
        weights: dict[str, float] | None = None,
    ) -> None:
        self.document = document = copy.deepcopy(document)
        self.route_slots, self.key_slots = routes, keys
        self.weights = {**WEIGHTS, **(weights or {})}
        self.keys = key_slots(document)
        self.routes = [read_route(record) for record in document.get("viable_routes") or []]
        self.numbers = {route.id: number for number, route in enumerate(self.routes)}
        self.milestones = [read_milestone(record, self.routes) for record in document.get("milestones") or []]
        self.success = [member(record) for record in document.get("success_conditions") or []]
        self.failure = [member(record) for record in document.get("failure_conditions") or []]
        self.events: list[Record] = document.get("event_schedule") or []
        self.fired = [False] * len(self.events)

        self.t = 0
        self.horizon: int = document["horizon"]
        self.deadline: int | None = (document.get("constraints") or {}).get("deadline_step")
        self.time, self.money, self.energy = self._resources()
        self.terminated = self.truncated = False
        self.ends: dict[str, bool] = dict.fromkeys(ENDS, False)
        self.facts: Record = dict.fromkeys(self.keys)
        for home in ("hidden_state", "mutable_world", "visible_world"):
            self.facts.update(document.get(home) or {})
        self.known: Record = {key: self._known_at_first(key) for key in self.keys}
        self.metrics = {metric: first * UNIT for metric, first in METRICS.items()}
        self._move_metrics(spread(document.get("disruption") or {}))
        self._fire(draws)

    def _resources(self) -> tuple[int, int, int]:
        given = self.document.get("resources") or {}
        budget = (self.document.get("constraints") or {}).get("budget_max")
        amounts = [amount for amount in (given.get("money"), budget) if amount is not None]
        time, energy = given.get("time"), given.get("energy")
        return (
            hundredths(self.horizon if time is None else time),
            hundredths(min(amounts) if amounts else 100 * self.horizon),
            hundredths(100 if energy is None else energy),
        )

    def _known_at_first(self, key: str) -> Any:
        hidden = key in (self.document.get("hidden_state") or {})
        written = any(key in mutations(event) for event in self.events)
        if self.always_shown(key) or not (hidden or written):
            return self.facts[key]
        return UNKNOWN

    # ---------------------------------------------------------------------------------- catalogue

    @property
    def size(self) -> int:
        """How many entries the catalogue has, legal or not."""
        return len(VERBS) * self.route_slots + self.key_slots + len(UPKEEP) + 1

    def document_action(self, index: int) -> Record:
        """The document form of an entry; a slot that the document leaves empty has none."""
        if not 0 <= index < self.size:
            raise ValueError(f"the catalogue has no entry {index}")
        targeted = len(VERBS) * self.route_slots
        if index < targeted:
            verb, route = list(VERBS)[index // self.route_slots], index % self.route_slots
            if route < len(self.routes):
                return {"action_type": verb, "target": self.routes[route].id}
        elif index < targeted + self.key_slots:
            if index - targeted < len(self.keys):
                return {"action_type": "inspect", "target": self.keys[index - targeted]}
        else:
            verb = (*UPKEEP, "wait")[index - targeted - self.key_slots]
            return {"action_type": verb, "target": None}
        raise ValueError(f"entry {index} is of an empty slot")

    def index_of(self, action: Record) -> int:
        """The entry of a document form."""
        verb, target = action["action_type"], action["target"]
        targeted = len(VERBS) * self.route_slots
        if verb == "inspect":
            return targeted + self.keys.index(target)
        if target is None:
            return targeted + self.key_slots + (*UPKEEP, "wait").index(verb)
        return list(VERBS).index(verb) * self.route_slots + self.numbers[target]

    def legal(self) -> list[int]:
        """The legal entries; after the end every entry."""
        if self.terminated or self.truncated:
            return list(range(self.size))
        return [index for index in range(self.size) if self._is_legal(index)]

    def _is_legal(self, index: int) -> bool:
        try:
            action = self.document_action(index)
        except ValueError:
            return False
        verb, target = action["action_type"], action["target"]
        if verb == "inspect":
            return self.inspectable(target)
        if target is None:
            return VERBS[verb].time <= self.time and VERBS[verb].energy <= self.energy
        route = self.routes[self.numbers[target]]
        if not route.workable or verb not in route.outstanding:
            return False
        time, energy, money = self._price(route, verb)
        return time <= self.time and energy <= self.energy and money <= self.money

    @staticmethod
    def _price(route: Route, verb: str) -> tuple[int, int, int]:
        """Time, energy and money of a verb on a route, the money where this entry would pay it."""
        last = "spend" not in route.verbs and route.outstanding == [verb]
        money = route.money if verb == "spend" or last else 0
        return VERBS[verb].time + route.time, VERBS[verb].energy + route.energy, money

    # --------------------------------------------------------------------------------------- step

    def step(self, action: int, draws: Sequence[float]) -> Step:
        """Play an entry; `draws` are for the events of the step that the clock moves to."""
        if self.terminated or self.truncated:
            raise ValueError("the episode is over")
        before = dict(self.metrics)
        parts = dict.fromkeys(PARTS, 0.0)
        parts["step_cost"] = self.weights["step_cost"]
        if self._is_legal(action):
            self._act(self.document_action(action), parts)
        else:
            parts["invalid_action"] = self.weights["invalid_action"]
        self.t += 1
        self._reach_milestones(parts)
        self._judge()
        if self.terminated:
            end = "success" if self.ends["success"] else "failure"
            parts[end] = self.weights[end]
        if not (self.terminated or self.truncated):
            self._fire(draws)
        pairs = [(adjusted(metric, before[metric]), adjusted(metric, self.metrics[metric])) for metric in METRICS]
        gained = sum(now for _, now in pairs) - sum(then for then, _ in pairs)
        parts["wellbeing"] = self.weights["wellbeing"] * gained / (len(METRICS) * TOP)
        parts["collapse"] = self.weights["collapse"] * sum(now < LOW_METRIC <= then for then, now in pairs)
        return Step(sum(parts.values()), parts, self.terminated, self.truncated, self.ends.copy())

    def _act(self, action: Record, parts: dict[str, float]) -> None:
        verb, target = action["action_type"], action["target"]
        if verb == "inspect":
            self.time -= INSPECT_TIME
            self._look(target)
        elif target is not None:
            self._work(self.routes[self.numbers[target]], verb, parts)
        else:
            self._move_metrics(spread(VERBS[verb].upkeep or {}))
            self._pay(VERBS[verb].time, VERBS[verb].energy)

    def _work(self, route: Route, verb: str, parts: dict[str, float]) -> None:
        time, energy, money = self._price(route, verb)
        self._move_metrics(spread(VERBS[verb].on_route))
        self._pay(time, energy)
        route.marks.add(verb)
        if not route.outstanding and not all(self.holds(each) for each in route.preconditions):
            route.marks.remove(verb)
            parts["failed_attempt"] = self.weights["failed_attempt"]
            for each in route.preconditions:
                self._look_at(each)
                if not self.holds(each):
                    return
        self.money -= money
        if not route.outstanding:
            self._complete(route, parts)

    def _complete(self, route: Route, parts: dict[str, float]) -> None:
        route.completed = True
        for each in route.preconditions:
            self._look_at(each)
        for key, value in route.consequences.items():
            self.facts[key] = value
            self._look(key)
        self._close(route.closes)
        for milestone in self.milestones:
            milestone.open = milestone.open or milestone.id in route.unlocks
        parts["routes"] += route.final_reward
        self._move_metrics(route.effects)

    def _pay(self, time: int, energy: int) -> None:
        self.time -= time
        self.energy = max(0, min(FULL_ENERGY, self.energy - energy))

    def _close(self, names: Iterable[str]) -> None:
        for name in names:
            self.routes[self.numbers[name]].open = False

    def _move_metrics(self, *deltas: Mapping[str, int]) -> None:
        """The deltas of one phase: added, then clipped."""
        for metric, value in self.metrics.items():
            self.metrics[metric] = max(0, min(TOP, value + sum(delta[metric] for delta in deltas)))

    def _look(self, key: str) -> None:
        self.known[key] = self.facts[key]

    def _look_at(self, each: Condition) -> None:
        if isinstance(each, Fact):
            self._look(each.key)

    def _reach_milestones(self, parts: dict[str, float]) -> None:
        for milestone in self.milestones:
            if milestone.open and not milestone.reached and self.holds(milestone.condition):
                milestone.reached = True
                parts["milestones"] += milestone.reward
                self._look_at(milestone.condition)

    def _fire(self, draws: Sequence[float]) -> None:
        """The events of the clock's step: mutations in document order, routes closed, one phase of effects."""
        deltas = []
        for number, (event, draw) in enumerate(zip(self.events, draws, strict=True)):
            due = self.t >= 1 and not self.fired[number] if event["step"] == -1 else event["step"] == self.t
            if not due or draw >= event.get("probability", 1):
                continue
            self.fired[number] = True
            self.facts.update(mutations(event))
            self._close(event.get("closes_routes") or [])
            deltas.append(spread(event.get("effects") or {}))
        self._move_metrics(*deltas)
        for key in self.document.get("visible_world") or {}:
            self._look(key)

    # --------------------------------------------------------------------------------------- ends

    def holds(self, each: Condition) -> bool:
        """Whether a condition holds now, in truth."""
        return each.allows(self.metrics[each.metric] if isinstance(each, Bound) else self.facts[each.key])

    def succeeded(self) -> bool:
        """Whether all members of the success conditions hold now; of none, never."""
        return bool(self.success) and all(any(map(self.holds, each)) for each in self.success)

    def failed(self) -> bool:
        """Whether a member of the failure conditions holds now."""
        return any(any(map(self.holds, each)) for each in self.failure)

    def burnt_out(self) -> bool:
        """Whether a metric is at its worst now."""
        return any(adjusted(metric, value) == 0 for metric, value in self.metrics.items())

    def dead_end(self) -> bool:
        """Whether no route is left and a member of success can no longer be met; see the top of this file."""
        if any(route.workable for route in self.routes):
            return False
        unmet = [each for each in self.success if not any(map(self.holds, each))]
        return any(not any(self._may_still_change(alternative) for alternative in each) for each in unmet)

    def _may_still_change(self, each: Condition) -> bool:
        if isinstance(each, Bound):
            return True
        return any(
            each.key in mutations(event)
            for event, fired in zip(self.events, self.fired, strict=True)
            if not fired and (event["step"] == -1 or event["step"] >= self.t)
        )

    def _judge(self) -> None:
        self.truncated = self.t >= self.horizon
        if self.succeeded():
            self.ends["success"] = True
            for each in self.success:
                for alternative in each:
                    self._look_at(alternative)
        else:
            self.ends["condition"] = self.failed()
            self.ends["deadline"] = self.deadline is not None and self.t >= self.deadline
            self.ends["dead_end"] = self.dead_end()
            self.ends["burnout"] = self.burnt_out()
        self.terminated = any(self.ends.values())

    # ------------------------------------------------------------------------------- what is open

    def always_shown(self, key: str) -> bool:
        """Whether a key always shows its current value."""
        return key in (self.document.get("visible_world") or {})

    def inspectable(self, key: str) -> bool:
        """Whether looking at a key is possible, and not idle."""
        return not self.always_shown(key) and self.time >= INSPECT_TIME
