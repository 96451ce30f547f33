"""A day as lines of plain text."""

from jaxenv.rendering.lifeops.day import Day, Entry, Leg, Work, clock
from jaxenv.rendering.tables import sections, table

MOST_LINES = 8  # of conflicts or legs; a badly overbooked day has many
BAR = 10  # characters
MARK = "+"  # before an event that was booked in this episode


def title(day: Day) -> str:
    """Which day it is."""
    return " · ".join(filter(None, [day.scenario, day.weekday]))


def moment(day: Day) -> str:
    """How far it has come."""
    return f"step {day.clock} of {day.max_steps}"


def body(day: Day) -> str:
    """Wishes, calendar, what is wrong with it, queue and work."""
    parts = {
        "Calendar": table(_event_row(entry) for entry in day.calendar) or ["nothing"],
        f"Conflicts: {len(day.conflicts)}": _limited([_conflict_line(*pair) for pair in day.conflicts]),
        f"Too little time on the way: {len(day.tight_legs)}": _limited(list(map(_leg_line, day.tight_legs))),
        "Requests": [*table(map(_request_row, day.queue)), *_hidden(day)] or ["none"],
        "Work": table(map(_task_row, day.tasks)) or ["none"],
    }
    return "\n".join([wishes(day), *sections(parts)])


def wishes(day: Day) -> str:
    """When the person likes to meet."""
    said = [f"Meetings preferably {clock(day.window[0])}–{clock(day.window[1])}"]
    said += [f"none before {clock(day.avoid_before)}"] if day.avoid_before is not None else []
    said += [f"none after {clock(day.avoid_after)}"] if day.avoid_after is not None else []
    return ", ".join(said)


def times(entry: Entry) -> str:
    """From when to when."""
    return f"{clock(entry.start)}–{clock(entry.end)}"


def due(work: Work) -> str:
    """When a task is due, empty where no day is set."""
    if work.due_days is None:
        return ""
    return {0: "due today", 1: "due tomorrow"}.get(work.due_days, f"due in {work.due_days} days")


def _event_row(entry: Entry) -> list[str]:
    start = f"{clock(entry.start):>5}–{clock(entry.end)}"
    return [MARK if entry.added else " ", start, entry.name, entry.place, entry.kind, f"importance {entry.importance}"]


def _request_row(entry: Entry) -> list[str]:
    _, *columns = _event_row(entry)
    return [*columns, "" if entry.flexible else "inflexible", entry.person and f"from {entry.person}"]


def _task_row(work: Work) -> list[str]:
    left = -(-BAR * work.left // max(work.total, 1))  # rounded up: no bar is empty before the work is done
    bar = "█" * left + "░" * (BAR - left)
    return [bar, f"{work.left} of {work.total} min", work.name, f"priority {work.priority}", due(work)]


def _hidden(day: Day) -> list[str]:
    return [f"and {day.hidden} more, hidden"] if day.hidden else []


def _conflict_line(a: Entry, b: Entry) -> str:
    return f"{clock(max(a.start, b.start))}–{clock(min(a.end, b.end))}  {a.name} × {b.name}"


def _leg_line(leg: Leg) -> str:
    return f"{leg.origin} → {leg.target}: {leg.needed} min needed, {leg.available} there before {clock(leg.arrives)}"


def _limited(lines: list[str]) -> list[str]:
    """The first lines, and how many there are beside them."""
    if len(lines) <= MOST_LINES:
        return lines
    return [*lines[:MOST_LINES], f"and {len(lines) - MOST_LINES} more"]
