"""Arrays to tasks: compiled or generated scenarios as LifeStack documents."""

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from jaxenv.envs.lifestack.actions import VERBS
from jaxenv.envs.lifestack.metrics import FIRST, HIGHEST, HOPS, METRICS, UNIT, cascade, spread
from jaxenv.envs.lifestack.types import ABSENT, CENTS, NEVER, UNKNOWN, UNWRITTEN, Scenario
from scenarios.document_format import shortest
from scenarios.lifestack.document import Task
from scenarios.lifestack.facts import members_of
from scenarios.text.errors import ScenarioError
from scenarios.words import USUAL, drawn

NEVER_TAKEN = "never"  # a value that no key has
MAX_DECIMALS, MAX_DIGITS = 4, 9  # of a change in a document: where it is plain, and where it is not
MAX_TURNS = 1000


def decompile(scenario: Scenario, scenario_id: str = "", wording: str = USUAL) -> Task:
    """A task in words from arrays of one scenario, such as a generated one.

    Names are not in the arrays: domain, goal, keys, events and what routes and milestones are about come from
    `words.json`, ids of routes are route_1, … and of milestones milestone_1, …; the value of a fact is true, or a
    number where it has several. Compiled again, it gives the same arrays.

    Raises:
        ScenarioError: where no document compiles to the arrays.
    """
    return _Words(scenario, wording).task(scenario_id)


