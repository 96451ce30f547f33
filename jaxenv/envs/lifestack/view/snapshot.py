"""A crisis in plain Python, read for drawing: the agent's knowledge of a state, by name.

Facts come only from the observation, so that hidden facts appear in no picture or text.
"""

import dataclasses
import itertools
from typing import Any, NamedTuple

import numpy as np

from jaxenv.envs.lifestack import types
from jaxenv.envs.lifestack.actions import VERBS
from jaxenv.envs.lifestack.metrics import HIGHEST, INVERTED, METRICS, UNIT, better
from jaxenv.envs.lifestack.types import UNKNOWN, Conditions, Observation, Scenario, State
from jaxenv.lowering import bitsets
from jaxenv.rendering.text import spaced
from jaxenv.rendering.view import Given, numbered, remembered, with_defaults

NO_VALUE = "none"  # of a fact that is absent
HOLDS, FAILS, NOT_KNOWN = "✓", "✗", "?"  # statuses of a condition, to the agent, by the marks that show them


@dataclasses.dataclass(frozen=True)
class Names:
    """Names by the indices of the arrays.

    Attributes:
        keys: by slot.
        values: by slot, in the order of codes from 1; None if unknown.
        routes: by slot.
        milestones: by slot.
        events: by slot.
        stories: by slot, the description of each event, or empty.
        task: the id, or empty.
        domain: the kind of crisis, or empty.
        goal: the aim, or empty.
    """

    keys: tuple[str, ...]
    values: tuple[tuple[str, ...] | None, ...]
    routes: tuple[str, ...]
    milestones: tuple[str, ...]
    events: tuple[str, ...]
    stories: tuple[str, ...]
    task: str = ""
    domain: str = ""
    goal: str = ""

    def value(self, key: int, code: int) -> str:
        """The meaning of a code."""
        if code == types.ABSENT:
            return NO_VALUE
        values = self.values[key] or ()
        return values[code - 1] if code <= len(values) else f"value {code}"

    def set_of_values(self, key: int, codes: int) -> str:
        """A set of codes as a condition: `card = true`, `card is not true`, `count is 3 or 4`."""
        values = self.values[key]
        inside = _members(codes)
        outside = [] if values is None else [code for code in range(len(values) + 1) if code not in inside]
        if len(inside) == 1:
            return f"{self.keys[key]} = {self.value(key, inside[0])}"
        if len(outside) == 1:
            return f"{self.keys[key]} is not {self.value(key, outside[0])}"
        return f"{self.keys[key]} is {' or '.join(self.value(key, code) for code in inside)}"


@remembered
def names_of(crisis: Scenario, given: Given) -> Names:
    """The names of a scenario (arrays on the host), by number if they are not given.

    Raises:
        ValueError: if other facts, routes, milestones or events are given than the scenario has.
    """
    num_keys, num_events = int(crisis.num_keys), int((crisis.events.step != types.NEVER).sum())
    return with_defaults(
        Names,
        given,
        keys=numbered("fact", num_keys),
        values=(None,) * num_keys,
        routes=numbered("route", int(crisis.num_routes)),
        milestones=numbered("milestone", int(crisis.num_milestones)),
        events=numbered("event", num_events),
        stories=("",) * num_events,
    )


def path_in_words(path: str) -> str:
    """A metric for people: `mental_wellbeing.stress_level` as `stress level`."""
    return spaced(path.partition(".")[2])


def metric_name(number: int) -> str:
    """The name of a metric, behind an arrow if lower is better."""
    return ("↓ " if INVERTED[number] else "") + path_in_words(METRICS[number])


def stated(number: int, value: float) -> float:
    """A metric as the rules state it, from its value of which higher is better, and back."""
    return 100.0 - value if INVERTED[number] else value


def domains() -> dict[str, list[int]]:
    """The metrics of each domain, in order."""
    by_domain = itertools.groupby(range(len(METRICS)), key=lambda number: METRICS[number].partition(".")[0])
    return {spaced(domain): list(numbers) for domain, numbers in by_domain}


OPEN, COMPLETED, CLOSED = "open", "completed", "closed"
LOCKED, REACHED = "locked", "reached"
RESOURCES = ("time", "money", "energy")
SIGNS = {"success": "★", "milestone": "⚑", "failure": "⚠"}  # of a value that satisfies a condition of it


class Fact(NamedTuple):
    """A key."""

    name: str
    code: int  # of the value
    value: str | None  # None where unknown
    shown: bool  # whether it always shows its current value
    wanted: bool  # whether a route that leads to success requires it


