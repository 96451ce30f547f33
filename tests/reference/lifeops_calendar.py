"""Calendars and tasks of a day: overlaps, travel issues, preferences, and what work is left."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from reference.lifeops_rules import BLOCKED_HOURS, DEFAULT_TRAVEL, MEETING_LIKE, START, Matrix, Record

# ------------------------------------------------------------------ calendars: overlap and travel


def overlaps(a: Record, b: Record) -> bool:
    """Whether two events share time; touching is fine."""
    return a["start_min"] < b["end_min"] and b["start_min"] < a["end_min"]


def overlap_pairs(events: Sequence[Record]) -> list[tuple[str, str]]:
    """The ids of every unordered pair of overlapping events, in calendar order."""
    return [
        (a["event_id"], b["event_id"])
        for position, a in enumerate(events)
        for b in events[position + 1 :]
        if overlaps(a, b)
    ]


def travel_minutes(travel_times: Matrix, origin: str, target: str) -> int:
    """Minutes from one place to another: 0 at the same place, 30 where the matrix is silent."""
    if origin == target:
        return 0
    return travel_times.get(origin, {}).get(target, DEFAULT_TRAVEL)


def travel_issues(
    events: Sequence[Record],
    travel_times: Matrix,
    start_location: str | None,
    departure_min: int = 0,
) -> list[tuple[str, str, int, int]]:
    """Legs of the day that need more minutes than there are: (from, to, needed, available).

    The first leg starts from `start_location` (None: there is no first leg). Python's sort is
    stable, so events with the same start and end keep their calendar order.
    """
    day = sorted(events, key=lambda event: (event["start_min"], event["end_min"]))
    issues = []
    if day and start_location is not None:
        first = day[0]
        needed = travel_minutes(travel_times, start_location, first["location"])
        available = max(0, first["start_min"] - departure_min)
        if needed > available:
            issues.append((START, first["event_id"], needed, available))
    for before, after in pairwise(day):
        needed = travel_minutes(travel_times, before["location"], after["location"])
        gap = after["start_min"] - before["end_min"]
        if gap >= 0 and needed > gap:
            issues.append((before["event_id"], after["event_id"], needed, gap))
    return issues


def in_blocked_hours(event: Record) -> bool:
    """Whether a meeting-like event reaches into the hours that the feasible mask keeps free."""
    if event["kind"] not in MEETING_LIKE:
        return False
    return any(event["start_min"] < end and start < event["end_min"] for start, end in BLOCKED_HOURS)


def preference_units(event: Record, persona: Record) -> int:
    """How many of the persona's wishes about meeting times an event breaks, unweighted."""
    window_start, window_end = persona["preferred_meeting_window"]
    before = persona["avoid_meetings_before_min"]
    after = persona["avoid_meetings_after_min"]
    outside = event["start_min"] < window_start or event["end_min"] > window_end
    early = before is not None and event["start_min"] < before
    late = after is not None and event["end_min"] > after
    return int(outside) + int(early) + int(late)


# ------------------------------------------------------------------------------------------ tasks


def minutes_left(tasks: Sequence[Record]) -> int:
    """Unfinished minutes over all tasks."""
    return sum(task["remaining_minutes"] for task in tasks)


def pressing_minutes(tasks: Sequence[Record]) -> int:
    """Unfinished minutes over the tasks that are due today or tomorrow."""
    return sum(
        task["remaining_minutes"] for task in tasks if task["due_in_days"] is not None and task["due_in_days"] <= 1
    )


def current_task(tasks: Sequence[Record]) -> Record | None:
    """The unfinished task that a focus block works on: highest priority, then smallest id."""
    unfinished = [task for task in tasks if task["remaining_minutes"] > 0]
    return min(unfinished, key=lambda task: (-task["priority"], task["task_id"]), default=None)
