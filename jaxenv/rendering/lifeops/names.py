"""What the events, requests, tasks and places of a day are called: as its document says, else by number."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from jaxenv.envs.lifeops.types import ABSENT, Scenario


@dataclasses.dataclass(frozen=True)
class Names:
    """Lookups by the indices of the arrays.

    Attributes:
        scenario: the id, or empty.
        places: index of the travel matrix -> name, for the places that matter to the day.
        events: by index in the document's calendar.
        requests: in queue order.
        people: who asks, in queue order, or empty.
        tasks: in the order of work.
    """

    scenario: str
    places: Mapping[int, str]
    events: tuple[str, ...]
    requests: tuple[str, ...]
    people: tuple[str, ...]
    tasks: tuple[str, ...]

    def place(self, index: int) -> str:
        """The name of a place."""
        return self.places.get(index, f"place {index + 1}")


def names_of(day: Scenario, document: Any = None) -> Names:
    """The names of a scenario (arrays on the host).

    Args:
        day: the scenario.
        document: a mapping or record with `calendar`, `pending_requests`, `tasks` and `persona`; what it leaves out
            is called by number.

    Raises:
        ValueError: where the document counts other events, requests or tasks than the arrays.
    """
    slots = [slot for slot, start in enumerate(day.calendar.start.tolist()) if start != ABSENT]
    events = _items(document, "calendar", len(slots))
    requests = _items(document, "pending_requests", int(day.num_requests))
    num_tasks = int((day.tasks.priority > 0).sum())
    tasks = _items(document, "tasks", num_tasks)
    if tasks is not None:
        tasks = sorted(tasks, key=lambda task: (-_read(task, "priority", 2), str(_read(task, "task_id", ""))))
    return Names(
        scenario=str(_read(document, "scenario_id", "")),
        places=_places(day, document, slots, events, requests),
        events=_called(events, len(slots), "event {}", "event_id"),
        requests=_called(requests, int(day.num_requests), "request {}", "event_id"),
        people=tuple(str(_read(request, "from_person", "")) for request in requests or ()),
        tasks=_called(tasks, num_tasks, "task {}", "task_id"),
    )


def _places(day: Scenario, document: Any, slots: list[int], events: Any, requests: Any) -> dict[int, str]:
    """Places as the document calls those of its events, requests and person."""
    persona = _read(document, "persona", None)
    places = {int(day.persona.work_place): str(_read(persona, "primary_work_location", "work"))}
    places[int(day.persona.home)] = str(_read(persona, "home_location", "home"))
    for slot in slots if events else ():
        places[int(day.calendar.place[slot])] = str(_read(events[int(day.source[slot])], "location", ""))
    for index, request in enumerate(requests or ()):
        places[int(day.requests.place[index])] = str(_read(request, "location", ""))
    return {index: name for index, name in places.items() if name}


def _called(items: list[Any] | None, count: int, default: str, id_field: str) -> tuple[str, ...]:
    """Title, else id, else number."""
    numbered = [default.format(number + 1) for number in range(count)]
    if items is None:
        return tuple(numbered)
    named = zip(items, numbered, strict=True)
    return tuple(str(_read(item, "title", "") or _read(item, id_field, "") or number) for item, number in named)


def _items(document: Any, field: str, expected: int) -> list[Any] | None:
    """A list of the document, None where it has none."""
    found = _read(document, field, None)
    if found is None:
        return None
    if len(found) != expected:
        raise ValueError(
            f"names: the document has {len(found)} entries in {field} and the scenario {expected}; "
            "it is the document of another scenario"
        )
    return list(found)


def _read(record: Any, field: str, default: Any) -> Any:
    """A field of a mapping or of any other record."""
    if isinstance(record, Mapping):
        return record.get(field, default)
    return getattr(record, field, default)
