"""The rewards of a drawn crisis on the way and at its end, in tenths."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.envs.lifestack.generator.plan import Plan
from jaxenv.envs.lifestack.generator.slots import LINKS
from jaxenv.envs.lifestack.generator.tables import put
from jaxenv.envs.lifestack.types import Scenario
from jaxenv.host.numbers import as_integer

SHARE_LATE = 0.5  # of the crises, those of which the end pays most
MOST_LATE = (25, 25, 18, 15)  # tenths of the last link, by how many variants it has
TENTHS = np.arange(max(MOST_LATE) + 1) / 10


def is_late(u: jax.Array) -> jax.Array:
    """[] bool: the end pays most; `u` is [] in [0, 1)."""
    return u < SHARE_LATE


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
    routes = jnp.where(
        late, tenths(of_routes, jnp.where(last, 12, 2), jnp.where(last, most, 5)), tenths(of_routes, 3, 9)
    )
    at_end = np.arange(LINKS + 1) == plan.length - 1
    milestones = jnp.where(
        late,
        tenths(of_milestones, jnp.where(at_end, 10, 1), jnp.where(at_end, 20, 4)),
        tenths(of_milestones, 3, 6),
    )
    return scenario.replace(
        routes=scenario.routes.replace(reward=put(scenario.routes.reward, jnp.where(plan.exists, routes, 0))),
        milestone_reward=put(scenario.milestone_reward, jnp.where(plan.milestone, milestones, 0)),
    )


def tenths(u: jax.Array, low: jax.Array | int, high: jax.Array | int) -> jax.Array:
    """float32 of the shape of `u`: tenths from low to high, the nearest float to the decimal."""
    return jnp.asarray(TENTHS, jnp.float32)[as_integer(u, low, high)]  # compiled, a division would be off
