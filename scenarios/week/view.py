"""A state of Week in the words of its document: names, the actions of the catalogue, and the observation."""

from collections.abc import Callable, Sequence
from typing import Any

from jaxenv.envs.week.actions import VERBS
from jaxenv.envs.week.view import shown
from jaxenv.envs.week.view.snapshot import observed
from jaxenv.envs.week.view.words import clock, end
from jaxenv.envs.week.view.words import moment as when
from scenarios.document_format import Moment
from scenarios.week.document import SLOT, Action, Week


def names(week: Week, documents: Sequence[Week] = ()) -> dict[str, Any]:
    """The fields of `jaxenv.envs.week.view.Names`: names or questions, otherwise ids.

    Args:
        week: the document.
        documents: all those of its bank, which share no names.
    """
    projects = {job.id: project.name or project.id for project in week.projects for job in project.jobs}
    return {
        "title": week.title or week.id,
        "places": {n: place.name or place.id for n, place in enumerate(week.places)},
        "channels": {n: channel.name or channel.id for n, channel in enumerate(week.channels)},
        "events": tuple(meeting.name or meeting.id for meeting in week.meetings),
        "jobs": tuple(job.name or job.id for job in week.jobs),
        "projects": tuple(projects.get(job.id, "") for job in week.jobs),
        "facts": {n: fact.asks or fact.id for n, fact in enumerate(week.all_facts)},
        "answers": {n: fact.answers for n, fact in enumerate(week.all_facts) if fact.answers},
        "posts": {
            (channel, place): (post.by, post.says)
            for channel, record in enumerate(week.channels)
            for place, post in enumerate(week.posts_in(record))
        },
    }


def actions(moment: Moment) -> list[dict[str, Any]]:
    """Each entry of the catalogue as a document action; a slot that the week leaves empty gets a placeholder."""
    week, head = moment.document, _shown(moment).head
    targets = {
        "go": [place.id for place in week.places],
        "work": [job.id for job in week.jobs],
        "open": [channel.id for channel in week.channels],
        "reply": list(head.answers) if head else [],
    }
    found = []
    for verb, number in moment.env.catalogue.table.tolist():
        name = VERBS[verb].name
        among = targets.get(name)
        target = None if among is None else among[number] if number < len(among) else f"({name} {number + 1})"
        found.append(Action(action_type=name, target=target).model_dump())
    return found


def observation(moment: Moment) -> dict[str, Any]:
    """The agent's observation: what of `jaxenv.envs.week.view.ShownWeek` is observed, with times and minutes in words.

    So there is no truth and nothing to come, and nothing of what is over.
    """
    words = {"scenario_id": moment.document.id} | _in_words(observed(_shown(moment)))
    return {name: words[name] for name in words if name != "points"}


def _in_words(value: Any) -> Any:
    """Records as mappings, with what their fields measure in words."""
    if hasattr(value, "_asdict"):
        return {name: MEASURES.get(name, _in_words)(found) for name, found in value._asdict().items()}
    return [_in_words(item) for item in value] if isinstance(value, tuple) else value


def _minutes(slots: int) -> int:
    return SLOT * slots


MEASURES: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("travel_left", "attended", "length", "progress", "age"), _minutes),
    **dict.fromkeys(("time", "start", "first"), when),
    **dict.fromkeys(("end", "due", "waits"), lambda slot: end(slot) if slot else None),
    "hours": lambda hours: [clock(slot) for slot in hours],
    "distances": lambda distances: {name: _minutes(slots) for name, slots in distances.items()},
}
"""Field of the snapshot -> its value in words."""


def _shown(moment: Moment) -> Any:
    return shown(moment.env, moment.state, moment.params, moment.names)
