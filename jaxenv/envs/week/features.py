"""The observation as entities with features (docs/rules/week.md, section 5)."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.nn import one_hot

from jaxenv.core.fields import widened
from jaxenv.core.numbers import as_float, table
from jaxenv.core.types import ActionTables, Entities, EntityGroup
from jaxenv.envs.week.actions import GO, OPEN, REPLY, VERBS, WORK, Catalogue
from jaxenv.envs.week.types import ANYWHERE, DAYS, KINDS, SLOTS, VALUES, Observation
from jaxenv.lowering.lookup import read

WEEK = 100.0  # slots, the scale of times
POINTS = 1000.0  # hundredths, the scale of points


def entities(catalogue: Catalogue, observation: Observation) -> Entities:
    """Context, three groups and the features of actions; nothing is compared for the network."""
    o = widened(observation)
    jobs = job_features(o, catalogue.limits.groups)
    return Entities(
        context=context(o),
        groups={
            "events": EntityGroup(event_features(o), o.events.exists),
            "jobs": EntityGroup(jobs, o.jobs.exists),
            "messages": EntityGroup(message_features(o), o.messages.exists),
        },
        actions=action_features(catalogue, o, jobs),
    )


def context(o: Observation) -> jax.Array:
    """[19 + 2 L + 2 C + (V + 2) F] float32: time, day, slot, place, what is left of the way, the open channel, unread
    posts; of the head kind, fact, points, until when, start, length, way, place, and whether it overlaps; the notebook
    as what is told of each fact, and its age.
    """
    day, slot, head = o.clock // SLOTS, o.clock % SLOTS, o.head
    parts = [
        _scaled(o.clock, WEEK),
        one_hot(day, DAYS),
        _scaled(slot, SLOTS),
        one_hot(o.place, o.distance.shape[0]),
        _scaled(o.travel_left, 5),
        one_hot(o.channel, o.unread.shape[0]),
        _scaled(o.unread, 5),
        one_hot(head.kind, len(KINDS)),
        one_hot(head.fact, o.told.shape[0]),
        _scaled(head.points, POINTS),
        _scaled(jnp.where(head.kind > 0, head.until - o.clock, 0), WEEK),
        _scaled(jnp.where(head.length > 0, head.start - o.clock, 0), WEEK),
        _scaled(head.length, 5),
        _scaled(jnp.where(head.length > 0, _way(o, head.place), 0), 5),
        one_hot(jnp.where(head.kind > 0, head.place, ANYWHERE), o.distance.shape[0]),
        head.overlaps,
        one_hot(o.told, VALUES),
        _scaled(o.age, WEEK),
    ]
    return jnp.concatenate([jnp.ravel(jnp.asarray(part, jnp.float32)) for part in parts])


def place_features(o: Observation) -> jax.Array:
    """[L, L + 1] float32: which, and the way."""
    return _beside(np.eye(o.distance.shape[0]), _scaled(o.distance, 5)[:, None])


def channel_features(o: Observation) -> jax.Array:
    """[C, 3] float32: unread, whether anything is, open."""
    C = o.unread.shape[0]
    return table([_scaled(o.unread, 5), o.unread > 0, one_hot(o.channel, C)])


def event_features(o: Observation) -> jax.Array:
    """[E, 7 + L] float32: start, the same near by, length, points, attended, the way, whether it has begun, place."""
    e, L = o.events, o.distance.shape[0]
    columns = [
        _scaled(e.start - o.clock, WEEK),
        _scaled(jnp.clip(e.start - o.clock, -5, 10), 5),
        _scaled(e.length, 5),
        _scaled(e.points, POINTS),
        _scaled(e.attended, 5),
        _scaled(_way(o, e.place), 5),
        e.start <= o.clock,
    ]
    return jnp.where(e.exists[:, None], _beside(table(columns), one_hot(e.place, L)), 0.0)


def job_features(o: Observation, groups: int) -> jax.Array:
    """[J, 10 + (V + 2) G + L] float32: left, points, the way, opens, closes, whether it is open, first, whether it has
    come, due, begun; group with value, the group that it needs, place.
    """
    j = o.jobs
    slot = o.clock % SLOTS
    columns = [
        _scaled(j.left, 5),
        _scaled(j.points, POINTS),
        _scaled(_way(o, j.place), 5),
        _scaled(j.opens - slot, SLOTS),
        _scaled(j.closes - slot, SLOTS),
        (j.opens <= slot) & (slot < j.closes),
        _scaled(j.first - o.clock, WEEK),
        j.first <= o.clock,
        _scaled(j.due - o.clock, WEEK),
        j.begun,
    ]
    about = [_values(j.group, j.value, groups), one_hot(j.needs, groups), one_hot(j.place, o.distance.shape[0])]
    return jnp.where(j.exists[:, None], _beside(table(columns), *about), 0.0)


def message_features(o: Observation) -> jax.Array:
    """[K, 7 + (V + 1) F] float32: kind, fact with value, whether it waits, until when."""
    m = o.messages
    until = jnp.where(m.waits, m.until - o.clock, 0)
    about = (one_hot(m.kind, len(KINDS)), _values(m.fact, m.value, o.told.shape[0]))
    return jnp.where(m.exists[:, None], _beside(*about, table([m.waits, _scaled(until, WEEK)])), 0.0)


def reply_features(o: Observation) -> jax.Array:
    """[V, (F + 1) V] float32: which value is said of which fact, or to a request."""
    said = (o.head.fact + 1) * VALUES + np.arange(VALUES, dtype=np.int32)
    return one_hot(said, (o.told.shape[0] + 1) * VALUES, dtype=jnp.float32)


def action_features(catalogue: Catalogue, o: Observation, jobs: jax.Array) -> ActionTables:
    """[A, 20 + 2 L + (V + 2) G + (F + 1) V]: the verb, and the features of the place, job, channel or reply."""
    verb, number = catalogue.table.T
    tables = (place_features(o), jobs, channel_features(o), reply_features(o))
    rows = (np.where(verb == of, number, -1) for of in (GO, WORK, OPEN, REPLY))
    verbs = jnp.eye(len(VERBS), dtype=jnp.float32)
    return ActionTables.of([verbs, *tables], [verb, *rows], o.action_mask)


def _values(fact: jax.Array, value: jax.Array, facts: int) -> jax.Array:
    """[n, (V + 1) facts] float32: a fact with a value of it or with none, so that a linear layer tells all apart."""
    return one_hot(jnp.where(fact >= 0, fact * (VALUES + 1) + value + 1, -1), (VALUES + 1) * facts)


def _way(o: Observation, place: jax.Array) -> jax.Array:
    """Slots to a place, 0 for ANYWHERE."""
    return jnp.where(place == ANYWHERE, 0, read(o.distance, place))


def _scaled(number: jax.Array, scale: float) -> jax.Array:
    return number.astype(jnp.float32) / scale


def _beside(*tables: jax.Array | np.ndarray) -> jax.Array:
    return jnp.concatenate([as_float(each) for each in tables], axis=1)
