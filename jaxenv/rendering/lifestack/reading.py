"""From a state to what is shown of it.

Facts come from the observation and nowhere else, so that what is hidden from the agent is in no picture and no text.
"""

from typing import Any

import numpy as np

from jaxenv.envs.lifestack.actions import VERBS
from jaxenv.envs.lifestack.metrics import HIGHEST, METRICS, UNIT, better
from jaxenv.envs.lifestack.types import (
    CENTS,
    FAILS,
    HOLDS,
    NEVER,
    NO_RELATION,
    NOT_KNOWN,
    OUTCOMES,
    RUNNING,
    UNKNOWN,
    UNWRITTEN,
    Conditions,
    Observation,
    Scenario,
    State,
)
from jaxenv.rendering.lifestack.crisis import (
    CLOSED,
    COMPLETED,
    LOCKED,
    OPEN,
    REACHED,
    RESOURCES,
    Condition,
    Crisis,
    Fact,
    Milestone,
    Need,
    Route,
    Write,
)
from jaxenv.rendering.lifestack.names import Names
from jaxenv.rendering.lifestack.signs import path_in_words


def read(observation: Observation, state: State, scenario: Scenario, names: Names) -> Crisis:
    """What is known of a state; all three records on the host."""
    bounds = tuple(_bound(observation, slot) for slot in range(int(scenario.num_bounds)))
    over = state.outcome != RUNNING
    ends = "out of time" if state.clock >= scenario.horizon else ""
    return Crisis(
        names=names,
        clock=int(state.clock),
        horizon=int(scenario.horizon),
        deadline=None if scenario.deadline == NEVER else int(scenario.deadline),
        outcome=OUTCOMES[int(state.outcome)] if over else ends,
        has={name: int(getattr(observation, name)) / CENTS for name in RESOURCES},
        had={name: int(getattr(scenario, name)) / CENTS for name in RESOURCES},
        metrics=better(np.asarray(observation.metrics)) / UNIT,
        facts=tuple(_fact(observation, names, slot) for slot in range(int(scenario.num_keys))),
        bounds=bounds,
        routes=tuple(_route(observation, state, scenario, names, slot) for slot in range(int(scenario.num_routes))),
        success=tuple(
            _any_of(_conditions(scenario.success, column, observation, bounds, names))
            for column in range(int(scenario.num_success))
        ),
        failure=tuple(_conditions(scenario.failure, 0, observation, bounds, names)),
        milestones=tuple(_milestone(observation, names, slot) for slot in range(int(scenario.num_milestones))),
        events=tuple(np.flatnonzero(observation.fired).tolist()),
    )


def _bit(codes: Any, code: Any) -> bool:
    """Whether a code is in a set."""
    return bool(int(codes) >> int(code) & 1)


def _conditions(
    table: Conditions, column: int, observation: Observation, bounds: tuple[Condition, ...], names: Names
) -> list[Condition]:
    """The alternatives of one condition of a table."""
    found = []
    for key, codes in enumerate(table.facts[:, column].tolist()):
        if codes:
            known = int(observation.keys.code[key])
            stands = NOT_KNOWN if known == UNKNOWN else HOLDS if _bit(codes, known) else FAILS
            found.append(Condition(_set_in_words(names, key, codes), stands))
    return found + [bounds[slot] for slot in np.flatnonzero(table.bounds[:, column])]


def _any_of(alternatives: list[Condition]) -> Condition:
    """Several conditions of which one is enough, as one."""
    stands = [condition.stands for condition in alternatives]
    told = HOLDS if HOLDS in stands else NOT_KNOWN if NOT_KNOWN in stands else FAILS
    words = " or ".join(condition.at_length for condition in alternatives)
    return Condition(words or "what nothing brings about", told)


def _set_in_words(names: Names, key: int, codes: int) -> str:
    """A set of codes of a key: `card = true`, `card is not true`, `count is 3 or 4`."""
    name, taken = names.keys[key], range(len(names.values[key]) + 1 if names.values else 0)
    inside, outside = [c for c in range(32) if _bit(codes, c)], [c for c in taken if not _bit(codes, c)]
    if len(inside) == 1:
        return f"{name} = {names.value(key, inside[0])}"
    if len(outside) == 1:
        return f"{name} is not {names.value(key, outside[0])}"
    return f"{name} is {' or '.join(names.value(key, code) for code in inside)}"


