"""Names of the parts of a day, for pictures and text."""

from collections.abc import Sequence
from typing import Any

from scenarios.lifeops.compiler import task_order
from scenarios.lifeops.document import Day


def names(day: Day, documents: Sequence[Day] = ()) -> dict[str, Any]:
    """The fields of `jaxenv.envs.lifeops.view.names.Names`: titles, otherwise ids.

    >>> import scenarios
    >>> day = scenarios.load("lifeops/s1_basic_conflict").documents[0]
    >>> names(day)["requests"], names(day)["people"]
    (('Escalation with the customer',), ('Nadia (sales)',))

    Args:
        day: the document.
        documents: all those of its bank, which share no names.
    """
    del documents
    persona, tasks = day.persona, [day.tasks[number] for number in task_order(day)]
    used = {persona.home_location, persona.primary_work_location}
    used |= {event.location for event in (*day.calendar, *day.pending_requests)}
    return {
        "scenario": day.scenario_id,
        "places": {index: place for index, place in enumerate(day.places) if place in used},
        "events": tuple(event.title or event.event_id for event in day.calendar),
        "requests": tuple(request.title or request.event_id for request in day.pending_requests),
        "people": tuple(request.from_person for request in day.pending_requests),
        "tasks": tuple(task.title or task.task_id for task in tasks),
    }
