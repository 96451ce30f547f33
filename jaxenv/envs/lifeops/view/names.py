"""Names of the events, requests, tasks and places of a day."""

import dataclasses
from collections.abc import Mapping

from jaxenv.envs.lifeops.types import ABSENT, Scenario
from jaxenv.rendering.names import Given, numbered, with_defaults


@dataclasses.dataclass(frozen=True)
class Names:
    """Names by the indices of the arrays.

    Attributes:
        scenario: the id, or empty.
        places: index of the travel matrix -> name; home and work have defaults.
        events: by index in the document's calendar.
        requests: in queue order.
        people: who asks, in queue order, or empty.
        tasks: in the order of work.
    """

    places: Mapping[int, str]
    events: tuple[str, ...]
    requests: tuple[str, ...]
    people: tuple[str, ...]
    tasks: tuple[str, ...]
    scenario: str = ""

    def place(self, index: int) -> str:
        """The name of a place."""
        return self.places.get(index, f"place {index + 1}")


def names_of(day: Scenario, given: Given) -> Names:
    """The names of a scenario (arrays on the host), by number if they are not given.

    Raises:
        ValueError: if other events, requests or tasks are given than the scenario has.
    """
    requests = int(day.num_requests)
    return with_defaults(
        Names,
        given,
        places={int(day.persona.work_place): "work", int(day.persona.home): "home"},
        events=numbered("event", int((day.calendar.start != ABSENT).sum())),
        requests=numbered("request", requests),
        people=("",) * requests,
        tasks=numbered("task", int((day.tasks.priority > 0).sum())),
    )
