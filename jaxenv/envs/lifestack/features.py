"""The observation as entities with features of about unit size, for networks."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.numbers import as_float, table
from jaxenv.core.types import ActionTables, Entities, EntityGroup
from jaxenv.envs.lifestack import actions
from jaxenv.envs.lifestack.actions import Catalogue
from jaxenv.envs.lifestack.metrics import HIGHEST, UNIT, better
from jaxenv.envs.lifestack.outlook import MONEY_SCALE, RouteSummary, bound_uses, summarize_routes
from jaxenv.envs.lifestack.types import ABSENT, CENTS, IN_SUCCESS, MAX_ENERGY, NEVER, UNKNOWN, Observation
from jaxenv.lowering import bitsets

IN_DANGER = 25 * UNIT  # a metric below this is near to collapse; higher is better
STEPS_SCALE, HOURS_SCALE = 20.0, 20.0


def entities(catalogue: Catalogue, observation: Observation) -> Entities:
    """The observation as entities with float32 features.

    context [8 + 23]: shares of time limit and deadline gone, steps left to each, whether there is a deadline, time,
    money and energy left; the metrics, higher is better. Groups: bounds [B, 9], events [X, 1], keys [K, 11],
    milestones [M, 4], routes [R, 36]. actions [A, 31]: kind, cost and outlook of each entry, zeros where not legal.
    """
    routes = summarize_routes(observation)
    return Entities(
        context=_context_features(observation),
        groups={
            "bounds": EntityGroup(_bound_features(observation), observation.bounds.exists),
            "events": EntityGroup(as_float(observation.fired)[:, None], observation.fired),
            "keys": EntityGroup(_key_features(observation), observation.keys.exists),
            "milestones": EntityGroup(_milestone_features(observation), observation.milestones.exists),
            "routes": EntityGroup(_route_features(observation, routes), observation.routes.exists),
        },
        actions=_action_features(catalogue, observation, routes),
    )


def _context_features(o: Observation) -> jax.Array:
    """[8 + 23] float32: the clock, resources and metrics."""
    has_deadline = o.deadline != NEVER
    clock, max_steps, deadline = as_float(o.clock), as_float(o.max_steps), as_float(o.deadline)
    scalars = [
        clock / max_steps,
        (max_steps - clock) / STEPS_SCALE,
        as_float(has_deadline),
        jnp.where(has_deadline, clock / deadline, 0.0),
        jnp.where(has_deadline, (deadline - clock) / STEPS_SCALE, 0.0),
        jnp.minimum(as_float(o.time) / (HOURS_SCALE * CENTS), 5.0),
        jnp.minimum(as_float(o.money) / (MONEY_SCALE * CENTS), 5.0),
        as_float(o.energy) / MAX_ENERGY,
    ]
    return jnp.concatenate([jnp.stack(scalars), as_float(better(o.metrics)) / HIGHEST])


def _bound_features(o: Observation) -> jax.Array:
    """[B, 9] float32: edges, value, holds, distance from the nearer edge, and where it matters."""
    b = o.bounds
    value = o.metrics[b.metric]
    outside = jnp.maximum(b.low - value, 0) - jnp.maximum(value - b.high, 0)
    edges = [as_float(x) / HIGHEST for x in (b.low, b.high, value)]
    columns = [*edges, b.holds, as_float(outside) / (20.0 * UNIT), *bound_uses(o)]
    return table(columns) * as_float(b.exists)[:, None]


def _key_features(o: Observation) -> jax.Array:
    """[K, 11] float32: the agent's knowledge of each key, and where it matters."""
    k, is_known = o.keys, o.keys.code != UNKNOWN
    shown, inspectable, wanted, *uses = (
        bitsets.flags(keys, is_known.shape[0]) for keys in (k.shown, k.inspectable, k.wanted, *k.uses)
    )
    flags = [k.exists, shown, inspectable, is_known, k.code == ABSENT, wanted, wanted & ~is_known, *uses]
    return table(flags) * as_float(k.exists)[:, None]


def _milestone_features(o: Observation) -> jax.Array:
    """[M, 4] float32: open, reached, reward, in sight."""
    m = o.milestones
    return table([m.open, m.reached, m.reward, m.in_sight]) * as_float(m.exists)[:, None]


