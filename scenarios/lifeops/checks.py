"""Checks of a day beyond its single fields: repeated ids, capacities, a day without decisions."""

import functools
from collections.abc import Iterable, Iterator

from jaxenv.envs.lifeops.types import Limits
from jaxenv.host.names import did_you_mean
from scenarios.document_format import over_capacity, repeated
from scenarios.lifeops.document import DEFAULT_TRIP, Day, Event
from scenarios.text.errors import Path, Problem, named


def problems(day: Day, limits: Limits) -> list[Problem]:
    """Why a day cannot be compiled; empty if it can."""
    return list(_over_capacity(day, limits)) or [*_repeated_ids(day), *_nothing_to_decide(day)]


def _repeated_ids(day: Day) -> Iterator[Problem]:
    """Events and requests share their ids, since a request becomes an event."""
    yield from repeated(((path, event.event_id) for path, event in _events(day)), "event_id")
    yield from repeated(((path, task.task_id) for path, task in day.placed("tasks")), "task_id")


def _events(day: Day) -> Iterator[tuple[Path, Event]]:
    """Events and requests, and where they are."""
    yield from (*day.placed("calendar"), *day.placed("pending_requests"))


def _over_capacity(day: Day, limits: Limits) -> Iterator[Problem]:
    """Tables that are longer than the arrays."""
    slots = len(day.calendar) + day.step_limit
    counts = f"{len(day.calendar)} events and room for one more in each of {day.step_limit} steps"
    yield from over_capacity(("calendar",), "events", slots, limits, counts)
    yield from over_capacity(("pending_requests",), "requests", len(day.pending_requests), limits)
    yield from over_capacity(("tasks",), "tasks", len(day.tasks), limits)
    yield from over_capacity(("travel_times",), "places", len(day.places), limits)


def _nothing_to_decide(day: Day) -> Iterator[Problem]:
    """A day with nothing to decide."""
    if not day.pending_requests and not any(task.remaining_minutes for task in day.tasks):
        yield Problem((), "the day is over before its first step: expected a request or a task with minutes left.")


def warnings(day: Day) -> list[Problem]:
    """Remarks on allowed but rarely intended contents.

    They are about places that are neither a row nor a column of the travel times, each where it is first used.
    """
    mapped = dict.fromkeys([*day.travel_times, *(place for row in day.travel_times.values() for place in row)])
    used: dict[str, Path] = {}
    for field in ("home_location", "primary_work_location"):
        used.setdefault(day.persona[field], ("persona", field))
    for path, event in _events(day):
        used.setdefault(event.location, (*path, "location"))
    unmapped = ((place, path) for place, path in used.items() if place not in mapped)
    return [Problem(path, functools.partial(_unmapped, place, mapped)) for place, path in unmapped]


def _unmapped(place: str, mapped: Iterable[str]) -> str:
    """The remark on a place that has no travel times; with the nearest one that has."""
    text = f"{named(place)} is missing from travel_times; trips there default to {DEFAULT_TRIP} minutes."
    return text + did_you_mean(place, mapped)
