"""The goals of a drawn crisis: conditions on metrics and rewards.

Upkeep or helps surely reach a metric's goal; traps may bring another metric too low. Rewards are tenths.
"""

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.numbers import as_integer
from jaxenv.envs.lifestack.generator.life import Life
from jaxenv.envs.lifestack.generator.plan import LINKS, Plan
from jaxenv.envs.lifestack.generator.tables import put
from jaxenv.envs.lifestack.metrics import HIGHEST, INVERTED, UNIT
from jaxenv.envs.lifestack.types import Scenario

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
    columns, sets = {"metric": metric, "low": low, "high": high}, jnp.where(exists, 1 << place, 0)
    is_last = plan.exists & (plan.link == plan.length - 1)
    last_place = jnp.sum(scenario.routes.order[: is_last.size] > 0, 1) + 1
    return scenario.replace(
        num_success=1 + in_success.astype(jnp.int8),
        success=put(scenario.success, bounds=jnp.stack([0, sets[GOAL]])),
        failure=put(scenario.failure, bounds=(sets[FEAR] | sets[SECOND_FEAR])[None]),
        routes=put(scenario.routes, bound_order=jnp.where(is_last & in_need, last_place, 0)[:, None]),
        num_bounds=jnp.sum(exists).astype(jnp.int8),
        bounds=put(scenario.bounds, **{name: jnp.where(exists, each, 0)[order] for name, each in columns.items()}),
    )


SHARE_LATE = 0.5  # of the crises, those of which the end pays most
MOST_LATE = (25, 25, 18, 15)  # tenths of the last link, by how many variants it has
TENTHS = np.arange(max(MOST_LATE) + 1) / 10


def set_rewards(scenario: Scenario, plan: Plan, late: jax.Array, u: jax.Array) -> Scenario:
    """Rewards of routes and milestones, below the limits for stakes in every draw.

    In half of the crises the steps on the way pay little and winning pays several times as much, so that most of the
    return comes late; in the others all pay alike, so that side routes may pay best.

    Args:
        scenario: to be filled.
        plan: its structure.
        late: [] bool, whether the end pays most.
        u: [8 + 6] in [0, 1).
    """
    of_routes, of_milestones = jnp.split(u, (plan.exists.size,))
    last = plan.exists & (plan.link == plan.length - 1)
    most = jnp.asarray(MOST_LATE)[jnp.sum(last)]
    routes = tenths(of_routes, jnp.where(late, jnp.where(last, 12, 2), 3), jnp.where(late, jnp.where(last, most, 5), 9))
    at_end = np.arange(LINKS + 1) == plan.length - 1
    milestones = tenths(
        of_milestones, jnp.where(late, jnp.where(at_end, 10, 1), 3), jnp.where(late, jnp.where(at_end, 20, 4), 6)
    )
    scenario = put(scenario, milestone_reward=jnp.where(plan.milestone, milestones, 0))
    return scenario.replace(routes=put(scenario.routes, reward=jnp.where(plan.exists, routes, 0)))


def tenths(u: jax.Array, low: jax.Array | int, high: jax.Array | int) -> jax.Array:
    """float32 of the shape of `u`: tenths from low to high, the nearest float to the decimal."""
    return jnp.asarray(TENTHS, jnp.float32)[as_integer(u, low, high)]  # compiled, a division would be off
