"""The names of a week: those of its document, or words from the banks at places that follow from its numbers."""

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from jaxenv.envs.week.types import CHAT, JOB, KINDS, NEVER, NONE, REQUEST, VALUES, Scenario
from jaxenv.envs.week.view.words import banks, drawn, moment
from jaxenv.rendering.view import Given, remembered, with_defaults


@dataclasses.dataclass(frozen=True)
class Names:
    """Names by the indices of the arrays.

    Attributes:
        places: index -> name; the first is home.
        channels: index -> name.
        events: the meetings.
        jobs: of projects and errands.
        projects: of each job; empty for errands.
        facts: index -> the question.
        answers: index of a fact -> its answers, in the order of its values.
        posts: (channel, place in it) -> who writes, and what; see `words_of`.
        title: of the week.
        wording: which banks of words have what the names have not: usual or held_out.
    """

    places: Mapping[int, str]
    channels: Mapping[int, str]
    events: tuple[str, ...]
    jobs: tuple[str, ...]
    projects: tuple[str, ...]
    facts: Mapping[int, str]
    answers: Mapping[int, tuple[str, ...]]
    posts: Mapping[tuple[int, int], tuple[str, str]] = dataclasses.field(default_factory=dict)
    title: str = ""
    wording: str = "usual"


@remembered
def names_of(week: Scenario, given: Given, wording: str = "usual") -> Names:
    """The names of a scenario (arrays on the host), from the banks of words where they are not given.

    Raises:
        ValueError: if other meetings or jobs are given than the scenario has.
    """
    jobs, seed, owners = week.jobs, _seed(week), _owners(week)
    draw = functools.partial(drawn, wording)
    projects = draw("projects", seed, 1 + max(owners, default=NONE))
    facts = draw("facts", seed, week.facts.first.size)
    for job, owner in enumerate(owners):
        if jobs.group[job] != NONE:
            facts[jobs.group[job]] = projects[owner]["steps"][int(jobs.needs[job] != NONE)]
    answers = {n: tuple(fact["answers"][: _num_answers(week, n)]) for n, fact in enumerate(facts)}
    errands = iter(draw("errands", seed, len(owners)))

    def name(job: int, owner: int) -> str:
        group = int(jobs.group[job])
        if owner == NONE:
            return next(errands)
        if group == NONE:
            return projects[owner]["scout"]
        return facts[group]["way"].format(answers[group][max(jobs.value[job], 0)])

    return with_defaults(
        Names,
        given,
        places=dict(enumerate(["home", *draw("places", seed, week.travel.shape[0] - 1)])),
        channels=dict(enumerate(draw("channels", seed, week.posts.time.shape[0]))),
        events=tuple(draw("meetings", seed, int((week.events.length > 0).sum()))),
        jobs=tuple(name(job, owner) for job, owner in enumerate(owners)),
        projects=tuple("" if owner == NONE else projects[owner]["name"] for owner in owners),
        facts={n: fact["asks"] for n, fact in enumerate(facts)},
        answers=answers,
        wording=wording,
        title=f"A week with {' and '.join(project['name'] for project in projects[:2])}" if projects else "",
    )


def words_of(week: Scenario, names: Names, channel: int, place: int) -> tuple[str, str]:
    """Who writes a post, and what it says; from the banks of words where the names have nothing."""
    by, says = names.posts.get((channel, place), ("", ""))
    author = drawn(names.wording, "people", _seed(week) + 5 * channel + place, 1)[0]
    return by or author, says or _text(week, names, channel, place)


def num_places(week: Scenario) -> int:
    """One more than the last place with a way."""
    return 1 + int(np.flatnonzero(week.travel.any(axis=0)).max(initial=0))


def num_channels(week: Scenario) -> int:
    """One more than the last channel with a post."""
    return 1 + int(np.flatnonzero((week.posts.time != NEVER).any(axis=1)).max(initial=-1))


def _seed(week: Scenario) -> int:
    """Where the banks of words begin."""
    return int(week.events.start.sum()) + int(week.jobs.points.astype(int) @ np.arange(week.jobs.points.size))


def _owners(week: Scenario) -> list[int]:
    """The number of the project of each job, NONE of errands: steps that need each other, after their scouts."""
    jobs, roots, owners = week.jobs, {}, []
    for n in range(int((jobs.length > 0).sum())):
        if jobs.group[n] != NONE:
            needed = int(jobs.needs[n])
            roots.setdefault(int(jobs.group[n]), roots[needed] if needed in roots else len(set(roots.values())))
    following = NONE
    for n in reversed(range(int((jobs.length > 0).sum()))):
        following = roots[int(jobs.group[n])] if jobs.group[n] != NONE else following
        owners.append(following if jobs.is_project[n] else NONE)
    return owners[::-1]


def _num_answers(week: Scenario, fact: int) -> int:
    """How many answers a question has: all of the banks, or as many as the jobs of its group tell apart."""
    values = week.jobs.value[(week.jobs.group == fact) & (week.jobs.length > 0)]
    if not values.size:
        return VALUES
    return 1 + max(*values.tolist(), int(week.facts.first[fact]), int(week.facts.then[fact]), 0)


def _text(week: Scenario, names: Names, channel: int, place: int) -> str:
    """What a post says."""
    post = row(week.posts, channel, place)
    if post.kind == CHAT:
        return drawn(names.wording, "chat", 7 * post.time + channel, 1)[0]
    if post.kind == JOB:
        about = {"job": names.jobs[post.ref]}
    elif post.kind == REQUEST:
        about = {"meeting": names.events[post.ref], "at": moment(int(week.events.start[post.ref]))}
    else:
        about = {"asks": names.facts[post.ref], "answer": answer_at(week, names, post.ref, post.time)}
    return banks(names.wording)["says"][KINDS[post.kind]].format(**about)


def row(table: Any, *place: int) -> Any:
    """One row of a table, in Python numbers."""
    return jax.tree.map(lambda column: column[place].item(), table)


def answer_at(week: Scenario, names: Names, fact: int, time: int) -> str:
    """The right answer at a time."""
    facts = week.facts
    return names.answers[fact][int(facts.first[fact] if time < facts.flip[fact] else facts.then[fact])]
