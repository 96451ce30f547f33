"""Conditions on metrics: a goal that upkeep or helps surely reach, and metrics that traps may bring too low."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.envs.lifestack.generator.life import Life
from jaxenv.envs.lifestack.generator.plan import Plan
from jaxenv.envs.lifestack.generator.tables import put
from jaxenv.envs.lifestack.metrics import HIGHEST, INVERTED, UNIT
from jaxenv.envs.lifestack.types import Scenario
from jaxenv.host.numbers import as_integer

NEED, GOAL, FEAR, SECOND_FEAR = range(4)  # bounds, in the order in which a document has them
NUM_BOUNDS = SECOND_FEAR + 1
HIGHEST_GOAL = 95 * UNIT  # on the scale where higher is better


def set_conditions(scenario: Scenario, plan: Plan, life: Life, u: jax.Array) -> Scenario:
    """A goal as a second member of success, as a precondition of the last link, or as both; and failures.

    Args:
        scenario: to be filled.
        plan: its structure.
        life: the remaining metrics, and ways to improve them.
        u: [4] in [0, 1).
    """
    in_success, in_need = life.has_goal & (u[0] < 0.8), life.has_goal & (u[0] >= 0.35)
    goal = jnp.minimum(life.left[life.goal] + life.relief, HIGHEST_GOAL)
    fears = jnp.maximum(life.left[life.fear] - UNIT * as_integer(u[1:3], 1, 8), UNIT // 2)
    exists = jnp.concatenate([jnp.stack([in_need, in_success]), life.has_fear])
    metric = jnp.concatenate([jnp.stack([life.goal, life.goal]), life.fear])
    worst = jnp.concatenate([jnp.stack([goal - UNIT * as_integer(u[3], 1, 5), goal]), fears])
    is_fear, inverted = np.arange(NUM_BOUNDS) >= FEAR, jnp.asarray(INVERTED)[metric]
    is_least = inverted == is_fear  # the metric itself is bounded from below
    value = jnp.where(inverted, HIGHEST - worst, worst)
    low, high = jnp.where(is_least, value, 0), jnp.where(is_least, HIGHEST, value)
    place = jnp.cumsum(exists) - 1
    order = jnp.argsort(~exists, stable=True)

    def column(table: jax.Array, values: jax.Array) -> jax.Array:
        return put(table, jnp.where(exists, values, 0)[order])

    bounds, routes = scenario.bounds, scenario.routes
    sets = jnp.where(exists, 1 << place, 0)
    is_last = put(jnp.zeros(routes.required.shape, bool), plan.exists & (plan.link == plan.length - 1))
    last_place = jnp.sum(routes.order > 0, 1) + 1
    needs = jnp.where(is_last & in_need, last_place, 0).astype(routes.bound_order.dtype)
    of_success = scenario.success.bounds
    return scenario.replace(
        num_success=1 + in_success.astype(jnp.int8),
        success=scenario.success.replace(bounds=of_success.at[1].set(sets[GOAL].astype(of_success.dtype))),
        failure=scenario.failure.replace(bounds=put(scenario.failure.bounds, (sets[FEAR] | sets[SECOND_FEAR])[None])),
        routes=routes.replace(bound_order=routes.bound_order.at[:, 0].set(needs)),
        num_bounds=jnp.sum(exists).astype(jnp.int8),
        bounds=bounds.replace(
            metric=column(bounds.metric, metric), low=column(bounds.low, low), high=column(bounds.high, high)
        ),
    )
