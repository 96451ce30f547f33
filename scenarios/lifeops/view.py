"""A state of LifeOps in the words of its document: names, the actions of the catalogue, and the observation."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxenv.envs.lifeops import State
from jaxenv.envs.lifeops.actions import ACTION_TYPES, BLOCK_FOCUS, VERBS
from jaxenv.envs.lifeops.dynamics import origin_of
from jaxenv.envs.lifeops.types import ABSENT, DAY_END, KINDS, VISIBLE_REQUESTS
from jaxenv.envs.lifeops.view import moves_of
from scenarios.document_format import Moment
from scenarios.lifeops.compiler import task_order
from scenarios.lifeops.document import Action, Day

FOCUS_TITLE = "Focus time"


def names(day: Day, documents: Sequence[Day] = ()) -> dict[str, Any]:
    """The fields of `jaxenv.envs.lifeops.view.Names`: titles, otherwise ids.

    >>> import scenarios
    >>> day = scenarios.load("lifeops/s1_basic_conflict").documents[0]
    >>> names(day)["requests"], names(day)["people"]
    (('Escalation with the customer',), ('Nadia (sales)',))

    Args:
        day: the document.
        documents: all those of its bank, which share no names.
    """
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


def actions(moment: Moment) -> list[dict[str, Any]]:
    """Each entry of the catalogue as a document action."""
    waiting = moment.document.pending_requests[int(moment.state.handled) :]
    request = waiting[0] if waiting else None
    moves = moves_of(moment.env, moment.state, moment.params)
    columns = (moves.verb, moves.event.start, moves.event.end, moves.duration)
    found = []
    for verb, start, end, duration in zip(*(c.tolist() for c in columns), strict=True):
        moved, focus = VERBS[verb].moves and request is not None, not VERBS[verb].handles
        action = Action(
            action_type=ACTION_TYPES[verb],
            request_id=request.event_id if request and not focus else None,
            new_start_min=start if moved or focus else None,
            new_end_min=end if moved else None,
            duration_min=duration if focus else None,
        )
        found.append(action.model_dump())
    return found


def normalize_action(action: Action, _: Moment) -> dict[str, Any]:
    """The action as the catalogue writes it: the end of a focus block follows from its duration and is null."""
    found, start, duration = action.model_dump(), action.new_start_min, action.duration_min
    is_focus = action.action_type == ACTION_TYPES[BLOCK_FOCUS]
    if is_focus and start is not None and duration is not None and action.new_end_min == min(start + duration, DAY_END):
        found["new_end_min"] = None
    return found


def observation(moment: Moment) -> dict[str, Any]:
    """The agent's observation; requests after the third are hidden."""
    day, state = moment.document, moment.state
    waiting = [request.model_dump() for request in day.pending_requests[int(state.handled) :]]
    return {
        "scenario_id": day.scenario_id,
        "persona": day.persona.model_dump(mode="json"),
        "calendar": _calendar(day, state),
        "tasks": _tasks(day, state),
        "current_request": waiting[0] if waiting else None,
        "pending_request_count": len(waiting),
        "travel_times": {place: dict(row) for place, row in day.travel_times.items()},
        "step_count": int(state.clock),
        "max_steps": day.step_limit,
        "day_of_week": day.day_of_week,
        "upcoming_requests_preview": waiting[1:VISIBLE_REQUESTS],
    }


def _calendar(day: Day, state: State) -> list[dict[str, Any]]:
    """The events: those of the document, then those added, in the order in which they were added."""
    present = np.flatnonzero(state.calendar.start != ABSENT)
    return [_event(day, state, slot) for slot in present[np.argsort(state.source[present], kind="stable")].tolist()]


def _event(day: Day, state: State, slot: int) -> dict[str, Any]:
    """An event of the document at its present times, or a focus block, which is named after the step that booked it."""
    origin, number = origin_of(state, slot)
    times = {"start_min": int(state.calendar.start[slot]), "end_min": int(state.calendar.end[slot])}
    if origin == "focus":
        return {
            "event_id": f"focus_{number}",
            "title": FOCUS_TITLE,
            **times,
            "location": day.persona.primary_work_location,
            "importance": int(state.calendar.importance[slot]),
            "kind": KINDS[state.calendar.kind[slot]],
        }
    events = day.calendar if origin == "event" else day.pending_requests
    return events[number].model_dump() | times


def _tasks(day: Day, state: State) -> list[dict[str, Any]]:
    """The tasks in the order of the document, finished ones too, with their remaining minutes."""
    left = dict(zip(task_order(day), state.minutes_left.tolist(), strict=False))
    return [task.model_dump() | {"remaining_minutes": left[number]} for number, task in enumerate(day.tasks)]