class Condition(NamedTuple):
    """A condition, in words."""

    words: str
    status: str  # HOLDS, FAILS or NOT_KNOWN to the agent
    now: str = ""  # the value of its metric, as the engine keeps it

    @property
    def at_length(self) -> str:
        """The condition with the value of its metric."""
        return f"{self.words} (now {self.now})" if self.now else self.words


class Need(NamedTuple):
    """A precondition of a route: on a key, or on a bound."""

    kind: str  # "fact" or "bound"
    slot: int
    status: str  # HOLDS, FAILS or NOT_KNOWN


class Write(NamedTuple):
    """A consequence of a route."""

    key: int
    value: str
    holds: bool  # whether the key is known to have this value now
    signs: str  # of the conditions that it satisfies, see SIGNS


class Route(NamedTuple):
    """A way out."""

    name: str
    status: str  # OPEN, COMPLETED or CLOSED
    verbs: tuple[tuple[str, bool], ...]  # with whether each has been done
    reward: float
    price: str  # its cost, excluding that of its verbs
    affordable: bool  # whether there is money for the remaining payments
    leads_to_success: bool
    needs: tuple[Need, ...]
    writes: tuple[Write, ...]
    closes: tuple[str, ...]
    enables: tuple[str, ...]


class Milestone(NamedTuple):
    """A checkpoint."""

    name: str
    reward: float
    status: str  # LOCKED, OPEN or REACHED


class Crisis(NamedTuple):
    """Everything that is shown of a state."""

    names: Names
    clock: int  # steps taken
    horizon: int
    deadline: int | None
    outcome: str  # empty until the end
    resources: dict[str, float]  # by the names of RESOURCES
    initial: dict[str, float]  # the same at the start
    metrics: np.ndarray  # [23] float, higher is better
    facts: tuple[Fact, ...]
    bounds: tuple[Condition, ...]
    routes: tuple[Route, ...]
    success: tuple[Condition, ...]
    failure: tuple[Condition, ...]
    milestones: tuple[Milestone, ...]
    events: tuple[int, ...]  # slots of those that have fired and are announced


def read(observation: Observation, state: State, scenario: Scenario, names: Names) -> Crisis:
    """The agent's knowledge of a state; all three records are on the host."""
    bounds = tuple(_bound(observation, slot) for slot in range(int(scenario.num_bounds)))
    columns = range(int(scenario.num_success))
    success = [_conditions(scenario.success, column, observation, bounds, names) for column in columns]
    timeout = "out of time" if state.clock >= scenario.horizon else ""
    return Crisis(
        names=names,
        clock=int(state.clock),
        horizon=int(scenario.horizon),
        deadline=None if scenario.deadline == types.NEVER else int(scenario.deadline),
        outcome=timeout if state.outcome == types.RUNNING else types.OUTCOMES[int(state.outcome)],
        resources={name: int(getattr(observation, name)) / types.CENTS for name in RESOURCES},
        initial={name: int(getattr(scenario, name)) / types.CENTS for name in RESOURCES},
        metrics=better(np.asarray(observation.metrics)) / UNIT,
        facts=tuple(_fact(observation, names, slot) for slot in range(int(scenario.num_keys))),
        bounds=bounds,
        routes=tuple(_route(observation, state, scenario, names, slot) for slot in range(int(scenario.num_routes))),
        success=tuple(map(_any_of, success)),
        failure=tuple(_conditions(scenario.failure, 0, observation, bounds, names)),
        milestones=tuple(_milestone(observation, names, slot) for slot in range(int(scenario.num_milestones))),
        events=tuple(np.flatnonzero(observation.fired).tolist()),
    )


def _bit(codes: Any, code: Any) -> bool:
    """Whether a code is in a set."""
    return bool(int(codes) >> int(code) & 1)


def _members(numbers: Any) -> list[int]:
    """The numbers in a set."""
    return [number for number in range(bitsets.MAX_SIZE) if _bit(numbers, number)]


def _conditions(
    table: Conditions, column: int, observation: Observation, bounds: tuple[Condition, ...], names: Names
) -> list[Condition]:
    """The alternatives of one condition of a table."""
    found = []
    for key, codes in enumerate(table.facts[:, column].tolist()):
        if codes:
            code = int(observation.keys.code[key])
            status = NOT_KNOWN if code == UNKNOWN else HOLDS if _bit(codes, code) else FAILS
            found.append(Condition(names.set_of_values(key, codes), status))
    return found + [bounds[slot] for slot in range(len(bounds)) if _bit(table.bounds[column], slot)]


def _any_of(alternatives: list[Condition]) -> Condition:
    """Several conditions, one of which is enough, as one."""
    every = [condition.status for condition in alternatives]
    status = HOLDS if HOLDS in every else NOT_KNOWN if NOT_KNOWN in every else FAILS
    words = " or ".join(condition.at_length for condition in alternatives)
    return Condition(words or "what nothing brings about", status)


