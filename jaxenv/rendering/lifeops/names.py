"""What the events, requests, tasks and places of a day are called: as its document says, else by number."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from jaxenv.envs.lifeops.types import ABSENT, Scenario
from jaxenv.rendering.documents import items, read


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
    events = items(document, "calendar", len(slots))
    requests = items(document, "pending_requests", int(day.num_requests))
    num_tasks = int((day.tasks.priority > 0).sum())
    tasks = items(document, "tasks", num_tasks)
    if tasks is not None:
        tasks = sorted(tasks, key=lambda task: (-read(task, "priority", 2), str(read(task, "task_id", ""))))
    return Names(
        scenario=str(read(document, "scenario_id", "")),
        places=_places(day, document, slots, events, requests),
        events=_called(events, len(slots), "event {}", "event_id"),
        requests=_called(requests, int(day.num_requests), "request {}", "event_id"),
        people=tuple(str(read(request, "from_person", "")) for request in requests or ()),
        tasks=_called(tasks, num_tasks, "task {}", "task_id"),
    )


def _places(day: Scenario, document: Any, slots: list[int], events: Any, requests: Any) -> dict[int, str]:
    """Places as the document calls those of its events, requests and person."""
    persona = read(document, "persona", None)
    places = {int(day.persona.work_place): str(read(persona, "primary_work_location", "work"))}
    places[int(day.persona.home)] = str(read(persona, "home_location", "home"))
    for slot in slots if events else ():
        places[int(day.calendar.place[slot])] = str(read(events[int(day.source[slot])], "location", ""))
    for index, request in enumerate(requests or ()):
        places[int(day.requests.place[index])] = str(read(request, "location", ""))
    return {index: name for index, name in places.items() if name}


def _called(records: list[Any] | None, count: int, default: str, id_field: str) -> tuple[str, ...]:
    """Title, else id, else number."""
    numbered = [default.format(number + 1) for number in range(count)]
    if records is None:
        return tuple(numbered)
    named = zip(records, numbered, strict=True)
    return tuple(str(read(item, "title", "") or read(item, id_field, "") or number) for item, number in named)
