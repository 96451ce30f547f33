"""A plan as tables: facts, routes and milestones, by the numbers that their parts have."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core import bitsets
from jaxenv.core.numbers import as_integer
from jaxenv.envs.lifestack.generator.plan import (
    FIRST_TURN,
    FORK,
    LINKS,
    NUM_ROUTES,
    SECOND_TURN,
    TRAP,
    Costs,
    Plan,
)
from jaxenv.envs.lifestack.types import UNKNOWN, UNWRITTEN, Scenario

# Keys by part: what the links bring about, then
FORK_FACT, TURN_FACT, SHUT_FACT, WAIT_FACT = range(LINKS, LINKS + 4)
FIRST_TRAP_FACT = WAIT_FACT + 1  # what the four slots behind the links bring about as traps
ASIDE = FIRST_TRAP_FACT + 4  # asked for by traps or by nothing
HIDDEN = (FORK_FACT, TURN_FACT, WAIT_FACT, ASIDE)
NUM_KEYS = ASIDE + 1
YES, NO = 1, 2  # codes; variants ask for one each, and what is waited for turns from NO to YES

TRAP_MILESTONE = LINKS
NUM_MILESTONES = LINKS + 1


def set_facts(scenario: Scenario, plan: Plan, u: jax.Array) -> Scenario:
    """First values, and what is known of them; `u` is [] in [0, 1)."""
    key = np.arange(NUM_KEYS)
    first = jnp.where(np.isin(key, [FORK_FACT, TURN_FACT, SHUT_FACT]), YES, jnp.where(key == WAIT_FACT, NO, 0))
    first = jnp.where(key == ASIDE, jnp.where(u < 0.5, YES, NO), first)
    hidden = np.isin(key, HIDDEN)
    exists = key_exists(plan)
    first = jnp.where(exists, first, 0)
    return scenario.replace(
        num_keys=jnp.sum(exists).astype(jnp.int8),
        facts=put(scenario.facts, first),
        known=put(scenario.known, jnp.where(hidden | ~exists, UNKNOWN, first)),
        shown=bitsets.of_flags((key == SHUT_FACT) & exists, scenario.shown.dtype),
    )


def key_exists(plan: Plan) -> jax.Array:
    """[K] bool: the keys that the plan uses, and the one aside."""
    parts = jnp.stack([plan.fork, plan.turn, plan.shut, plan.wait]) >= 0
    return jnp.concatenate([np.arange(LINKS) < plan.length, parts, plan.trap[LINKS:], jnp.ones(1, bool)])


def set_routes(scenario: Scenario, plan: Plan, costs: Costs, u: jax.Array) -> Scenario:
    """Each link needs what the one before brought, and its own conditions; each variant brings the same.

    Args:
        scenario: to be filled.
        plan: its structure.
        costs: of its routes.
        u: [8 + 5] in [0, 1): rewards of the routes, and which milestones are locked.
    """
    slot = np.arange(NUM_ROUTES)
    exists = plan.exists
    codes, order = needs(plan)
    brings = jnp.where(plan.trap, FIRST_TRAP_FACT + slot - LINKS, plan.link)
    value = jnp.where((slot == FIRST_TURN) & ~plan.trap, NO, YES)
    here = (brings[:, None] == np.arange(NUM_KEYS)[None]) & exists[:, None]
    other_turn = (slot[:, None] == FIRST_TURN) & (slot[None] == plan.turn) & (plan.turn >= 0)
    closes = (plan.spoils[:, None] == slot[None]) | other_turn | other_turn.T
    locked = (u[NUM_ROUTES:] < 0.5) & milestone_exists(plan)
    of_route = jnp.where(slot == TRAP, jnp.where(plan.trap, TRAP_MILESTONE, plan.link), plan.link)
    unlocks = (of_route[:, None] == np.arange(NUM_MILESTONES)[None]) & exists[:, None] & locked[None]
    routes = scenario.routes
    return scenario.replace(
        num_routes=jnp.sum(exists).astype(jnp.int8),
        locked=bitsets.of_flags(locked, scenario.locked.dtype),
        routes=routes.replace(
            required=put(routes.required, jnp.where(exists, costs.required, 0)),
            preconditions=put(routes.preconditions, jnp.where(order > 0, 1 << codes, 0)),
            order=put(routes.order, order),
            writes=put(routes.writes, jnp.where(here, value[:, None], UNWRITTEN)),
            closes=put(routes.closes, bitsets.of_flags(closes & exists[:, None] & exists[None])),
            unlocks=put(routes.unlocks, bitsets.of_flags(unlocks)),
            reward=put(routes.reward, jnp.where(exists, tenths(u[:NUM_ROUTES], 3, 10), 0)),
            time=put(routes.time, jnp.where(exists, costs.time, 0)),
            energy=put(routes.energy, jnp.where(exists, costs.energy, 0)),
            money=put(routes.money, jnp.where(exists, costs.money, 0)),
        ),
    )


def needs(plan: Plan) -> tuple[jax.Array, jax.Array]:
    """([8, K] int32 the code that a route needs of a key, [8, K] int32 its place among the preconditions, from 1)."""
    slot, key, link = np.arange(NUM_ROUTES)[:, None], np.arange(NUM_KEYS)[None], plan.link[:, None]
    is_first_variant = slot < LINKS
    before = (key == link - 1) & (link >= 1)
    forked = (key == FORK_FACT) & (plan.fork >= 0) & (link == plan.fork)
    turned = (key == TURN_FACT) & (plan.turn >= 0) & (link == plan.turn + 1)
    shut = (key == SHUT_FACT) & (plan.shut >= 0) & (link == plan.shut) & is_first_variant
    wait = (key == WAIT_FACT) & (plan.wait >= 0) & (link == plan.wait) & is_first_variant
    lured = (key == ASIDE) & plan.trap[:, None] & (slot % 2 == 0)
    needed = (before | forked | turned | shut | wait | lured) & plan.exists[:, None]
    is_no = (forked & (slot == FORK)) | ((turned | before) & (slot == SECOND_TURN))
    return jnp.where(is_no, NO, YES), jnp.where(needed, jnp.cumsum(needed, axis=-1, dtype=jnp.int32), 0)


def milestone_exists(plan: Plan) -> jax.Array:
    """[5] bool: one for each link, and one for the last trap."""
    return jnp.append(np.arange(LINKS) < plan.length, plan.trap[TRAP])


def set_goals(scenario: Scenario, plan: Plan, u: jax.Array) -> Scenario:
    """A milestone at each link, whatever its variant, and one that leads astray; success is what the last link brings.

    `u` is [5] in [0, 1): rewards of the milestones.
    """
    exists = milestone_exists(plan)
    target = np.append(np.arange(LINKS), FIRST_TRAP_FACT + TRAP - LINKS)
    codes = jnp.where(target == plan.turn, (1 << YES) | (1 << NO), 1 << YES)
    success = jnp.where(np.arange(NUM_KEYS)[:, None] == plan.length - 1, 1 << YES, 0)
    milestones = scenario.milestones
    return scenario.replace(
        num_milestones=jnp.sum(exists).astype(jnp.int8),
        milestones=milestones.replace(
            key=put(milestones.key, jnp.where(exists, target, 0)),
            codes=put(milestones.codes, jnp.where(exists, codes, 0)),
        ),
        milestone_reward=put(scenario.milestone_reward, jnp.where(exists, tenths(u, 3, 8), 0)),
        success=scenario.success.replace(facts=put(scenario.success.facts, success)),
    )


def tenths(u: jax.Array, low: int, high: int) -> jax.Array:
    """float32 of the shape of `u`: tenths from low to high, the nearest float to the decimal."""
    return jnp.asarray(np.arange(high + 1) / 10, jnp.float32)[
        as_integer(u, low, high)
    ]  # compiled, a division would be off


def put(table: Any, values: jax.Array) -> jax.Array:
    """The table with values in its first slots, in its own dtype."""
    corner = tuple(slice(0, size) for size in values.shape)
    return jnp.asarray(table).at[corner].set(values.astype(table.dtype))
