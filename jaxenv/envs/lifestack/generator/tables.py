"""A plan as tables: facts, routes and milestones, by the numbers that their parts have."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.fields import taken
from jaxenv.envs.lifestack.generator.costs import Costs
from jaxenv.envs.lifestack.generator.plan import (
    ASIDE_SLOTS,
    BY_FACT,
    FIRST_TURN,
    FORK,
    LINKS,
    NUM_ROUTES,
    SECOND_TURN,
    THIRD_FIRST,
    THIRD_SECOND,
    TRAP,
    UNDO,
    Plan,
)
from jaxenv.envs.lifestack.types import UNKNOWN, UNWRITTEN, Scenario
from jaxenv.lowering import bitsets

# Keys by part: results of the links, then
FORK_FACT, TURN_FACT, SHUT_FACT, WAIT_FACT = range(LINKS, LINKS + 4)
FIRST_ASIDE_FACT = WAIT_FACT + 1  # results of the slots from TRAP on as traps and helps
ASIDE = FIRST_ASIDE_FACT + ASIDE_SLOTS  # required by traps or by nothing
NUM_KEYS = ASIDE + 1
YES, NO, OTHER = 1, 2, 3  # codes; variants require one each, and an awaited fact turns from NO to YES
EITHER = 1 << YES | 1 << NO | 1 << OTHER

TRAP_MILESTONE = LINKS
NUM_MILESTONES = LINKS + 1


def set_facts(scenario: Scenario, plan: Plan, u: jax.Array) -> Scenario:
    """First values, and the agent's knowledge of them; `u` is [2] in [0, 1).

    Results of links are absent at first, or, in half of the crises, have another value.
    """
    key, doors = np.arange(NUM_KEYS), plan.doors
    first = jnp.where(np.isin(key, [FORK_FACT, TURN_FACT, SHUT_FACT]), YES, jnp.where(key == WAIT_FACT, NO, 0))
    first = jnp.where(key == ASIDE, jnp.where(u[0] < 0.5, YES, NO), first)
    first = jnp.where((key < LINKS) & ~_has_values(plan, key) & (u[1] < 0.5), NO, first)
    hidden, exists = is_hidden(plan), key_exists(plan)
    first = jnp.where(exists, first, 0)
    shows = ((key == SHUT_FACT) | (key == WAIT_FACT)) & ~hidden
    shows |= (doors.change == UNDO) & (key == doors.changed)
    scenario = put(scenario, facts=first, known=jnp.where(hidden | ~exists, UNKNOWN, first))
    return scenario.replace(
        num_keys=jnp.sum(exists).astype(jnp.int8),
        shown=bitsets.of_flags(shows & exists, scenario.shown.dtype),
    )


def _has_values(plan: Plan, link: Any) -> jax.Array:
    """Whether the variants of a link bring different values, each of which lets one go on."""
    return (link == plan.turn) | ((link == plan.fork) & plan.is_mixed)


def key_exists(plan: Plan) -> jax.Array:
    """[K] bool: the keys that the plan uses, and the one aside."""
    shuts, waits = (plan.doors.shut >= 0) & ~plan.doors.is_window, plan.doors.wait >= 0
    parts = jnp.stack([plan.fork_is_hidden, plan.turn_is_hidden, shuts, waits])
    beside = (plan.trap | plan.help)[TRAP:]
    return jnp.concatenate([np.arange(LINKS) < plan.length, parts, beside, jnp.ones(1, bool)])


def is_hidden(plan: Plan) -> jax.Array:
    """[K] bool: keys of the hidden state."""
    key, doors = np.arange(NUM_KEYS), plan.doors
    by_doors = ((key == SHUT_FACT) & doors.is_hidden) | ((key == WAIT_FACT) & ~doors.wait_shows)
    return by_doors | np.isin(key, (FORK_FACT, TURN_FACT, ASIDE))


def set_routes(scenario: Scenario, plan: Plan, costs: Costs, u: jax.Array) -> Scenario:
    """Each link needs the result of the one before, and its own conditions.

    Args:
        scenario: to be filled.
        plan: its structure.
        costs: of its routes.
        u: [6] in [0, 1): which milestones are locked.
    """
    slot, key = np.arange(NUM_ROUTES), np.arange(NUM_KEYS)
    exists, aside = plan.exists, plan.trap | plan.help
    codes, order = needs(plan)
    brings = jnp.where(aside, FIRST_ASIDE_FACT + slot - TRAP, plan.link)
    is_other = ((slot == FIRST_TURN) & ~aside) | ((slot == FORK) & (plan.fork >= 0) & plan.is_mixed)
    is_third = (slot == THIRD_FIRST) & plan.is_third
    value = jnp.where(is_third, OTHER, jnp.where(is_other, NO, YES))
    lure = plan.trap[:, None] & (key[None] == plan.lure[:, None])
    writes = jnp.where((brings[:, None] == key[None]) & exists[:, None], value[:, None], UNWRITTEN)
    rivals = ((plan.link == plan.turn) | ((plan.link == plan.fork) & (plan.fork_by != BY_FACT))) & (plan.link >= 0)
    excludes = (plan.link[:, None] == plan.link[None]) & rivals[:, None] & (slot[:, None] != slot[None])
    closes = (plan.spoils[:, None] == slot[None]) | excludes
    locked = (u < 0.5) & plan.milestone
    of_route = jnp.where((slot == TRAP) & plan.trap, TRAP_MILESTONE, plan.link)
    unlocks = (of_route[:, None] == np.arange(NUM_MILESTONES)[None]) & exists[:, None] & locked[None]
    to_pay = taken(costs, "required", "time", "energy", "money")
    return scenario.replace(
        num_routes=jnp.sum(exists).astype(jnp.int8),
        locked=bitsets.of_flags(locked, scenario.locked.dtype),
        routes=put(
            scenario.routes,
            preconditions=jnp.where(order > 0, codes, 0),
            order=order,
            writes=jnp.where(lure, YES, writes),
            closes=bitsets.of_flags(closes & exists[:, None] & exists[None]),
            unlocks=bitsets.of_flags(unlocks),
            **{name: jnp.where(exists, cost, 0) for name, cost in to_pay.items()},
        ),
    )


def needs(plan: Plan) -> tuple[jax.Array, jax.Array]:
    """([8, K] int32 the codes that a route needs of a key, [8, K] int32 its place among the preconditions, from 1)."""
    slot, key, link = np.arange(NUM_ROUTES)[:, None], np.arange(NUM_KEYS)[None], plan.link[:, None]
    is_first_variant, doors = slot < plan.length, plan.doors
    is_join = (link == plan.join) & (plan.join >= 0)
    before = (key == link - 1) & (link >= 1) & ((link + 1 != plan.join) | (plan.join < 0))
    joined = is_join & (key == link - 2)
    forked = (key == FORK_FACT) & plan.fork_is_hidden & (link == plan.fork)
    turned = (key == TURN_FACT) & plan.turn_is_hidden & (link == plan.turn + 1)
    shut = (key == SHUT_FACT) & (doors.shut >= 0) & ~doors.is_window & (link == doors.shut) & is_first_variant
    wait = (key == WAIT_FACT) & (doors.wait >= 0) & (link == doors.wait) & is_first_variant
    leads = (slot == TRAP) & plan.is_ruin & (plan.lure[:, None] >= 0)
    lured = (key == ASIDE) & plan.trap[:, None] & (slot % 2 == 0) & ~leads
    needed = (before | joined | forked | turned | shut | wait | lured) & plan.exists[:, None]
    follows = turned | (before & (link == plan.turn + 1) & (plan.turn >= 0))
    is_no = (forked & (slot == FORK)) | (follows & (slot == SECOND_TURN))
    is_other = follows & (slot == THIRD_SECOND) & plan.is_third
    is_any = (before | joined) & (key == plan.fork) & plan.is_mixed
    codes = jnp.where(is_other, 1 << OTHER, jnp.where(is_no, 1 << NO, 1 << YES))
    codes = jnp.where(is_any, 1 << YES | 1 << NO, codes)
    return codes, jnp.where(needed, jnp.cumsum(needed, axis=-1, dtype=jnp.int32), 0)


def set_goals(scenario: Scenario, plan: Plan) -> Scenario:
    """Milestones at links, whatever their variant, and one that leads astray; success is the result of the last link.

    Where the crisis is open, the result of any other route is also success; a ruin is failure.
    """
    exists = plan.milestone
    target = np.append(np.arange(LINKS), FIRST_ASIDE_FACT)
    codes = jnp.where(_has_values(plan, target), EITHER, 1 << YES)
    key = np.arange(NUM_KEYS)
    is_last = key == plan.length - 1
    beside = (key >= FIRST_ASIDE_FACT) & (key < ASIDE) & key_exists(plan)
    goal = jnp.where(_has_values(plan, key), EITHER, 1 << YES)
    success = jnp.where(is_last, goal, jnp.where(beside & plan.is_open, 1 << YES, 0))
    failure = jnp.where((key == FIRST_ASIDE_FACT) & plan.is_ruin, 1 << YES, 0)
    return scenario.replace(
        num_milestones=jnp.sum(exists).astype(jnp.int8),
        milestones=put(scenario.milestones, key=jnp.where(exists, target, 0), codes=jnp.where(exists, codes, 0)),
        success=put(scenario.success, facts=success[:, None]),
        failure=put(scenario.failure, facts=failure[:, None]),
    )


def put(record: Any, **values: jax.Array) -> Any:
    """A record with values in the first slots of its tables, in their own dtypes."""
    tables = taken(record, *values)
    for name, value in values.items():
        corner = tuple(map(slice, value.shape))
        tables[name] = tables[name].at[corner].set(value.astype(tables[name].dtype))
    return record.replace(**tables)
