"""A day, and an action, as plain text."""

from jaxenv.envs.lifeops.actions import VERBS
from jaxenv.envs.lifeops.view.snapshot import Leg, Names, ShownDay, ShownEvent, Task
from jaxenv.rendering.text import bar, clock, joined, sections, table

MAX_LINES = 8  # of conflicts or legs; a badly overbooked day has many
BAR = 10  # characters
MARK = "+"  # before an event that was booked in this episode


def title(day: ShownDay) -> str:
    """Which day it is."""
    return joined(day.scenario, day.weekday)


def moment(day: ShownDay) -> str:
    """How far the day has come."""
    return f"step {day.clock} of {day.max_steps}"


def body(day: ShownDay) -> str:
    """Preferences, calendar, conflicts and travel issues, queue, work and travel."""
    tight = [_leg_line(leg) for leg in day.legs if leg.tight]
    parts = {
        "Calendar": table(map(_event_row, day.calendar)) or ["nothing"],
        f"Conflicts: {len(day.conflicts)}": _limited([_conflict_line(*pair) for pair in day.conflicts]),
        f"Too little time on the way: {len(tight)}": _limited(tight),
        "Requests": [*table(map(_request_row, day.queue)), *filter(None, [hidden(day)])] or ["none"],
        "Work": table(map(_task_row, day.tasks)) or ["none"],
        f"Travel in minutes, from row to column; the day begins at {day.places[0]}": table(_travel_rows(day)),
    }
    return "\n".join([_preferences(day), *sections(parts)])


def describe_action(verb: int, start: int, end: int, handled: int, names: Names) -> str:
    """An action and the times that it gives to its event, while the request number `handled` is the current one."""
    request = names.requests[handled] if handled < len(names.requests) else "no request"
    return VERBS[verb].phrase.format(request=request, start=clock(start), end=clock(end))


def times(event: ShownEvent) -> str:
    """From when to when."""
    return f"{clock(event.start)}–{clock(event.end)}"


def due(task: Task) -> str:
    """When a task is due; empty if no day is set."""
    if task.due_days is None:
        return ""
    return {0: "due today", 1: "due tomorrow"}.get(task.due_days, f"due in {task.due_days} days")


def hidden(day: ShownDay) -> str:
    """How many requests wait behind the visible ones."""
    return f"and {day.hidden} more, hidden" if day.hidden else ""


def _preferences(day: ShownDay) -> str:
    """When the person likes to meet."""
    parts = [f"Meetings preferably {clock(day.window[0])}–{clock(day.window[1])}"]
    return ", ".join([*parts, *(f"none {word} {clock(limit)}" for word, limit in day.limits.items())])


def _event_row(event: ShownEvent) -> list[str]:
    start = f"{clock(event.start):>5}–{clock(event.end)}"
    return [MARK if event.added else " ", start, event.name, event.place, event.kind, f"importance {event.importance}"]


def _request_row(event: ShownEvent) -> list[str]:
    _, *columns = _event_row(event)
    return [*columns, "" if event.flexible else "inflexible", event.person and f"from {event.person}"]


def _task_row(task: Task) -> list[str]:
    left = f"{task.left} of {task.total} min"
    return [bar(task.left, max(task.total, 1), BAR), left, task.name, f"priority {task.priority}", due(task)]


def _travel_rows(day: ShownDay) -> list[list[str]]:
    return [["", *day.places], *([place, *map(str, row)] for place, row in zip(day.places, day.travel, strict=True))]


def _conflict_line(a: ShownEvent, b: ShownEvent) -> str:
    return f"{clock(max(a.start, b.start))}–{clock(min(a.end, b.end))}  {a.name} × {b.name}"


def _leg_line(leg: Leg) -> str:
    return f"{leg.origin} → {leg.target}: {leg.needed} min needed, {leg.available} there before {clock(leg.arrives)}"


def _limited(lines: list[str]) -> list[str]:
    """The first lines, and how many more there are."""
    rest = len(lines) - MAX_LINES
    return lines if rest <= 0 else [*lines[:MAX_LINES], f"and {rest} more"]
