"""What the fields of a day do not show one by one: ids that stand twice, capacities, a day that is over at once."""

import re
from collections.abc import Iterator

from jaxenv.envs.lifeops.types import Limits
from scenarios.errors import Path, Problem
from scenarios.lifeops.document import UNKNOWN_WAY, Day

FOCUS_ID = re.compile(r"focus_\d+")  # what a day names its focus blocks


def problems(day: Day, limits: Limits) -> list[Problem]:
    """Why a day cannot be compiled; empty where it can."""
    return [*_repeated_ids(day), *_over_capacity(day, limits), *_over_at_once(day)]


def warnings(day: Day) -> list[Problem]:
    """What is allowed but seldom meant."""
    return [*_unmapped_places(day), *_focus_ids(day)]


def _repeated_ids(day: Day) -> Iterator[Problem]:
    """Events and requests share their ids, since a request becomes an event."""
    events = [(("calendar", n), event.event_id) for n, event in enumerate(day.calendar)]
    events += [(("pending_requests", n), request.event_id) for n, request in enumerate(day.pending_requests)]
    tasks = [(("tasks", n), task.task_id) for n, task in enumerate(day.tasks)]
    for field, records in (("event_id", events), ("task_id", tasks)):
        first: dict[str, Path] = {}
        for path, said in records:
            if said in first:
                owner, number = first[said]
                text = f"{field} {said!r} stands twice, first in {owner} item {int(number) + 1}."
                yield Problem((*path, field), text)
            first.setdefault(said, path)


def _over_capacity(day: Day, limits: Limits) -> Iterator[Problem]:
    """Tables that are longer than the arrays."""
    slots = len(day.calendar) + day.step_limit
    if slots > limits.events:
        counts = f"{len(day.calendar)} events and room for one more in each of {day.step_limit} steps"
        yield Problem(("calendar",), _too_many(counts, "events", slots, limits.events))
    tables = (
        ("pending_requests", "requests", len(day.pending_requests), limits.requests),
        ("tasks", "tasks", len(day.tasks), limits.tasks),
        ("travel_times", "places", len(day.places), limits.places),
    )
    for field, what, count, capacity in tables:
        if count > capacity:
            yield Problem((field,), _too_many(f"{count} {what}", what, count, capacity))


def _too_many(counts: str, what: str, needed: int, capacity: int) -> str:
    """How to raise a capacity."""
    limits = f"Limits({what}={needed})"
    return (
        f"{counts} need {needed}, the capacity is {capacity} {what}. To raise it, pass "
        f"limits=jaxenv.envs.lifeops.{limits} here and to jaxenv.make."
    )


def _over_at_once(day: Day) -> Iterator[Problem]:
    """A day with nothing to decide."""
    if not day.pending_requests and not any(task.remaining_minutes for task in day.tasks):
        yield Problem(
            (),
            "the day is over before its first step: found no pending request and no task with "
            "minutes left, expected at least one of them.",
        )


def _unmapped_places(day: Day) -> Iterator[Problem]:
    """Places that stand neither as a row nor in a row of the travel times, each where it is first met."""
    mapped = {*day.travel_times, *(place for row in day.travel_times.values() for place in row)}
    met: dict[str, Path] = {}
    for field in ("home_location", "primary_work_location"):
        met.setdefault(getattr(day.persona, field), ("persona", field))
    for field in ("calendar", "pending_requests"):
        for number, event in enumerate(day[field]):
            met.setdefault(event.location, (field, number, "location"))
    for place, path in met.items():
        if place not in mapped:
            text = f"{place!r} stands nowhere in travel_times, so every way there costs {UNKNOWN_WAY} minutes."
            yield Problem(path, text)


def _focus_ids(day: Day) -> Iterator[Problem]:
    """Ids that a focus block may get too."""
    for field in ("calendar", "pending_requests"):
        for number, event in enumerate(day[field]):
            if FOCUS_ID.fullmatch(event.event_id):
                text = f"{event.event_id!r} may also become the id of a focus block (focus_<step>)."
                yield Problem((field, number, "event_id"), text)
