"""Observation to network input: features of the entities, and of the effects of each action by the rules.

Times are over a day; a place is described by its travel times to the current request and to work.
"""

import jax
import jax.numpy as jnp

from jaxenv.core.numbers import as_float, table
from jaxenv.core.types import Entities, EntityGroup
from jaxenv.envs.lifeops import actions, types
from jaxenv.envs.lifeops.actions import Catalogue
from jaxenv.envs.lifeops.dynamics import URGENT_DAYS, leaves_clean, work
from jaxenv.envs.lifeops.observe import consequences
from jaxenv.envs.lifeops.reward import preference_units
from jaxenv.envs.lifeops.types import DAY_END, VISIBLE_REQUESTS, Event, Observation, Params, Persona
from jaxenv.lowering.lookup import read


def entities(catalogue: Catalogue, observation: Observation, params: Params) -> Entities:
    """The observation as entities with float32 features.

    context [63]: clock as a share of the limit, steps left, overlaps, travel issues, requests left, weekday [7]; the
    persona's window, rules (set, time) and weights [9]; the current request and the next two [3 x 14].
    events [E, 6] and tasks [T, 5]: see their functions. actions [A, 10]: legal, overlaps added, travel issues at the
    event's own legs and from home, the persona's wishes for a meeting broken, or kept; adds to a calendar that is clean
    with it, proposes a time that fits into one; takes time of the next request, and of the one after; hours of work
    done; zeros where not legal.
    """
    context = [
        _clock_features(observation),
        _persona_features(observation.persona),
        _request_features(observation).ravel(),
    ]
    return Entities(
        context=jnp.concatenate(context),
        groups={
            "events": EntityGroup(_event_features(observation), observation.event_exists),
            "tasks": EntityGroup(_task_features(observation), observation.tasks.priority > 0),
        },
        actions=_outlook_features(catalogue, observation, params),
    )


def _clock_features(o: Observation) -> jax.Array:
    """[12] float32: time, counts and weekday."""
    left = as_float(o.max_steps - o.clock)
    counts = [
        as_float(o.clock) / as_float(o.max_steps),
        left / 8.0,
        as_float(o.overlaps) / 4.0,
        as_float(o.tight_legs) / 4.0,
        as_float(o.requests_left) / 4.0,
    ]
    return jnp.concatenate([jnp.stack(counts), jax.nn.one_hot(o.weekday, len(types.WEEKDAYS), dtype=jnp.float32)])


def _persona_features(p: Persona) -> jax.Array:
    """[9] float32: window, rules (and whether they are set), weights."""
    has_early, has_late = p.avoid_before != types.UNSET, p.avoid_after != types.NO_LIMIT
    return jnp.stack(
        [
            _day(p.window_start),
            _day(p.window_end),
            as_float(has_early),
            _day(jnp.where(has_early, p.avoid_before, 0)),
            as_float(has_late),
            _day(jnp.where(has_late, p.avoid_after, DAY_END)),
            p.preference_weight,
            p.travel_weight,
            p.focus_weight,
        ]
    )


def _task_features(o: Observation) -> jax.Array:
    """[T, 5] float32: minutes left over two hours (at most 4), unfinished, worked on next, priority, presses."""
    minutes = o.tasks.minutes
    unfinished = minutes > 0
    columns = [
        jnp.minimum(as_float(minutes) / 120.0, 4.0),
        unfinished,
        unfinished & (jnp.cumsum(unfinished, dtype=jnp.int32) == 1),
        as_float(o.tasks.priority) / 3.0,
        as_float(o.tasks.due_days <= URGENT_DAYS) * as_float(unfinished),
    ]
    return table(columns)


def _request_features(o: Observation) -> jax.Array:
    """[3, 14] float32: present, time, length, importance (2 and more, 3), flexible, wishes broken, way from home and to
    work, kind.
    """
    requests, persona = o.requests, o.persona
    index = jnp.arange(VISIBLE_REQUESTS, dtype=jnp.int32)
    units = jax.vmap(lambda i: preference_units(requests.at(i), persona))(index)
    columns = [
        o.request_exists,
        _day(requests.start),
        _day(requests.end),
        as_float(requests.end - requests.start) / 60.0,
        requests.importance >= 2,
        requests.importance >= 3,
        o.flexible,
        units,
        _hours(read(o.travel, persona.home, requests.place)),
        _hours(read(o.travel, requests.place, persona.work_place)),
    ]
    kind = jax.nn.one_hot(requests.kind, len(types.KINDS), dtype=jnp.float32)
    return jnp.concatenate([table(columns), kind], axis=-1) * as_float(o.request_exists)[:, None]


def _event_features(o: Observation) -> jax.Array:
    """[E, 6] float32: present, start, end, importance, way to the current request and to work."""
    columns = [
        o.event_exists,
        _day(o.calendar.start),
        _day(o.calendar.end),
        as_float(o.calendar.importance) / 3.0,
        _hours(read(o.travel, o.calendar.place, o.requests.place[0])),
        _hours(read(o.travel, o.calendar.place, o.persona.work_place)),
    ]
    return table(columns) * as_float(o.event_exists)[:, None]


def _outlook_features(catalogue: Catalogue, o: Observation, params: Params) -> jax.Array:
    """[A, 10] float32: the effects of each entry; zeros where it is not legal.

    An entry that adds nothing to the calendar brings no overlaps and no travel issues, and wishes are about meetings
    alone: a network that weights the columns alike for every entry need not learn which verbs they are paid for.
    """
    moves, change = consequences(catalogue, o, params)
    units, clean = preference_units(moves.event, o.persona), leaves_clean(o, change)
    verb = catalogue.table[:, 0]
    adds, schedules = actions.does(verb, actions.BOOKS), actions.does(verb, actions.SCHEDULES)
    meets, proposes = schedules & (moves.event.kind != types.FOCUS), schedules & ~adds
    columns = [
        o.action_mask,
        jnp.where(adds, jnp.minimum(change.overlaps, 3), 0),
        jnp.where(adds, change.tight_legs + change.home_leg, 0),
        jnp.where(meets, units, 0),
        meets & (units == 0),
        adds & clean,
        proposes & clean,
        *(adds & taken for taken in _time_taken(moves.event, o)),
        _hours(jnp.minimum(moves.duration, work(o.tasks.minutes, jnp.int32(DAY_END))[1])),
    ]
    return table(columns) * as_float(o.action_mask)[:, None]


def _time_taken(events: Event, o: Observation) -> list[jax.Array]:
    """[n] bool for each request that waits behind the current one: would an event overlap with it?"""

    def overlaps_with(index: int) -> jax.Array:
        waiting = o.requests.at(jnp.int32(index))
        return o.request_exists[index] & (events.start < waiting.end) & (waiting.start < events.end)

    return [overlaps_with(index) for index in range(1, VISIBLE_REQUESTS)]


def _day(minutes: jax.Array) -> jax.Array:
    return as_float(minutes) / DAY_END


def _hours(minutes: jax.Array) -> jax.Array:
    return as_float(minutes) / 60.0
