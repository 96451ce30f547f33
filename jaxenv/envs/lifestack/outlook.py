"""A summary of each route for networks: its destination as far as known, its price, and its effects on the way."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core.numbers import as_float
from jaxenv.envs.lifestack.metrics import HIGHEST, UNIT
from jaxenv.envs.lifestack.types import CENTS, IN_FAILURE, IN_PRECONDITION, IN_SUCCESS, NEVER, Observation
from jaxenv.lowering import bitsets

MONEY_SCALE, REWARD_SCALE, METRIC_SCALE = 1000.0, 3.0, 20 * UNIT
NOWHERE = 10**9  # ahead of a route that leads to no success; twice as much fits into int32


class RouteSummary(struct.PyTreeNode):
    """A summary of each route, [R] float32 each."""

    serves: jax.Array  # 1 where it serves
    leads: jax.Array  # 1 where it serves and nothing known blocks it for good, nor the route that it serves
    blocked: jax.Array  # 1 where a precondition is known to fail that no open route would mend
    failing: jax.Array  # preconditions known to fail, bounds among them
    unknown: jax.Array  # preconditions not known
    outstanding: jax.Array  # verbs still to be done
    reward: jax.Array  # final reward
    money: jax.Array  # to be paid
    spoils: jax.Array  # other routes that lead and that it closes, or a precondition of which it breaks
    ruins: jax.Array  # 1 where completing it is failure, by a consequence or by a metric
    raises_success: jax.Array  # its effect on the metrics of success, towards their bounds
    raises_precondition: jax.Array  # the same for those of preconditions
    averts_failure: jax.Array  # the same for those of failure, away from their bounds
    margin: jax.Array  # by which the metrics of success can still be within their bounds once it has completed
    money_ahead: jax.Array  # to be paid from it to success, by the cheapest way; 0 where it does not lead
    verbs_ahead: jax.Array  # to be done from it to success, by the shortest way; 0 where it does not lead
    too_dear: jax.Array  # 1 where it leads, but money does not last
    too_late: jax.Array  # 1 where it leads, but later than the deadline or the time limit


def summarize_routes(o: Observation) -> RouteSummary:
    """A summary of each route."""
    routes = o.routes
    blocked = blocked_routes(o)
    money, verbs = routes.money, bitsets.sizes(routes.outstanding)
    money_ahead, verbs_ahead = ways_ahead(o, blocked, jnp.stack([money, verbs]))
    leads = verbs_ahead < NOWHERE
    spoiled = (routes.closes | routes.breaks) & bitsets.of_flags(leads) & ~_themselves(o)
    failing_bounds = routes.needs_bounds & ~bitsets.of_flags(o.bounds.holds)
    towards, uses = towards_bounds(o), bound_uses(o)
    raised = as_float(jnp.sum(jnp.where(uses[:, None], towards[None], 0), axis=-1, dtype=jnp.int32)) / METRIC_SCALE
    steps_left = jnp.minimum(o.max_steps, jnp.where(o.deadline == NEVER, o.max_steps, o.deadline)) - o.clock
    return RouteSummary(
        serves=as_float(routes.serves),
        leads=as_float(leads),
        blocked=as_float(blocked),
        failing=as_float(bitsets.sizes(routes.fails) + bitsets.sizes(failing_bounds)),
        unknown=as_float(bitsets.sizes(routes.unknown)),
        outstanding=as_float(verbs),
        reward=routes.reward / REWARD_SCALE,
        money=as_float(money) / (MONEY_SCALE * CENTS),
        spoils=as_float(bitsets.sizes(spoiled)),
        ruins=as_float(ruinous(o)),
        raises_success=raised[IN_SUCCESS],
        raises_precondition=raised[IN_PRECONDITION],
        margin=as_float(success_margin(o, towards)) / METRIC_SCALE,
        averts_failure=-raised[IN_FAILURE],
        money_ahead=as_float(jnp.where(leads, money_ahead, 0)) / (MONEY_SCALE * CENTS),
        verbs_ahead=as_float(jnp.where(leads, verbs_ahead, 0)),
        too_dear=as_float(leads & (money_ahead > o.money)),
        too_late=as_float(leads & (verbs_ahead > steps_left.astype(jnp.int32))),
    )


def blocked_routes(o: Observation) -> jax.Array:
    """[R] bool: a precondition on a fact is known to fail, and no open route would satisfy it."""
    mended = bitsets.union(o.routes.enables.T, where=o.routes.open[None])
    return (o.routes.fails & ~mended) != 0


def ways_ahead(o: Observation, blocked: jax.Array, price: jax.Array) -> jax.Array:
    """[P, R] int32: the least price from each route to success, over routes that serve and are not blocked.

    A route that needs two others counts the one at hand only. NOWHERE where a route leads to no success.

    Args:
        o: the observation.
        blocked: [R] bool.
        price: [P, R] int32, of each route alone, in P currencies.
    """
    routes = o.routes
    helps = (routes.enables & (routes.fails | routes.unknown)[None]) != 0
    is_last = ~jnp.any(helps & routes.serves[None], axis=-1)
    is_way = routes.serves & ~blocked
    ahead = jnp.where((is_way & is_last)[None], price, NOWHERE)
    for _ in range(is_way.shape[0] - 1):
        onwards = jnp.min(jnp.where(helps[None], ahead[:, None, :], NOWHERE), axis=-1)
        ahead = jnp.minimum(ahead, jnp.where(is_way[None], price + onwards, NOWHERE))
    return ahead


def towards_bounds(o: Observation) -> jax.Array:
    """[R, B] int32: how far completing a route moves the metric of a bound inwards; negative is outwards.

    At most the whole range of a metric.
    """
    b = o.bounds
    side = (b.low > 0).astype(jnp.int32) - (b.high < HIGHEST).astype(jnp.int32)
    return jnp.clip(o.routes.shift, -HIGHEST, HIGHEST) * jnp.where(b.exists, side, 0)[None]


def success_margin(o: Observation, towards: jax.Array) -> jax.Array:
    """[R] int32 from -METRIC_SCALE to METRIC_SCALE: how far within its bound the worst metric of success can come.

    By the routes that are open once a route completes; upkeep is not counted. METRIC_SCALE where success rests on no
    metric.

    Args:
        o: the observation.
        towards: [R, B] int32, `towards_bounds`.
    """
    b, routes = o.bounds, o.routes
    value = o.metrics[b.metric]
    now = jnp.minimum(value - b.low, b.high - value)
    gains = jnp.where(routes.open[:, None], jnp.maximum(towards, 0), 0)
    gone = bitsets.flags(routes.closes | _themselves(o), gains.shape[0])  # [route, other]
    others = jnp.sum(jnp.where(gone[:, :, None], 0, gains[None]), axis=1, dtype=jnp.int32)
    after = jnp.clip(now[None] + towards + others, -METRIC_SCALE, METRIC_SCALE)
    return jnp.min(jnp.where((b.exists & bound_uses(o)[IN_SUCCESS])[None], after, METRIC_SCALE), axis=-1)


def ruinous(o: Observation) -> jax.Array:
    """[R] bool: a consequence is failure, or a metric is where it is failure once the route has completed."""
    b = o.bounds
    after = jnp.clip(o.metrics[b.metric][None] + o.routes.shift, 0, HIGHEST)
    is_failure = (b.exists & bound_uses(o)[IN_FAILURE])[None] & (b.low[None] <= after) & (after <= b.high[None])
    return bitsets.flags(o.routes.brings_failure, after.shape[0]) | jnp.any(is_failure, axis=-1)


def bound_uses(o: Observation) -> jax.Array:
    """[4, B] bool: IN_SUCCESS .. IN_PRECONDITION, whether such a condition rests on the bound."""
    return bitsets.flags(o.bounds.uses, o.bounds.exists.shape[0])


def _themselves(o: Observation) -> np.ndarray:
    """[R]: each route as the set of itself."""
    return bitsets.singletons(o.routes.closes.shape[0], o.routes.closes.dtype)
