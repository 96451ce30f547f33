"""Weeks to arrays: Week documents as `jaxenv` scenarios."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from jaxenv.core.fields import padding
from jaxenv.envs.week.types import CHAT, KINDS, NEVER, NONE, Limits, Scenario
from scenarios.document_format import columns, put, refuse
from scenarios.week import checks
from scenarios.week.document import SLOT, Fact, Job, Meeting, Week


def compile(week: Week, limits: Limits = Limits()) -> Scenario:
    """The arrays of a week, as NumPy arrays.

    Raises:
        ScenarioError: if the week does not fit into the limits, or if `checks.problems` finds something else.
    """
    refuse(checks.problems(week, limits))
    empty, places = padding(Scenario, limits.sizes), _numbers(week.places)
    return put(
        empty,
        travel=[[week.way(a, b) // SLOT for b in week.places] for a in week.places],
        jobs=put(empty.jobs, **columns(list(_jobs(week, places)))),
        events=put(empty.events, **columns([_event(meeting, places) for meeting in week.meetings])),
        facts=put(empty.facts, **columns([_fact(fact) for fact in week.all_facts])),
        posts=_posts(empty.posts, week),
    )


def groups_of(scenarios: Scenario) -> dict[str, int]:
    """The capacity of groups: the default or as many as scenarios have, but no more than facts."""
    groups = max(Limits().groups, int(np.max(scenarios.jobs.group)) + 1)
    return {"G": min(groups, scenarios.facts.first.shape[-1])}


def _numbers(records: Sequence[Any]) -> dict[str | None, int]:
    """Id -> number, NONE of None."""
    return {None: NONE} | {record.id: number for number, record in enumerate(records)}


def _work(record: Meeting | Job, places: Mapping[str | None, int]) -> dict[str, int]:
    """What the rows of meetings and jobs have alike."""
    points = round(100 * record.points)
    return {"length": record.minutes // SLOT, "place": places[record.place], "points": points}


def _event(meeting: Meeting, places: Mapping[str | None, int]) -> dict[str, int]:
    """The row of a meeting."""
    return _work(meeting, places) | {"start": meeting.at, "promised": meeting.promised}


def _jobs(week: Week, places: Mapping[str | None, int]) -> Iterator[dict[str, Any]]:
    """The rows of the jobs."""
    steps, facts = _numbers(week.steps), _numbers(week.all_facts)
    step_of = {way.id: step for step in week.steps for way in step.ways}
    for job in week.jobs:
        step, answer = step_of.get(job.id), getattr(job, "answer", None)
        yield {
            **_work(job, places),
            "opens": job.hours[0],
            "closes": job.hours[1],
            "first": job.begins,
            "due": job.due,
            "group": steps[step and step.id],
            "needs": steps[step and step.after],
            "value": NONE if step is None or answer is None else step.answers.index(answer),
            "tells": facts[getattr(job, "tells", None)],
            "known": getattr(job, "known", True),
        }


def _fact(fact: Fact) -> dict[str, Any]:
    """The row of a fact."""
    first, then = (0 if answer is None else fact.answers.index(answer) for answer in (fact.first, fact.then))
    return {"first": first, "then": then, "flip": NEVER if fact.changes is None else fact.changes}


def _posts(empty: Any, week: Week) -> Any:
    """The posts of each channel."""
    facts, errands = _numbers(week.all_facts), _numbers(week.jobs)
    number = {"news": facts, "job": errands, "question": facts, "request": _numbers(week.meetings)}
    columns = {name: np.array(getattr(empty, name)) for name in ("time", "kind", "ref", "until", "points")}
    for channel, record in enumerate(week.channels):
        for place, post in enumerate(week.posts_in(record)):
            about = next((field for field in checks.ABOUT if post[field] is not None), KINDS[CHAT])
            ref = number[about][post[about]] if about in number else 0
            row = (post.at, KINDS.index(about), ref, week.until(post), round(100 * post.points))
            for column, value in zip(columns.values(), row, strict=True):
                column[channel, place] = value
    return empty.replace(**columns)
