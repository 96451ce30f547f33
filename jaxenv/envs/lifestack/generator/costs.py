"""The costs of routes in a drawn crisis: verbs, time, energy and money.

A dead end among rival ways costs more than the rest of the cheapest way there leaves of money or time.
"""

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core.numbers import as_integer
from jaxenv.envs.lifestack.actions import ENERGY, NUM_VERBS, TIME
from jaxenv.envs.lifestack.generator.plan import (
    BY_MONEY,
    BY_TIME,
    FIRST_TURN,
    FORK,
    LINKS,
    NUM_ROUTES,
    SECOND_TURN,
    Plan,
)
from jaxenv.envs.lifestack.types import CENTS, Scenario

MAX_VERBS = 3  # of a route, and
BEYOND = (4, 6)  # of one at a difficulty above 1
NUM_PRICES = 4 + NUM_VERBS  # uniform numbers that a route's verbs and prices take
MONEY_STEP = 2000  # hundredths; every price is a multiple


class Costs(struct.PyTreeNode):
    """The costs of the routes, [8] each."""

    required: jax.Array  # [8] int16, bit v for verb v
    verbs: jax.Array  # [8] int32, how many
    time: jax.Array  # [8] int32, hundredths of an hour added to each verb
    energy: jax.Array  # [8] int32, hundredths added to each verb
    money: jax.Array  # [8] int32, hundredths
    verb_time: jax.Array  # [8] int32, over all its verbs, without the added time
    total_energy: jax.Array  # [8] int32, over the verbs that cost some

    @property
    def total_time(self) -> jax.Array:
        """[8] int32: over all verbs of each route."""
        return self.verb_time + self.verbs * self.time


def draw_costs(u: jax.Array, difficulty: jax.Array, is_beyond: jax.Array) -> Costs:
    """Verbs and prices of eight routes from [8, NUM_PRICES] uniform numbers."""
    count = 1 + as_integer(u[:, 0] * (0.5 + 0.5 * difficulty), 0, MAX_VERBS - 1)
    count = jnp.where(is_beyond, as_integer(u[:, 0], *BEYOND), count)
    score = u[:, 4:]
    rank = jnp.sum(score[:, None, :] < score[:, :, None], axis=-1, dtype=jnp.int32)
    chosen = rank < count[:, None]
    bits = np.left_shift(1, np.arange(NUM_VERBS, dtype=np.int32))[None]
    energy = jnp.where(u[:, 2] < 0.2, 300, 0)
    verb_energy = jnp.maximum(ENERGY[None, :NUM_VERBS] + energy[:, None], 0)
    return Costs(
        required=jnp.sum(jnp.where(chosen, bits, 0), axis=-1).astype(jnp.int16),
        verbs=count,
        time=jnp.where(u[:, 1] < 0.2, 50, 0),
        energy=energy,
        money=jnp.where(u[:, 3] < 0.45, MONEY_STEP * (1 + as_integer(u[:, 3] / 0.45, 0, 14)), 0),
        verb_time=jnp.sum(jnp.where(chosen, TIME[None, :NUM_VERBS], 0), axis=-1),
        total_energy=jnp.sum(jnp.where(chosen, verb_energy, 0), axis=-1),
    )


def dearest(plan: Plan, cost: jax.Array) -> jax.Array:
    """[5] int32: the cost of each link in its dearer variant that is no dead end, 0 behind the chain; `cost` is [8]."""
    return jnp.max(jnp.where(_variants(plan), cost[:, None], 0), axis=0)


def cheapest(plan: Plan, cost: jax.Array) -> jax.Array:
    """[5] int32: the same of the cheaper one."""
    variants = _variants(plan)
    least = jnp.min(jnp.where(variants, cost[:, None], np.iinfo(np.int32).max), axis=0)
    return jnp.where(variants.any(0), least, 0)


def of_helps(plan: Plan, cost: jax.Array) -> jax.Array:
    """[] int32: the total cost of all helps; `cost` is [8]."""
    return jnp.sum(jnp.where(plan.help, cost, 0))


def _variants(plan: Plan) -> jax.Array:
    """[8, 5] bool: which routes are variants of which link, without dead ends."""
    return (plan.link[:, None] == np.arange(LINKS)[None]) & (plan.exists & ~plan.dead)[:, None]


DUE = 2 * MONEY_STEP  # the least payment beside the last route of a dead end
TIME_STEP = CENTS // 2


def with_dues(costs: Costs, plan: Plan) -> Costs:
    """Costs under which a dead end can be begun, and something is still to be paid where it has taken the money."""
    slot, of_turn = np.arange(NUM_ROUTES), plan.turn_by == BY_MONEY
    after_fork = (plan.fork_by == BY_MONEY) & (plan.link == plan.fork + 1)
    money = jnp.where(after_fork | (of_turn & (slot == plan.turn + 1)), jnp.maximum(costs.money, DUE), costs.money)
    of_other_way = jnp.sum(jnp.where((slot == plan.turn) | (slot == plan.turn + 1), money, 0))
    is_first = of_turn & (slot == FIRST_TURN)
    return costs.replace(money=jnp.where(is_first, jnp.clip(money, DUE, jnp.maximum(of_other_way, DUE)), money))


def set_prices(scenario: Scenario, plan: Plan, costs: Costs, u: jax.Array) -> Scenario:
    """The last route of a dead end costs more than the rest of the cheapest way there leaves; `u` is [] in [0, 1)."""
    of_turn = plan.dead[SECOND_TURN]
    slot = np.arange(NUM_ROUTES)
    is_last = plan.dead & jnp.where(of_turn, slot == SECOND_TURN, slot == FORK)
    by_money, by_time = ((plan.turn_by == kind) | (plan.fork_by == kind) for kind in (BY_MONEY, BY_TIME))

    money_left = scenario.money - _beside(plan, costs.money)
    price = jnp.maximum(costs.money, money_left + MONEY_STEP // 2 * as_integer(u, 1, 4))
    time_left = scenario.time - _beside(plan, costs.total_time) - costs.verb_time
    hours = jnp.maximum(costs.time, TIME_STEP * (1 + time_left // (costs.verbs * TIME_STEP)))
    routes = scenario.routes

    def put_last(table: jax.Array, values: jax.Array, decides: jax.Array) -> jax.Array:
        return table.at[:NUM_ROUTES].set(jnp.where(is_last & decides, values, table[:NUM_ROUTES]))

    return scenario.replace(
        routes=routes.replace(money=put_last(routes.money, price, by_money), time=put_last(routes.time, hours, by_time))
    )


def _beside(plan: Plan, cost: jax.Array) -> jax.Array:
    """[] int32: the least that is to be paid for all but the last route of the dead end; `cost` is [8]."""
    of_turn, link = plan.dead[SECOND_TURN], np.arange(LINKS)
    replaced = jnp.where(of_turn, (link == plan.turn) | (link == plan.turn + 1), link == plan.fork)
    rest = jnp.sum(jnp.where(replaced, 0, cheapest(plan, cost)))
    return rest + jnp.where(of_turn, cost[FIRST_TURN], 0)
