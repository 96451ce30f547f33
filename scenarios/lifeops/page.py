"""A day as a page of text."""

from collections.abc import Iterable

from scenarios.lifeops.clock import clock
from scenarios.lifeops.compiler import task_order
from scenarios.lifeops.document import Day, Event, Persona, Request
from scenarios.writing import aligned, as_page


def page(day: Day, name: str = "") -> str:
    """Everything in a document, with times as on a clock; `name` is for a day without an id."""
    facts = [day.scenario_id or name or "a day", day.day_of_week or "", ", ".join(day.tags)]
    title = " · ".join([*filter(None, facts), f"at most {day.step_limit} steps"])
    sections = {
        "Calendar": aligned(_event_row(event) for event in day.calendar),
        "Requests, first come": aligned(map(_request_row, day.pending_requests)),
        "Tasks, in the order of work": aligned(_task_rows(day)),
        "Travel in minutes, from row to column": aligned(_travel_rows(day)),
    }
    return as_page(title, _persona_lines(day.persona), sections)


def _persona_lines(persona: Persona) -> list[str]:
    """The persona and its preferences."""
    earliest, latest = persona.preferred_meeting_window
    wishes = [f"likes meetings between {clock(earliest)} and {clock(latest)}"]
    if persona.avoid_meetings_before_min is not None:
        wishes.append(f"none before {clock(persona.avoid_meetings_before_min)}")
    if persona.avoid_meetings_after_min is not None:
        wishes.append(f"none after {clock(persona.avoid_meetings_after_min)}")
    return [
        f"{persona.name or persona.persona_id}: lives at {persona.home_location}, "
        f"works at {persona.primary_work_location}",
        ", ".join(wishes),
        f"weights: preference {persona.preference_weight:g}, "
        f"travel {persona.travel_aversion_weight:g}, focus {persona.focus_time_weight:g}",
    ]


def _event_row(event: Event) -> list[str]:
    """Columns of an event."""
    times = f"{clock(event.start_min):>5}–{clock(event.end_min)}"
    importance = f"importance {event.importance}"
    return [times, event.event_id, event.location, event.kind, importance, event.title]


def _request_row(request: Request) -> list[str]:
    """Columns of a request."""
    *columns, title = _event_row(request)
    text = " from ".join(filter(None, [title, request.from_person]))
    return [*columns, "flexible" if request.flexible else "inflexible", text]


def _task_rows(day: Day) -> Iterable[list[str]]:
    """Columns of the tasks."""
    for index in task_order(day):
        task = day.tasks[index]
        due = {None: "", 0: "due today", 1: "due tomorrow"}
        yield [
            task.task_id,
            f"{task.remaining_minutes} min",
            f"priority {task.priority}",
            due.get(task.due_in_days, f"due in {task.due_in_days} days"),
            task.title,
        ]


def _travel_rows(day: Day) -> Iterable[list[str]]:
    """All trips between places, including those that the document leaves out."""
    yield ["", *day.places]
    for origin in day.places:
        yield [origin, *(str(day.minutes_between(origin, target)) for target in day.places)]
