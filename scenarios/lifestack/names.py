"""Names of the parts of a crisis, for pictures and text."""

from collections.abc import Sequence
from typing import Any

from scenarios.lifestack.document import Task
from scenarios.lifestack.facts import Facts


def names(task: Task, documents: Sequence[Task] = ()) -> dict[str, Any]:
    """The fields of `jaxenv.envs.lifestack.view.names.Names`: names or descriptions, otherwise ids.

    >>> import scenarios
    >>> task = scenarios.load("lifestack/exam_resit").documents[0]
    >>> names(task)["milestones"][0]
    'The mock exam went well.'

    Args:
        task: the document.
        documents: all those of its bank, which share no names.
    """
    del documents
    values = Facts.of(task).values
    return {
        "task": task.id,
        "domain": task.domain,
        "goal": task.goal,
        "keys": tuple(values),
        "values": tuple(tuple(map(_text, taken)) for taken in values.values()),
        "routes": tuple(route.name or route.id for route in task.viable_routes),
        "milestones": tuple(milestone.description or milestone.id for milestone in task.milestones),
        "events": tuple(event.id for event in task.event_schedule),
        "stories": tuple(event.description for event in task.event_schedule),
    }


def _text(value: Any) -> str:
    """A value as documents write it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