def _route_features(o: Observation, summary: RouteSummary) -> jax.Array:
    """[R, 36] float32: its state, summary and cost, and the verbs still to be done."""
    r = o.routes
    columns = [
        r.open,
        r.completed,
        summary.serves,
        summary.leads,
        summary.blocked,
        summary.failing / 2.0,
        summary.unknown / 2.0,
        as_float(bitsets.sizes(r.holds)) / 2.0,
        summary.outstanding / 4.0,
        summary.reward,
        summary.money,
        summary.spoils,
        *_outlook(summary),
        as_float(r.time) / CENTS,
        as_float(r.energy) / (20.0 * CENTS),
        r.money <= o.money,
    ]
    verbs = as_float(bitsets.flags(r.outstanding, actions.NUM_VERBS))
    return jnp.concatenate([table(columns), verbs], axis=-1) * as_float(r.exists)[:, None]


def _outlook(summary: RouteSummary) -> list[jax.Array]:
    """9 columns: the effects of completing it on the metrics and the goal, and the remaining payments and verbs."""
    return [
        summary.ruins,
        summary.raises_success,
        summary.raises_precondition,
        summary.averts_failure,
        summary.margin,
        summary.money_ahead,
        summary.too_dear,
        summary.verbs_ahead / 10.0,
        summary.too_late,
    ]


def _action_features(catalogue: Catalogue, o: Observation, summary: RouteSummary) -> ActionTables:
    """[A, 31] float32: kind [4], outlook of its route or key [20], costs and effects of its activity [7]."""
    tables = (jnp.eye(4, dtype=jnp.float32), _target_features(o, summary), _activity_features(o))
    return ActionTables.of(tables, _rows(catalogue), o.action_mask)


def _rows(catalogue: Catalogue) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """[A] whole numbers each: the kind, 0 on a route, 1 inspecting, 2 upkeep, 3 waiting; the target, -1 for none; the
    activity.
    """
    activity, route, key = catalogue.table.T
    on_route, inspects = activity < actions.NUM_VERBS, activity == actions.INSPECTING
    kind = np.select([on_route, inspects, activity == actions.WAITING], [0, 1, 3], 2)
    return kind, np.select([on_route, inspects], [route, catalogue.routes + key], -1), activity


def _target_features(o: Observation, summary: RouteSummary) -> jax.Array:
    """[R + K, 20] float32: the outlook of an action on each route and on each key."""
    is_last = summary.outstanding == 1
    columns = [
        summary.serves,
        summary.leads,
        summary.blocked,
        summary.failing > 0,
        summary.unknown / 2.0,
        summary.outstanding / 4.0,
        is_last,
        is_last & (summary.failing + summary.unknown == 0),
        summary.reward,
        summary.money,
        summary.spoils,
        *_outlook(summary),
    ]
    serves, unknown = np.split(np.eye(len(columns), dtype=np.float32)[[0, 4]], 2)
    wanted = as_float(bitsets.flags(o.keys.wanted, o.keys.code.shape[0]))
    keys = wanted[:, None] * serves + as_float(o.keys.code == UNKNOWN)[:, None] * unknown
    return jnp.concatenate([table(columns), keys])


def _activity_features(o: Observation) -> jax.Array:
    """[activities, 7] float32: time and energy that it costs, wellbeing gained, progress towards unmet bounds, best and
    worst change of a metric in danger, energy left.
    """
    after = jnp.clip(o.metrics[None] + actions.EFFECTS, 0, HIGHEST)
    gained = better(after) - better(o.metrics)[None]
    value = o.metrics[o.bounds.metric]
    is_low, is_high = value < o.bounds.low, value > o.bounds.high
    towards = jnp.where(
        o.bounds.exists & bound_uses(o)[IN_SUCCESS], is_low.astype(jnp.int32) - is_high.astype(jnp.int32), 0
    )
    moved = (after - o.metrics[None])[:, o.bounds.metric] * towards[None]
    in_danger = jnp.where((better(o.metrics) < IN_DANGER)[None], gained, 0)
    columns = [
        jnp.asarray(actions.TIME / CENTS, jnp.float32),
        jnp.asarray(actions.ENERGY / (20.0 * CENTS), jnp.float32),
        as_float(jnp.sum(gained, axis=-1, dtype=jnp.int32)) / (20.0 * UNIT),
        as_float(jnp.sum(moved, axis=-1, dtype=jnp.int32)) / (10.0 * UNIT),
        as_float(jnp.max(in_danger, axis=-1)) / (10.0 * UNIT),
        as_float(jnp.min(in_danger, axis=-1)) / (10.0 * UNIT),
        jnp.broadcast_to(as_float(o.energy) / MAX_ENERGY, actions.TIME.shape),
    ]
    return jnp.stack(columns, axis=-1)