def _bound(observation: Observation, slot: int) -> Condition:
    """A bound as a condition, as a strict one if that is the rounder number."""
    bounds = observation.bounds
    metric, low, high = int(bounds.metric[slot]), int(bounds.low[slot]), int(bounds.high[slot])
    limits = [] if low <= 0 else [_limit(low, "≥", ">", -1)]
    limits += [] if high >= HIGHEST else [_limit(high, "≤", "<", 1)]
    words = f"{path_in_words(METRICS[metric])} {' and '.join(limits)}".rstrip()
    return Condition(words, HOLDS if bounds.holds[slot] else FAILS, f"{int(observation.metrics[metric]) / UNIT:.1f}")


def _limit(edge: int, closed: str, strict: str, outwards: int) -> str:
    """A closed edge in words; one unit off a whole number results from compiling `gt` or `lt`."""
    if (edge + outwards) % (UNIT // 100) == 0:
        return f"{strict} {(edge + outwards) / UNIT:g}"
    return f"{closed} {edge / UNIT:g}"


def _fact(observation: Observation, names: Names, slot: int) -> Fact:
    keys, code = observation.keys, int(observation.keys.code[slot])
    value = None if code == UNKNOWN else names.value(slot, code)
    return Fact(names.keys[slot], code, value, shown=_bit(keys.shown, slot), wanted=_bit(keys.wanted, slot))


def _route(observation: Observation, state: State, scenario: Scenario, names: Names, slot: int) -> Route:
    routes, required = observation.routes, scenario.routes.required[slot]
    status = COMPLETED if routes.completed[slot] else OPEN if routes.open[slot] else CLOSED
    verbs = tuple((verb, _bit(state.marks[slot], n)) for n, verb in enumerate(VERBS) if _bit(required, n))
    return Route(
        name=names.routes[slot],
        status=status,
        verbs=verbs,
        reward=float(routes.reward[slot]),
        price=_price(scenario, slot, len(verbs)),
        affordable=status != OPEN or ("spend", True) in verbs or bool(routes.money[slot] <= observation.money),
        leads_to_success=bool(routes.serves[slot]),
        needs=tuple(_needs(observation, scenario, slot)),
        writes=tuple(_writes(observation, scenario, names, slot)),
        closes=tuple(names.routes[other] for other in _members(routes.closes[slot])),
        enables=tuple(names.routes[other] for other in np.flatnonzero(routes.enables[slot])),
    )


def _price(scenario: Scenario, slot: int, num_verbs: int) -> str:
    """The cost of a route, excluding that of its verbs."""
    table = scenario.routes
    amounts = {
        "money {:g}": int(table.money[slot]),
        "{:g} h more": int(table.time[slot]) * num_verbs,
        "energy {:g} more": int(table.energy[slot]) * num_verbs,
    }
    return ", ".join(words.format(amount / types.CENTS) for words, amount in amounts.items() if amount)


def _needs(observation: Observation, scenario: Scenario, slot: int) -> list[Need]:
    """Preconditions in document order."""
    table, routes = scenario.routes, observation.routes
    by_status = {HOLDS: routes.holds, FAILS: routes.fails, NOT_KNOWN: routes.unknown}
    needs = [
        (int(table.order[slot, key]), Need("fact", key, status))
        for status, keys in by_status.items()
        for key in _members(keys[slot])
    ]
    for bound in _members(routes.needs_bounds[slot]):
        status = HOLDS if observation.bounds.holds[bound] else FAILS
        needs.append((int(table.bound_order[slot, bound]), Need("bound", bound, status)))
    return [need for _, need in sorted(needs, key=lambda pair: pair[0])]


def _writes(observation: Observation, scenario: Scenario, names: Names, slot: int) -> list[Write]:
    """Consequences by key."""
    writes, milestones = scenario.routes.writes[slot], scenario.milestones

    def write(key: int, code: int) -> Write:
        reached = milestones.codes[milestones.key == key]
        conditions = (scenario.success.facts[key], reached, scenario.failure.facts[key])
        satisfied = (any(_bit(codes, code) for codes in column) for column in conditions)
        signs = "".join(itertools.compress(SIGNS.values(), satisfied))
        return Write(key, names.value(key, code), bool(observation.keys.code[key] == code), signs)

    return [write(key, int(writes[key])) for key in np.flatnonzero(writes != types.UNWRITTEN).tolist()]


def _milestone(observation: Observation, names: Names, slot: int) -> Milestone:
    milestones = observation.milestones
    status = REACHED if milestones.reached[slot] else OPEN if milestones.open[slot] else LOCKED
    return Milestone(names.milestones[slot], float(milestones.reward[slot]), status)