class _Words:
    """The parts of one scenario in words."""

    def __init__(self, scenario: Scenario, wording: str) -> None:
        self.scenario = scenario
        seed = int(np.asarray(scenario.metrics, np.int64).sum()) + int(scenario.time) + int(scenario.money)
        self.words = next(drawn("lifestack", "crises", seed, wording))
        self.num_routes, self.num_milestones = int(scenario.num_routes), int(scenario.num_milestones)
        self.num_events = int((np.asarray(scenario.events.step) != NEVER).sum())
        self.keys = self._taken("keys", int(scenario.num_keys))
        self.routes = [f"route_{n}" for n in range(1, self.num_routes + 1)]
        self.milestones = [f"milestone_{n}" for n in range(1, self.num_milestones + 1)]
        self.events = self._taken("events", self.num_events)
        taken = np.concatenate([scenario.facts[None], scenario.routes.writes, scenario.events.writes])
        self.num_codes = taken.max(axis=0, initial=ABSENT)[: len(self.keys)].tolist()  # values that a key can take
        self.values = [values_for(self.num_codes[slot], self._orders(slot)) for slot in range(len(self.keys))]
        self.num_hidden = self._count_hidden()

    def _taken(self, kind: str, count: int) -> list[str]:
        """`count` different words; a second round has numbers."""
        bank = self.words[kind]
        return [bank[n] if n < len(bank) else f"{bank[n % len(bank)]}_{n // len(bank) + 1}" for n in range(count)]

    def task(self, scenario_id: str) -> Task:
        """The whole document."""
        scenario = self.scenario
        first = {key: self._value(slot, int(scenario.facts[slot])) for slot, key in enumerate(self.keys)}
        hidden = self.keys[: self.num_hidden]
        never = [{"key": self.keys[0], "value": NEVER_TAKEN}] if self.keys else []
        members = range(int(scenario.num_success))
        success = [self._alternatives(scenario.success, column) or never for column in members]
        deadline = int(scenario.deadline)
        return Task.model_validate(
            {
                "id": scenario_id,
                "domain": self.words["domain"],
                "goal": self.words["goal"],
                "constraints": {"deadline_step": None if deadline == NEVER else deadline},
                "hidden_state": {key: first[key] for key in hidden},
                "mutable_world": {key: first[key] for key in self.keys if key not in hidden},
                "visible_world": {key: first[key] for key in _names(scenario.shown, self.keys)},
                "success_conditions": [found[0] if len(found) == 1 else {"any": found} for found in success],
                "failure_conditions": self._alternatives(scenario.failure, 0),
                "event_schedule": [self._event(row) for row in range(self.num_events)],
                "viable_routes": [self._route(row) for row in range(self.num_routes)],
                "milestones": [self._milestone(row) for row in range(self.num_milestones)],
                "horizon": int(scenario.horizon),
                "disruption": undo_spread(np.asarray(scenario.metrics) - FIRST, "the metrics"),
                "resources": {name: int(getattr(scenario, name)) / CENTS for name in ("time", "money", "energy")},
            }
        )

    # Facts --------------------------------------------------------------------------------------------

    def _orders(self, slot: int) -> list[int]:
        """The sets of codes that a single condition of a key may hold for."""
        scenario = self.scenario
        table, milestones = [*scenario.routes.preconditions[: self.num_routes, slot]], scenario.milestones
        table += [milestones.codes[row] for row in range(self.num_milestones) if milestones.key[row] == slot]
        return list(dict.fromkeys(map(int, table)))

    def _count_hidden(self) -> int:
        """Number of leading keys of the hidden state: up to the last that is unknown and not written by an event.

        Keys that events write are unknown in the world as well.
        """
        is_written = (np.asarray(self.scenario.events.writes) != UNWRITTEN).any(axis=0)
        hidden = (np.asarray(self.scenario.known) == UNKNOWN) & ~is_written
        return int(np.flatnonzero(hidden[: len(self.keys)]).max(initial=-1)) + 1

    def _value(self, slot: int, code: int) -> Any:
        """The name of a code; null for absence."""
        return None if code == ABSENT else self.values[slot][code]

    def _writes(self, row: Any, slots: Iterable[int]) -> dict[str, Any]:
        """Consequences or mutations of some keys."""
        return {self.keys[n]: self._value(n, int(row[n])) for n in slots if row[n] != UNWRITTEN}

    # Conditions ---------------------------------------------------------------------------------------

    def _every(self, slot: int) -> int:
        """The set of all codes of a key."""
        return (1 << self.num_codes[slot] + 1) - 1

    def _comparison(self, slot: int, codes: int) -> dict[str, Any]:
        """One comparison that holds for a set of codes."""
        every = self._every(slot)
        wanted, others = [*members_of(every & codes)], [*members_of(every & ~codes)]
        if not wanted or not others:
            return {"op": "ne" if wanted else "eq", "value": NEVER_TAKEN}
        if len(wanted) == 1:
            return {"op": "eq", "value": self._value(slot, wanted[0])}
        if len(others) == 1:
            return {"op": "ne", "value": self._value(slot, others[0])}
        ranks = [self.values[slot][code] for code in wanted if code != ABSENT]
        numbers = [value for value in self.values[slot].values() if isinstance(value, int)]
        if ABSENT in others and sorted(ranks) == sorted(numbers)[-len(ranks) :]:
            return {"op": "ge", "value": min(ranks)}
        if ABSENT in others and sorted(ranks) == sorted(numbers)[: len(ranks)]:
            return {"op": "le", "value": max(ranks)}
        raise ScenarioError(f"no single comparison of {self.keys[slot]} holds for the codes {wanted} alone.")

    def _bound(self, row: int) -> dict[str, Any]:
        """A bound on a metric."""
        bounds = self.scenario.bounds
        low, high = int(bounds.low[row]), int(bounds.high[row])
        key = METRICS[int(bounds.metric[row])]
        if high == HIGHEST:
            comparison = {"op": "ge", "value": low / UNIT} if low <= HIGHEST else {"op": "gt", "value": HIGHEST / UNIT}
        elif low == 0:
            comparison = {"op": "le", "value": high / UNIT} if high >= 0 else {"op": "lt", "value": 0.0}
        else:
            raise ScenarioError(f"no single comparison bounds {key} on both sides.")
        return {"key": key, **comparison}

    def _alternatives(self, table: Any, column: int) -> list[dict[str, Any]]:
        """The conditions of which one must hold, one for each code and bound."""
        found = []
        for slot, key in enumerate(self.keys):
            codes = int(table.facts[slot, column]) & self._every(slot)
            found += [{"key": key, "value": self._value(slot, code)} for code in members_of(codes)]
        found += [self._bound(n) for n in members_of(int(table.bounds[column]))]
        return found

    # Tables -------------------------------------------------------------------------------------------

    def _route(self, row: int) -> dict[str, Any]:
        """One route."""
        routes = self.scenario.routes
        verbs = _names(routes.required[row], VERBS)
        return {
            "id": self.routes[row],
            "name": self._taken("routes", row + 1)[row],
            "required_action_types": verbs,
            "preconditions": self._preconditions(row),
            "consequences": self._writes(routes.writes[row], range(len(self.keys))),
            "closes_routes": _names(routes.closes[row], self.routes),
            "milestones_unlocked": _names(routes.unlocks[row], self.milestones),
            "final_reward": shortest(routes.reward[row]),
            "cost": {
                "time": int(routes.time[row]) * len(verbs) / CENTS,
                "energy": int(routes.energy[row]) * len(verbs) / CENTS,
                "money": int(routes.money[row]) / CENTS,
            },
            "effects": undo_spread(np.asarray(routes.effects[row]), f"the effects of {self.routes[row]}"),
        }

    def _preconditions(self, row: int) -> dict[str, Any]:
        """The preconditions of a route in the order of the document."""
        routes, placed = self.scenario.routes, []
        for slot in np.flatnonzero(routes.order[row]):
            comparison = self._comparison(int(slot), int(routes.preconditions[row, slot]))
            is_plain = comparison["op"] == "eq"
            placed.append((routes.order[row, slot], self.keys[slot], comparison["value"] if is_plain else comparison))
        for n in np.flatnonzero(routes.bound_order[row]):
            bound = self._bound(int(n))
            placed.append((routes.bound_order[row, n], bound.pop("key"), bound))
        return {key: comparison for _, key, comparison in sorted(placed, key=lambda entry: entry[0])}

    def _milestone(self, row: int) -> dict[str, Any]:
        """One milestone."""
        table = self.scenario.milestones
        bounds, slot = [self._bound(n) for n in members_of(int(table.bounds[row]))], int(table.key[row])
        condition = bounds[0] if bounds else {"key": self.keys[slot], **self._comparison(slot, int(table.codes[row]))}
        return {
            "id": self.milestones[row],
            "description": self._taken("milestones", row + 1)[row],
            **{f"condition_{name}": value for name, value in condition.items()},
            "reward": shortest(self.scenario.milestone_reward[row]),
        }

    def _event(self, row: int) -> dict[str, Any]:
        """One event."""
        events = self.scenario.events
        slots = range(len(self.keys))
        return {
            "id": self.events[row],
            "step": int(events.step[row]),
            "probability": shortest(events.probability[row]),
            "world_mutation": self._writes(events.writes[row], slots[self.num_hidden :]),
            "hidden_state_mutation": self._writes(events.writes[row], slots[: self.num_hidden]),
            "closes_routes": _names(events.closes[row], self.routes),
            "effects": undo_spread(np.asarray(events.effects[row]), f"the effects of {self.events[row]}"),
            "silent": row in members_of(int(self.scenario.silent)),
        }


