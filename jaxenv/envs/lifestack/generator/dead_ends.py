"""Dead ends among rival ways: prices that leave too little money or time for the rest of the way, whatever it takes."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.envs.lifestack.generator.costs import MONEY_STEP, Costs, cheapest
from jaxenv.envs.lifestack.generator.plan import Plan
from jaxenv.envs.lifestack.generator.rivals import BY_MONEY, BY_TIME
from jaxenv.envs.lifestack.generator.slots import FIRST_TURN, FORK, LINKS, NUM_ROUTES, SECOND_TURN
from jaxenv.envs.lifestack.types import CENTS, Scenario
from jaxenv.host.numbers import as_integer

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
        here = table[:NUM_ROUTES]
        return table.at[:NUM_ROUTES].set(jnp.where(is_last & decides, values, here))

    return scenario.replace(
        routes=routes.replace(money=put_last(routes.money, price, by_money), time=put_last(routes.time, hours, by_time))
    )


def _beside(plan: Plan, cost: jax.Array) -> jax.Array:
    """[] int32: the least that is to be paid for all but the last route of the dead end; `cost` is [8]."""
    of_turn, link = plan.dead[SECOND_TURN], np.arange(LINKS)
    replaced = jnp.where(of_turn, (link == plan.turn) | (link == plan.turn + 1), link == plan.fork)
    rest = jnp.sum(jnp.where(replaced, 0, cheapest(plan, cost)))
    return rest + jnp.where(of_turn, cost[FIRST_TURN], 0)
