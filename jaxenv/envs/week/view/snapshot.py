"""A week in plain Python, read from the arrays for drawing: every meeting, job, fact and message by name."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxenv.core.fields import taken
from jaxenv.envs.week import types
from jaxenv.envs.week.actions import attendable
from jaxenv.envs.week.types import ANYWHERE, DONE, NONE, QUESTION, REQUEST, Observation, Scenario, State
from jaxenv.envs.week.view.names import Names, answer_at, num_channels, num_places, row, words_of

REPLIES = ("yes", "no")  # to a request, by the value of the reply


class Meeting(NamedTuple):
    """A meeting that is known; times in slots of the week."""

    name: str
    place: str  # empty where it is online
    start: int
    end: int
    points: float
    status: str  # "asked", "promised", "over", or "missed" if it was over before half of it was attended
    attended: int  # slots


class Job(NamedTuple):
    """A job that is known."""

    name: str
    project: str  # empty of errands
    place: str  # empty where it can be done anywhere
    hours: tuple[int, int]  # slots of the day
    first: int
    due: int
    points: float
    length: int
    progress: int
    status: str  # "open", "later", "done", "failed", "barred", "late"
    asks: str  # the question that it hangs on, and empty for none
    needs: str  # the answer that it needs, likewise
    group: int


class Message(NamedTuple):
    """A message of the open channel."""

    author: str
    text: str
    kind: str
    about: str  # the question, job or meeting
    told: str  # the answer that news give
    waits: int  # until when, 0 where it does not
    answers: tuple[str, ...]  # what one can reply


class Note(NamedTuple):
    """A line of the notebook."""

    question: str
    answer: str
    age: int  # slots since it was right


class ShownWeek(NamedTuple):
    """Everything that is shown of a state."""

    title: str
    time: int
    place: str
    travel_left: int
    distances: dict[str, int]
    channel: str  # the open one, or empty
    unread: dict[str, int]  # channel -> posts
    meetings: tuple[Meeting, ...]
    jobs: tuple[Job, ...]
    messages: tuple[Message, ...]  # newest first
    head: Message | None
    notes: tuple[Note, ...]  # the latest line first
    points: dict[str, tuple[float, float]]  # source -> paid so far, offered; wrong answers cost beside it


def read(observation: Observation, state: State, week: Scenario, names: Names) -> ShownWeek:
    """The week of a state, with what has happened in it; all three records are on the host."""
    messages, told, age = messages_of(state, week, names), observation.told, observation.age
    noted = [n for n in np.argsort(age, kind="stable").tolist() if told[n] != NONE]
    return ShownWeek(
        title=names.title,
        time=int(state.clock),
        place=names.places[int(state.place)],
        travel_left=int(state.travel_left),
        distances={names.places[n]: int(observation.distance[n]) for n in range(num_places(week))},
        channel="" if state.channel == NONE else names.channels[int(state.channel)],
        unread={names.channels[n]: int(observation.unread[n]) for n in range(num_channels(week))},
        meetings=tuple(_meetings(state, week, names, messages)),
        jobs=tuple(_job(state, week, names, n) for n in range(len(names.jobs)) if state.known[n]),
        messages=messages,
        head=head_of(messages),
        notes=tuple(Note(names.facts[n], names.answers[n][told[n]], int(age[n])) for n in noted),
        points=_points(state, week),
    )


def observed(week: ShownWeek) -> ShownWeek:
    """The week without meetings and jobs that are over, which are not observed."""
    return week._replace(
        meetings=tuple(meeting for meeting in week.meetings if meeting.status in ("asked", "promised")),
        jobs=tuple(job for job in week.jobs if job.status in ("open", "later")),
    )


def _meetings(state: State, week: Scenario, names: Names, messages: Sequence[Message]) -> Sequence[Meeting]:
    """Those that are promised, and the one that the head asks for, by their start."""
    events, time, found = week.events, int(state.clock), []
    asked = _asked(state, week, messages)
    for n, name in enumerate(names.events):
        start, length, attended = int(events.start[n]), int(events.length[n]), int(state.attended[n])
        if not state.promised[n] and n != asked:
            continue
        over = "missed" if 2 * attended < length else "over"
        status = "asked" if not state.promised[n] else "promised" if time < start + length else over
        where = "" if events.place[n] == ANYWHERE else names.places[int(events.place[n])]
        found.append(Meeting(name, where, start, start + length, int(events.points[n]) / 100, status, attended))
    return sorted(found, key=lambda meeting: meeting.start)


def _asked(state: State, week: Scenario, messages: Sequence[Message]) -> int:
    """The meeting that the head asks for, or NONE."""
    waiting = [age for age, message in enumerate(messages) if message.waits]
    if not waiting or messages[waiting[-1]].kind != types.KINDS[REQUEST]:
        return NONE
    return int(week.posts.ref[state.channel, state.posted[state.channel] - 1 - waiting[-1]])


def _job(state: State, week: Scenario, names: Names, n: int) -> Job:
    """A job and how it stands."""
    job, time, progress = row(week.jobs, n), int(state.clock), int(state.progress[n])
    is_barred = job.group != NONE and progress == 0 and state.progress[week.jobs.group == job.group].any()
    over = "done" if job.group == NONE or state.stage[job.group] == DONE else "failed"
    waits = time < job.first or (job.needs != NONE and state.stage[job.needs] != DONE)
    late = "late" if time >= job.due else "later" if waits else "open"
    return Job(
        name=names.jobs[n],
        project=names.projects[n],
        place="" if job.place == ANYWHERE else names.places[job.place],
        hours=(job.opens, job.closes),
        **taken(job, "first", "due", "length", "group"),
        points=job.points / 100,
        progress=progress,
        status=over if progress == job.length else "barred" if is_barred else late,
        asks="" if job.value == NONE else names.facts[job.group],
        needs="" if job.value == NONE else names.answers[job.group][job.value],
    )


def messages_of(state: State, week: Scenario, names: Names) -> tuple[Message, ...]:
    """The messages that the open channel shows, newest first."""
    channel = int(state.channel)
    if channel == NONE:
        return ()
    posted, found = int(state.posted[channel]), []
    abouts = {types.NEWS: names.facts, QUESTION: names.facts, types.JOB: names.jobs, REQUEST: names.events}
    for place in reversed(range(max(posted - types.WINDOW, 0), posted)):
        post = row(week.posts, channel, place)
        is_open = place >= int(state.handled[channel]) and int(state.clock) < post.until
        waits = post.until if is_open and post.kind in (QUESTION, REQUEST) else 0
        told = answer_at(week, names, post.ref, post.time) if post.kind == types.NEWS else ""
        about = abouts[post.kind][post.ref] if post.kind in abouts else ""
        answers = names.answers[post.ref] if post.kind == QUESTION else REPLIES if post.kind == REQUEST else ()
        kind = types.KINDS[post.kind]
        found.append(Message(*words_of(week, names, channel, place), kind, about, told, waits, answers))
    return tuple(found)


def head_of(messages: Sequence[Message]) -> Message | None:
    """The message that a reply answers: the oldest one that waits."""
    return next((message for message in reversed(messages) if message.waits), None)


def attended_now(state: State, week: Scenario) -> int:
    """The meeting that one would attend, the one with the most points a slot of those that are on and here; or NONE."""
    events = week.events
    rate = np.where(attendable(state, events), events.points / np.maximum(events.length, 1), NONE)
    return int(rate.argmax()) if rate.max() >= 0 else NONE


def _points(state: State, week: Scenario) -> dict[str, tuple[float, float]]:
    """Hundredths as points, by source."""
    jobs, events = week.jobs, week.events
    is_over = state.promised & (events.end <= state.clock) & (events.length > 0)
    share = state.attended / np.maximum(events.length, 1)
    paid = events.points * (share - 0.5 * (2 * state.attended < events.length)) * is_over
    is_done = (jobs.length > 0) & (state.progress == jobs.length)
    is_done &= (jobs.group == NONE) | (state.stage[np.maximum(jobs.group, 0)] == DONE)
    groups = [jobs.points[jobs.group == group].max(initial=0) for group in range(state.stage.size)]
    scouts = jobs.points[(jobs.group == NONE) & jobs.is_project].sum()
    errands = jobs.points[~jobs.is_project]
    return {
        "meetings": (float(paid.sum()) / 100, float(events.points.sum()) / 100),
        "projects": (float(jobs.points[is_done & jobs.is_project].sum()) / 100, float(sum(groups) + scouts) / 100),
        "errands": (float(jobs.points[is_done & ~jobs.is_project].sum()) / 100, float(errands.sum()) / 100),
        "answers": (int(state.answered) / 100, int(week.posts.points.sum()) / 100),
    }


def trail(states: Sequence[State]) -> list[tuple[int, str]]:
    """(slot, what was done in it), of each step between two states of an episode."""
    pairs = [(int(before.clock), before, after) for before, after in itertools.pairwise(states)]
    return [(time, _done(before, after)) for time, before, after in pairs if int(after.clock) == time + 1 <= types.END]


def _done(before: State, after: State) -> str:
    """What was done between two states."""
    if (after.progress != before.progress).any():
        return "work"
    if (after.attended != before.attended).any():
        return "attend"
    if (after.handled != before.handled).any():
        return "reply"
    if int(after.travel_left) or int(before.travel_left) or (after.place != before.place and after.clock % types.SLOTS):
        return "way"
    return "read" if after.channel != NONE else "rest"
