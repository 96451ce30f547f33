"""What the person knows of the week (docs/rules/week.md, section 5)."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.fields import taken
from jaxenv.core.types import ActionMask
from jaxenv.envs.week import actions, types
from jaxenv.envs.week.actions import Standing, Window
from jaxenv.envs.week.types import NEWS, NONE, QUESTION, REQUEST, Agenda, Observation, State
from jaxenv.lowering.lookup import read


def observe(state: State, week: Agenda, is_over: jax.Array, sees_truth: bool) -> Observation:
    """The observation; `is_over` ([] bool) makes every action legal, `sees_truth` shows the present facts as told."""
    window, stand = actions.window(state, week), _standing(state, week)
    as_of, is_noted = (state.clock, np.bool_(True)) if sees_truth else (state.as_of, state.noted >= 0)
    to_places = read(week.travel, state.place)
    return Observation(
        **taken(state, "clock", "place", "travel_left", "channel"),
        distance=state.travel_left + to_places,
        unread=state.posted - state.read,
        events=observed_events(state, week),
        jobs=observed_jobs(state, week, stand),
        messages=observed_messages(week, window),
        head=head(state, week, window),
        told=jnp.where(is_noted, week.facts.at(as_of), NONE),
        age=jnp.broadcast_to(jnp.where(is_noted, state.clock - as_of, 0), state.noted.shape),
        action_mask=actions.legal_mask(state, week, window, stand) | is_over,
    )


def current_mask(state: State, week: Agenda, is_over: jax.Array) -> ActionMask:
    """[A] bool."""
    return actions.legal_mask(state, week, actions.window(state, week), _standing(state, week)) | is_over


def _standing(state: State, week: Agenda) -> Standing:
    """How all jobs stand."""
    return actions.standing(state, week.jobs, state.known, state.progress)


def observed_events(state: State, week: Agenda) -> types.ObservedEvents:
    """The calendar from now on."""
    events = week.events
    shown = state.promised & (state.clock < events.end)
    columns = _columns(shown, events, "start", "length", "place", "points")
    return types.ObservedEvents(exists=shown, **columns, attended=_where(shown, state.attended))


def observed_jobs(state: State, week: Agenda, stand: Standing) -> types.ObservedJobs:
    """The work that is known and can still be done."""
    jobs, shown = week.jobs, stand.possible
    return types.ObservedJobs(
        exists=shown,
        left=_where(shown, jobs.length - state.progress),
        **_columns(shown, jobs, "place", "opens", "closes", "first", "due", "points"),
        group=jnp.where(shown, jobs.group, NONE),
        needs=jnp.where(shown & stand.needs, jobs.needs, NONE),
        value=jnp.where(shown, jobs.value, NONE),
        begun=shown & (state.progress > 0),
    )


def observed_messages(week: Agenda, window: Window) -> types.ObservedMessages:
    """The open channel."""
    posts, is_news = window.posts, window.exists & (window.posts.kind == NEWS)
    has_fact = is_news | (window.exists & (posts.kind == QUESTION))
    facts = read(week.facts, posts.ref)
    return types.ObservedMessages(
        exists=window.exists,
        kind=_where(window.exists, posts.kind),
        fact=jnp.where(has_fact, posts.ref, NONE),
        value=jnp.where(is_news, facts.at(posts.time), NONE),
        waits=window.waits,
        until=_where(window.waits, posts.until),
    )


def head(state: State, week: Agenda, window: Window) -> types.Head:
    """The question or request that is replied to."""
    post, exists = read(window.posts, window.head), window.head >= 0
    is_request, is_question = exists & (post.kind == REQUEST), exists & (post.kind == QUESTION)
    events = week.events
    event, end = read((events, events.end), post.ref)
    others = state.promised & (np.arange(events.start.shape[0], dtype=np.int32) != post.ref)
    overlaps = jnp.any(others & (events.start < end) & (event.start < events.end))
    return types.Head(
        kind=_where(exists, post.kind),
        fact=jnp.where(is_question, post.ref, NONE),
        points=jnp.where(is_request, event.points, _where(is_question, post.points)),
        until=_where(exists, post.until),
        **_columns(is_request, event, "start", "length", "place"),
        overlaps=is_request & overlaps,
    )


def _where(shown: jax.Array, column: jax.Array) -> jax.Array:
    """The entries that are shown, 0 elsewhere."""
    return jnp.where(shown, column, np.zeros((), column.dtype))


def _columns(shown: jax.Array, record: Any, *names: str) -> dict[str, jax.Array]:
    """Some columns of a record by name, 0 where they are not shown."""
    return {name: _where(shown, column) for name, column in taken(record, *names).items()}
