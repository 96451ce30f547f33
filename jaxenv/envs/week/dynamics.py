"""The turn as pure phases: the action, the clock, what is over, what is read (docs/rules/week.md, section 3)."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.envs.week import actions, types
from jaxenv.envs.week.actions import ATTEND, GO, OPEN, PROMISE, REPLY, REST, WORK, Catalogue, Window
from jaxenv.envs.week.types import DONE, END, JOB, NEWS, NONE, QUESTION, SLOTS, SOUND, UNSOUND, WINDOW, Agenda, State
from jaxenv.lowering.lookup import read
from jaxenv.lowering.materialize import materialize

_LENGTHS = np.maximum(np.arange(types.MAX_LENGTH + 1, dtype=np.int32), 1)
PER_SLOT = np.lcm.reduce(_LENGTHS) // _LENGTHS  # of each length: a multiple of all over it, so rates are whole


class Turn(struct.PyTreeNode):
    """The payments of a turn, in points."""

    legal: jax.Array  # [] bool
    meetings: jax.Array  # [] float32, of the meetings that are over, each times the share that was attended
    missed: jax.Array  # [] float32, of the meetings that are over of which less than half was attended
    errand: jax.Array  # [] float32, of an errand that is done
    project: jax.Array  # [] float32, of a part of a project that is done
    answer: jax.Array  # [] float32, of a question that was answered with the truth
    wrong: jax.Array  # [] float32, of a question that was answered otherwise


def transition(
    catalogue: Catalogue, notebook: int, state: State, week: Agenda, action: jax.Array
) -> tuple[State, Turn]:
    """One turn: the state after it, and what it pays for.

    Args:
        catalogue: of the actions.
        notebook: the number of facts that it holds.
        state: before the turn.
        week: the scenario of the state.
        action: [] int32; REST where it is illegal.
    """
    window = actions.window(state, week)
    verb, number = read(catalogue.table, action)
    legal = (action >= 0) & (action < catalogue.size) & actions.is_legal(state, week, window, verb, number)
    verb = materialize(jnp.where(legal, verb, REST))
    state, errand, project, told = work(state, week, jnp.where(verb == WORK, number, NONE))
    state, answer, wrong = reply(state, week, window, jnp.where(verb == REPLY, number, NONE))
    state = attend(state, week.events, verb == ATTEND)
    state = move(state, week, verb, number)
    state = tick(state, week)
    meetings, missed = ended(state, week)
    state = see(state, week, told, notebook)
    state = state.replace(clock=jnp.minimum(state.clock, END))  # where it stops, and nothing pays any more
    return state, Turn(legal, meetings, missed, errand, project, answer, wrong)


def work(state: State, week: Agenda, job: jax.Array) -> tuple[State, jax.Array, jax.Array, jax.Array]:
    """A slot of work on a job ([] int32, NONE for none).

    Returns:
        (state, points of an errand, points of a project, the fact that the end of the job tells or NONE).
    """
    is_work, groups = job >= 0, np.arange(state.stage.shape[0], dtype=np.int32)
    this, progress = week.job(job), read(state.progress, job)
    truth = read(week.facts.at(state.clock), this.group)
    is_sound = (this.value < 0) | (this.value == truth)
    begins, ends = is_work & (progress == 0), is_work & (progress + 1 == this.length)
    stage = jnp.where(begins, jnp.where(is_sound, SOUND, UNSOUND), read(state.stage, this.group))
    is_done = ends & ((this.group < 0) | (stage == SOUND))
    stage = jnp.where(is_done, DONE, stage)
    points = jnp.where(is_done, _points(this.points), 0.0)
    here = np.arange(state.progress.shape[0], dtype=np.int32) == job
    state = state.replace(
        stage=jnp.where(is_work & (groups == this.group), stage, state.stage),
        progress=state.progress + here.astype(np.int32),
    )
    told = jnp.where(ends, this.tells, NONE)
    return state, jnp.where(this.is_project, 0.0, points), jnp.where(this.is_project, points, 0.0), told


def reply(state: State, week: Agenda, window: Window, value: jax.Array) -> tuple[State, jax.Array, jax.Array]:
    """A reply ([] int32, NONE for none) to the head: (state, points of a right answer, points of a wrong one)."""
    head, is_reply = read(window.posts, window.head), value >= 0
    is_question = head.kind == QUESTION
    is_right = read(week.facts.at(state.clock), head.ref) == value
    asked = jnp.where(is_reply & is_question, head.points, 0)
    right = jnp.where(is_right, asked, 0)
    promises = is_reply & ~is_question & (value == PROMISE)
    here = is_reply & (np.arange(state.handled.shape[0], dtype=np.int32) == state.channel)
    up_to = window.count - window.head
    state = state.replace(
        promised=state.promised | (promises & (np.arange(state.promised.shape[0], dtype=np.int32) == head.ref)),
        handled=jnp.where(here, up_to, state.handled),
        answered=state.answered + right,
    )
    return state, _points(right), _points(asked - right)


def attend(state: State, events: types.Events, is_attending: jax.Array) -> State:
    """A slot of the event with the most points a slot, the first of several."""
    rate = jnp.where(actions.attendable(state, events), events.points * read(PER_SLOT, events.length), NONE)
    number = np.arange(rate.shape[0], dtype=np.int32)
    best = jnp.min(jnp.where(rate == jnp.max(rate), number, number.size))  # on a CPU faster than `argmax`
    here = is_attending & (number == best)
    return state.replace(attended=state.attended + here.astype(np.int32))


def move(state: State, week: Agenda, verb: jax.Array, number: jax.Array) -> State:
    """Setting out for a place, opening a channel; every action but OPEN and REPLY closes it."""
    goes = verb == GO
    way = read(week.travel, state.place, number)
    channel = jnp.where(verb == OPEN, number, jnp.where(verb == REPLY, state.channel, NONE))
    return state.replace(
        place=jnp.where(goes, number, state.place),
        travel_left=jnp.where(goes, way, state.travel_left),
        channel=channel,
    )


def tick(state: State, week: Agenda) -> State:
    """The clock: what is posted now; at night one is at home."""
    time = state.clock + 1
    is_night = time % SLOTS == 0
    channels = np.arange(state.posted.shape[0], dtype=np.int32)
    following = week.posts(channels, state.posted)
    capacity = week.scenarios.posts.time.shape[-1]
    is_posted = (state.posted < capacity) & (following.time <= time)
    return state.replace(
        clock=time,
        place=jnp.where(is_night, types.HOME, state.place),
        travel_left=jnp.where(is_night, 0, jnp.maximum(state.travel_left - 1, 0)),
        posted=state.posted + is_posted.astype(np.int32),
    )


def ended(state: State, week: Agenda) -> tuple[jax.Array, jax.Array]:
    """(points of the attended shares, points of the missed meetings) of those that are over at this moment."""
    events = week.events
    length, attended = (count.astype(jnp.float32) for count in (events.length, state.attended))
    is_over, points = state.promised & (events.end == state.clock), _points(events.points)
    share = points * attended / jnp.maximum(length, 1.0)
    is_missed = is_over & (2 * state.attended < events.length)
    return jnp.sum(jnp.where(is_over, share, 0.0)), jnp.sum(jnp.where(is_missed, points, 0.0))


def see(state: State, week: Agenda, told: jax.Array, notebook: int) -> State:
    """What the open channel shows is read: jobs become known, and news are noted after what a job has told."""
    window = actions.window(state, week)
    posts = window.posts
    is_open = np.arange(state.read.shape[0], dtype=np.int32) == state.channel
    is_job = window.exists & (posts.kind == JOB)
    jobs = np.arange(state.known.shape[0], dtype=np.int32)
    known = jnp.any(is_job[:, None] & (posts.ref[:, None] == jobs[None]), axis=0)
    is_news = window.exists & (posts.kind == NEWS)
    lines = [(told, state.clock - 1)]
    lines += [(jnp.where(is_news[k], posts.ref[k], NONE), posts.time[k]) for k in reversed(range(WINDOW))]
    noted, as_of = note(state, lines, notebook)
    return state.replace(
        read=jnp.where(is_open, state.posted, state.read), known=state.known | known, noted=noted, as_of=as_of
    )


def note(state: State, lines: Sequence[tuple[jax.Array, jax.Array]], notebook: int) -> tuple[jax.Array, jax.Array]:
    """The notebook after some lines, each a fact ([] int32, NONE for no line) and the time that it speaks of ([]).

    A fact is written where it is not in the notebook, or in it as of an earlier time; the last ones stay.

    Returns:
        ([F] int32 the order of the line of each fact, or NONE, [F] int32 the time of which it speaks).
    """
    facts = np.arange(state.noted.shape[0], dtype=np.int32)
    count, newest = len(lines), np.int32(NONE)  # of each fact the latest line, of equals the first, as time and place
    for place, (fact, time) in enumerate(lines):
        newest = jnp.maximum(newest, jnp.where(facts == fact, time * count + count - 1 - place, NONE))
    time, place = newest // count, count - 1 - newest % count
    is_new = (newest >= 0) & ((state.noted < 0) | (state.as_of < time))
    noted = jnp.where(is_new, state.clock * count + place, state.noted)
    as_of = jnp.where(is_new, time, state.as_of)
    if notebook < facts.size:
        kept = np.int32((END + 1) * count)  # above every line; then the last one, the one before, …
        for _ in range(notebook):
            kept = jnp.max(jnp.where(noted < kept, noted, NONE))
        noted = jnp.where(noted >= kept, noted, NONE)
    return noted, jnp.where(noted < 0, 0, as_of)


def _points(hundredths: jax.Array) -> jax.Array:
    """float32 points."""
    return hundredths.astype(jnp.float32) / 100.0