def _bound(observation: Observation, slot: int) -> Condition:
    """A bound as a condition; whole numbers where it is one unit off, as `gt` and `lt` make it."""
    bounds = observation.bounds
    name = path_in_words(METRICS[int(bounds.metric[slot])])
    low, high = int(bounds.low[slot]), int(bounds.high[slot])
    words = [] if low <= 0 else [_limit(low, "≥", ">", -1)]
    words += [] if high >= HIGHEST else [_limit(high, "≤", "<", 1)]
    now = f"{int(observation.metrics[int(bounds.metric[slot])]) / UNIT:.1f}"
    return Condition(f"{name} {' and '.join(words)}".rstrip(), HOLDS if bounds.holds[slot] else FAILS, now)


def _limit(edge: int, closed: str, strict: str, outwards: int) -> str:
    """A closed edge in words, as a strict one where that is the rounder number."""
    if (edge + outwards) % (UNIT // 100) == 0:
        return f"{strict} {(edge + outwards) / UNIT:g}"
    return f"{closed} {edge / UNIT:g}"


def _fact(observation: Observation, names: Names, slot: int) -> Fact:
    keys = observation.keys
    code = int(keys.code[slot])
    return Fact(
        name=names.keys[slot],
        value=None if code == UNKNOWN else names.value(slot, code),
        shown=bool(keys.shown[slot]),
        wanted=bool(keys.wanted[slot]),
    )


def _route(observation: Observation, state: State, scenario: Scenario, names: Names, slot: int) -> Route:
    routes, table = observation.routes, scenario.routes
    status = COMPLETED if routes.completed[slot] else OPEN if routes.open[slot] else CLOSED
    verbs = [(verb, _bit(state.marks[slot], n)) for n, verb in enumerate(VERBS) if _bit(table.required[slot], n)]
    enabled = [names.routes[other] for other in np.flatnonzero(routes.enables[slot])]
    return Route(
        name=names.routes[slot],
        status=status,
        verbs=tuple(verbs),
        reward=float(routes.reward[slot]),
        price=_price(scenario, slot),
        affordable=status != OPEN or ("spend", True) in verbs or bool(routes.money[slot] <= observation.money),
        serves=bool(routes.serves[slot]),
        needs=tuple(_needs(observation, scenario, slot)),
        writes=tuple(_writes(observation, scenario, names, slot)),
        closes=tuple(names.routes[other] for other in np.flatnonzero(routes.closes[slot])),
        enables=tuple(enabled),
    )


def _price(scenario: Scenario, slot: int) -> str:
    """What a route costs beside what its verbs cost."""
    table = scenario.routes
    num_verbs = bin(int(table.required[slot])).count("1")
    amounts = {
        "money {:g}": int(table.money[slot]) / CENTS,
        "{:g} h more": int(table.time[slot]) * num_verbs / CENTS,
        "energy {:g} more": int(table.energy[slot]) * num_verbs / CENTS,
    }
    return ", ".join(words.format(amount) for words, amount in amounts.items() if amount)


def _needs(observation: Observation, scenario: Scenario, slot: int) -> list[Need]:
    """Preconditions in document order."""
    table, relation = scenario.routes, observation.routes.relation[slot]
    needs = [
        (int(table.order[slot, key]), Need(False, key, int(relation[key])))
        for key in np.flatnonzero(relation != NO_RELATION).tolist()
    ]
    for bound in np.flatnonzero(observation.routes.needs_bound[slot]).tolist():
        stands = HOLDS if observation.bounds.holds[bound] else FAILS
        needs.append((int(table.bound_order[slot, bound]), Need(True, bound, stands)))
    return [need for _, need in sorted(needs, key=lambda pair: pair[0])]


def _writes(observation: Observation, scenario: Scenario, names: Names, slot: int) -> list[Write]:
    """Consequences by key."""

    def meets(table: Conditions, key: int, code: int) -> bool:
        return any(_bit(codes, code) for codes in table.facts[key])

    codes = scenario.routes.writes[slot]
    return [
        Write(
            key=key,
            value=names.value(key, int(codes[key])),
            holds=bool(observation.keys.code[key] == codes[key]),
            succeeds=meets(scenario.success, key, int(codes[key])),
            fails=meets(scenario.failure, key, int(codes[key])),
            reaches=meets(scenario.milestones, key, int(codes[key])),
        )
        for key in np.flatnonzero(codes != UNWRITTEN).tolist()
    ]


def _milestone(observation: Observation, names: Names, slot: int) -> Milestone:
    milestones = observation.milestones
    status = REACHED if milestones.reached[slot] else OPEN if milestones.open[slot] else LOCKED
    return Milestone(names.milestones[slot], float(milestones.reward[slot]), status)
