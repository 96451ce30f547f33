"""What the facts, routes, milestones and events of a crisis are called: as its document says, else by number."""

import dataclasses
import itertools
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from jaxenv.envs.lifestack.metrics import METRICS
from jaxenv.envs.lifestack.types import ABSENT, NEVER, Scenario
from jaxenv.rendering.documents import items, read

STATES = ("hidden_state", "mutable_world", "visible_world")
MUTATIONS = ("world_mutation", "hidden_state_mutation")
NOTHING = "none"  # the value of a fact that is absent


@dataclasses.dataclass(frozen=True)
class Names:
    """Lookups by the indices of the arrays.

    Attributes:
        task: the id, or empty.
        domain: what sort of crisis, or empty.
        goal: what is to be achieved, or empty.
        keys: by slot.
        values: by slot, in the order of codes from 1; empty without a document.
        routes: by slot.
        milestones: by slot.
        events: by slot.
        stories: by slot, what each event is, or empty.
    """

    task: str
    domain: str
    goal: str
    keys: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    routes: tuple[str, ...]
    milestones: tuple[str, ...]
    events: tuple[str, ...]
    stories: tuple[str, ...]

    def value(self, key: int, code: int) -> str:
        """What a code means."""
        if code == ABSENT:
            return NOTHING
        taken = self.values[key] if self.values else ()
        return taken[code - 1] if code <= len(taken) else f"value {code}"


def names_of(crisis: Scenario, document: Any = None) -> Names:
    """The names of a scenario (arrays on the host).

    Args:
        crisis: the scenario.
        document: a mapping or record with the fields of a task; what it leaves out is called by number.

    Raises:
        ValueError: where the document counts other facts, routes, milestones or events than the arrays.
    """
    num_events = int((crisis.events.step != NEVER).sum())
    routes = items(document, "viable_routes", int(crisis.num_routes))
    milestones = items(document, "milestones", int(crisis.num_milestones))
    events = items(document, "event_schedule", num_events)
    facts = _facts(document) if document is not None else {}
    num_keys = int(crisis.num_keys)
    if facts and len(facts) != num_keys:
        raise ValueError(
            f"names: the document tells of {len(facts)} facts and the scenario of {num_keys}; "
            "it is the document of another scenario"
        )
    return Names(
        task=str(read(document, "id", "")),
        domain=str(read(document, "domain", "")),
        goal=str(read(document, "goal", "")),
        keys=tuple(facts) or tuple(f"fact {slot + 1}" for slot in range(num_keys)),
        values=tuple(tuple(map(_said, taken)) for taken in facts.values()),
        routes=_called(routes, int(crisis.num_routes), "route {}", "name"),
        milestones=_called(milestones, int(crisis.num_milestones), "milestone {}", "description"),
        events=_called(events, num_events, "event {}", "id"),
        stories=tuple(str(read(event, "description", "")) for event in events or [None] * num_events),
    )


def _called(records: list[Any] | None, count: int, default: str, field: str) -> tuple[str, ...]:
    """A field, else the id, else the number."""
    numbered = [default.format(number + 1) for number in range(count)]
    pairs = zip(records or [None] * count, numbered, strict=True)
    return tuple(str(read(record, field, "") or read(record, "id", "") or number) for record, number in pairs)


def _said(value: Any) -> str:
    """A value as documents write it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _facts(document: Any) -> dict[str, list[Any]]:
    """Each key in the order of its slot, with its values in the order of their codes from 1."""
    facts: dict[str, list[Any]] = {key: [] for key in dict.fromkeys(_keys(document)) if key not in METRICS}
    seen: set[Hashable] = set()
    for key, value in _writes(document):
        if key in facts and value is not None and (token := (key, _token(value))) not in seen:
            seen.add(token)
            facts[key].append(value)
    return facts


def _keys(document: Any) -> Iterator[str]:
    """Every key, as often as it is met: first values, routes, conditions, mutations."""
    for field in STATES:
        yield from _list(document, field)
    for route in _list(document, "viable_routes"):
        yield from (*_list(route, "preconditions"), *_list(route, "consequences"))
    yield from (str(read(milestone, "condition_key", "")) for milestone in _list(document, "milestones"))
    for member in (*_list(document, "success_conditions"), *_list(document, "failure_conditions")):
        yield from (str(read(condition, "key", "")) for condition in _list(member, "any") or [member])
    for event, field in itertools.product(_list(document, "event_schedule"), MUTATIONS):
        yield from _list(event, field)


def _writes(document: Any) -> Iterator[tuple[str, Any]]:
    """Every value that a key is given."""
    written = [read(document, field, None) for field in STATES]
    written += [read(route, "consequences", None) for route in _list(document, "viable_routes")]
    written += [read(event, field, None) for event in _list(document, "event_schedule") for field in MUTATIONS]
    for facts in filter(None, written):
        yield from facts.items()


def _list(record: Any, field: str) -> Any:
    """A list or mapping that may be left out."""
    return read(record, field, None) or ()


def _token(value: Any) -> Hashable:
    """Equal for equal values: numbers compare as numbers, all others with their type."""
    if isinstance(value, list | tuple):
        return "list", *map(_token, value)
    if isinstance(value, Mapping):
        return "mapping", frozenset((key, _token(item)) for key, item in value.items())
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return "number" if is_number else type(value).__name__, value