def _names(numbers: Any, names: Sequence[str]) -> list[str]:
    """The names of the numbers in a set."""
    return [names[number] for number in members_of(int(numbers))]


def values_for(count: int, orders: Sequence[int]) -> dict[int, Any]:
    """Values for the codes 1 to `count`: true for one, else numbers of which a comparison selects each set in `orders`.

    Sets that neither equality nor inequality selects are one end of an order of codes; the codes in none of them get
    text, which has no order.
    """
    if count == 1:
        return {1: True}
    every = (1 << count + 1) - 1
    ends = [codes for codes in orders if not codes & 1 and min(codes.bit_count(), (every & ~codes).bit_count()) > 1]
    for signs in itertools.product((1, -1), repeat=max(len(ends) - 1, 0)):
        weight = {
            code: sum(sign * (codes >> code & 1) for sign, codes in zip((1, *signs), ends, strict=False))
            for code in range(1, count + 1)
        }
        named = {code: f"value_{code}" for code in weight if ends and not any(codes >> code & 1 for codes in ends)}
        ranked = sorted((code for code in weight if code not in named), key=weight.__getitem__)
        if all(_is_end(codes, ranked) for codes in ends):
            return {**{code: rank for rank, code in enumerate(ranked, 1)}, **named} if ends else {c: c for c in weight}
    raise ScenarioError(f"no order of {count} values has the sets of codes {ends} at its ends.")


def _is_end(codes: int, ranked: Sequence[int]) -> bool:
    """Whether a set of codes is the lowest or the highest ones of some."""
    within = [bool(codes >> code & 1) for code in ranked]
    return within in (sorted(within), sorted(within, reverse=True))


def undo_spread(total: np.ndarray, what: str) -> dict[str, float]:
    """Changes by path that spread to the given total: with few digits if possible, otherwise with as many as needed.

    Each change is rounded for each metric that it reaches, so the last units are brought about one metric at a time.
    """
    weights = cascade() / 1000.0**HOPS
    exact = np.linalg.solve(weights, total)  # in units
    for decimals in range(MAX_DECIMALS + 1):
        found = _changes(np.round(exact / UNIT, decimals), total)
        if found is not None:
            return found
    random = np.random.default_rng(0)  # a fixed order of metrics may go round in circles
    exact += random.uniform(-0.01, 0.01, exact.shape)  # away from halves, which floats round as they like
    for _ in range(MAX_TURNS):
        rest = total - np.rint(weights * exact).sum(axis=1)
        if not rest.any():
            break
        one = random.choice(np.flatnonzero(rest))
        own = weights[one, one]
        exact[one] = (np.rint(own * exact[one]) + rest[one] + random.uniform(-0.4, 0.4)) / own
    found = _changes(np.round(exact / UNIT, MAX_DIGITS), total)
    if found is None:
        raise ScenarioError(f"{what}: no changes were found that spread to {total.tolist()}.")
    return found


def _changes(changes: np.ndarray, total: np.ndarray) -> dict[str, float] | None:
    """The changes by path, if they spread to the total."""
    found = {path: change for path, change in zip(METRICS, changes.tolist(), strict=True) if change}
    return found if np.array_equal(spread(found), total) else None
