"""State to observation: the only door for hidden information, and the flat vector made from what came through it."""

import jax
import jax.numpy as jnp

from jaxenv.core.types import ActionMask
from jaxenv.envs.lifeops import actions
from jaxenv.envs.lifeops.actions import Catalogue, Move
from jaxenv.envs.lifeops.dynamics import URGENT_DAYS, insertion
from jaxenv.envs.lifeops.reward import preference_units
from jaxenv.envs.lifeops.types import (
    ABSENT,
    DAY_END,
    KINDS,
    NO_LIMIT,
    UNSET,
    VISIBLE_REQUESTS,
    WEEKDAYS,
    Event,
    Observation,
    Params,
    Persona,
    Scenario,
    State,
)


def current_mask(catalogue: Catalogue, state: State, scenario: Scenario) -> ActionMask:
    """[A] bool: the legal entries of a live state, all True once the day is over or out of time."""
    has_request = state.handled < scenario.num_requests
    has_work = jnp.any(state.minutes_left > 0)
    request = scenario.requests.at(state.handled)
    ended = ~(has_request | has_work) | (state.clock >= scenario.max_steps)
    return actions.legal_mask(catalogue, request, has_request, has_work) | ended


def observe(catalogue: Catalogue, state: State, params: Params) -> Observation:
    """The observation of a state."""
    scenario = params.bank[state.scenario]
    is_event = state.calendar.start != ABSENT
    left = scenario.num_requests - state.handled
    offsets = jnp.arange(VISIBLE_REQUESTS, dtype=jnp.int8)
    is_request = offsets < left

    def visible(column: jax.Array) -> jax.Array:
        return jnp.where(is_request, column[state.handled + offsets], jnp.zeros((), column.dtype))

    return Observation(
        calendar=state.calendar.replace(start=jnp.where(is_event, state.calendar.start, 0)),
        is_event=is_event,
        requests=jax.tree.map(visible, scenario.requests),
        flexible=visible(scenario.flexible),
        is_request=is_request,
        requests_left=left,
        tasks=scenario.tasks.replace(minutes=state.minutes_left),
        persona=scenario.persona,
        travel=scenario.travel,
        overlaps=state.overlaps,
        tight_legs=state.tight_legs,
        clock=state.clock,
        max_steps=scenario.max_steps,
        weekday=scenario.weekday,
        action_mask=current_mask(catalogue, state, scenario),
    )


def sorted_calendar(observation: Observation) -> Event:
    """The observed calendar with absent slots marked, as the dynamics take it."""
    start = jnp.where(observation.is_event, observation.calendar.start, ABSENT)
    return observation.calendar.replace(start=start)


def flatten(catalogue: Catalogue, observation: Observation, params: Params) -> jax.Array:
    """[F] float32: the observation as one vector, times over a day, places as the way to where one is asked to be.

    In this order: clock (share of the limit, steps left), counts (overlaps, travel issues, requests left), weekday
    [7]; persona [9]; tasks [T, 4]; requests [3, 13]; events [E, 6]; and, for each entry of the catalogue [A, 4], what
    it would bring by the rules: legal, overlaps added, travel issues added, wishes of the persona broken.
    """
    return jnp.concatenate(
        [
            _clock_features(observation),
            _persona_features(observation.persona),
            _task_features(observation).ravel(),
            _request_features(observation).ravel(),
            _event_features(observation).ravel(),
            _outlook_features(catalogue, observation, params).ravel(),
        ]
    )


def _clock_features(o: Observation) -> jax.Array:
    """[12] float32: time, counts and weekday."""
    left = _float(o.max_steps - o.clock)
    counts = [
        _float(o.clock) / _float(o.max_steps),
        left / 8.0,
        _float(o.overlaps) / 4.0,
        _float(o.tight_legs) / 4.0,
        _float(o.requests_left) / 4.0,
    ]
    return jnp.concatenate([jnp.stack(counts), jax.nn.one_hot(o.weekday, len(WEEKDAYS))])


def _persona_features(p: Persona) -> jax.Array:
    """[9] float32: window, rules (and whether they are set), weights."""
    has_early, has_late = p.avoid_before != UNSET, p.avoid_after != NO_LIMIT
    return jnp.stack(
        [
            _day(p.window_start),
            _day(p.window_end),
            _float(has_early),
            _day(jnp.where(has_early, p.avoid_before, 0)),
            _float(has_late),
            _day(jnp.where(has_late, p.avoid_after, DAY_END)),
            p.preference_weight,
            p.travel_weight,
            p.focus_weight,
        ]
    )


def _task_features(o: Observation) -> jax.Array:
    """[T, 4] float32: half hours left, minutes of the last, half-full one, priority, due today or tomorrow."""
    minutes = o.tasks.minutes
    columns = [
        jnp.minimum(_float(minutes) / 120.0, 4.0),
        _float(minutes > 0),
        _float(o.tasks.priority) / 3.0,
        _float(o.tasks.due_days <= URGENT_DAYS) * _float(minutes > 0),
    ]
    return jnp.stack(columns, axis=-1)


def _request_features(o: Observation) -> jax.Array:
    """[3, 13] float32: present, time, length, importance, kind, flexible, wishes broken, way from home and to work."""
    requests, persona = o.requests, o.persona
    units = jax.vmap(lambda i: preference_units(requests.at(i), persona))(jnp.arange(VISIBLE_REQUESTS))
    columns = [
        _float(o.is_request),
        _day(requests.start),
        _day(requests.end),
        _float(requests.end - requests.start) / 60.0,
        _float(requests.importance) / 3.0,
        _float(o.flexible),
        _float(units),
        _hours(o.travel[persona.home, requests.place]),
        _hours(o.travel[requests.place, persona.work_place]),
    ]
    present = jnp.stack(columns, axis=-1)
    kind = jax.nn.one_hot(requests.kind, len(KINDS))
    return jnp.concatenate([present, kind], axis=-1) * _float(o.is_request)[:, None]


def _event_features(o: Observation) -> jax.Array:
    """[E, 6] float32: present, start, end, importance, way to the current request and to work."""
    columns = [
        _float(o.is_event),
        _day(o.calendar.start),
        _day(o.calendar.end),
        _float(o.calendar.importance) / 3.0,
        _hours(o.travel[o.calendar.place, o.requests.place[0]]),
        _hours(o.travel[o.calendar.place, o.persona.work_place]),
    ]
    return jnp.stack(columns, axis=-1) * _float(o.is_event)[:, None]


def _outlook_features(catalogue: Catalogue, o: Observation, params: Params) -> jax.Array:
    """[A, 4] float32: what each entry would bring; zeros where it is not legal."""
    moves = actions.every_move(catalogue, o.requests.at(jnp.int32(0)), o.persona)
    calendar = sorted_calendar(o)

    def consequences(move: Move) -> jax.Array:
        change = insertion(calendar, o.travel, o.persona.home, params.departure_min, move.event)
        units = preference_units(move.event, o.persona)
        issues = change.tight_legs + change.home_leg
        return jnp.stack([jnp.int32(1), jnp.minimum(change.overlaps, 3), issues, units])

    return _float(jax.vmap(consequences)(moves)) * _float(o.action_mask)[:, None]


def _float(x: jax.Array) -> jax.Array:
    return x.astype(jnp.float32)


def _day(minutes: jax.Array) -> jax.Array:
    return _float(minutes) / DAY_END


def _hours(minutes: jax.Array) -> jax.Array:
    return _float(minutes) / 60.0
