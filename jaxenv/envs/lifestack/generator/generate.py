"""The crisis as a whole: a plan, its tables, a life, a schedule, and then slots shuffled and codes put in order."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core import bitsets
from jaxenv.core.types import Key
from jaxenv.envs.lifestack.generator import life, tables
from jaxenv.envs.lifestack.generator.plan import NUM_PRICES, NUM_ROUTES, Plan, draw_costs, draw_plan
from jaxenv.envs.lifestack.links import link
from jaxenv.envs.lifestack.types import ABSENT, NEVER, Limits, Scenario, empty_scenario

MIN_LIMITS = Limits(
    keys=tables.NUM_KEYS,
    codes=3,
    routes=NUM_ROUTES,
    milestones=tables.NUM_MILESTONES,
    events=life.NUM_EVENTS,
    success=2,
    bounds=1,
)


def generate(key: Key, limits: Limits, difficulty: jax.Array | float) -> Scenario:
    """One drawn crisis.

    Args:
        key: consumed.
        limits: capacities, no smaller than `MIN_LIMITS`.
        difficulty: [] float in [0, 1]: longer chains, more ways and traps; less slack in time, money and energy.

    Raises:
        ValueError: where the limits are smaller.
    """
    pairs = zip(dataclasses.astuple(limits), dataclasses.astuple(MIN_LIMITS), strict=True)
    if any(given < needed for given, needed in pairs):
        raise ValueError(f"a drawn crisis needs {MIN_LIMITS}, or more; found {limits}")
    order = NUM_ROUTES + tables.NUM_KEYS
    milestones = tables.NUM_MILESTONES
    sizes = (18, NUM_ROUTES * NUM_PRICES, 1, NUM_ROUTES + milestones, milestones, 7, 5, 8, order)
    uniform = jax.random.uniform(key, (sum(sizes),))  # one draw for the whole crisis: it compiles faster
    structure, prices, aside, ways, goals, living, slack, chance, order = jnp.split(uniform, np.cumsum(sizes)[:-1])
    difficulty = jnp.asarray(difficulty, jnp.float32)

    plan = draw_plan(structure, difficulty)
    costs = draw_costs(prices.reshape(NUM_ROUTES, NUM_PRICES), difficulty)
    scenario = jax.tree.map(jnp.asarray, empty_scenario(limits))
    scenario = tables.set_facts(scenario, plan, aside[0])
    scenario = tables.set_routes(scenario, plan, costs, ways)
    scenario = tables.set_goals(scenario, plan, goals)
    scenario, rests = life.set_life(scenario, plan, costs, living, difficulty)
    scenario, needs = life.set_resources(scenario, plan, costs, rests, slack, difficulty)
    scenario = life.set_schedule(scenario, plan, needs, chance, difficulty)
    return link(renumber(shuffle(scenario, plan, order)))


def shuffle(scenario: Scenario, plan: Plan, u: jax.Array) -> Scenario:
    """Routes and keys in any order, so that no slot has a part of its own; empty slots of every table last.

    Hidden keys come first, then those of the world, then those that are always shown, as in a document.
    """
    key_exists, hidden = tables.key_exists(plan), np.isin(np.arange(tables.NUM_KEYS), tables.HIDDEN)
    kind = jnp.where(hidden, 0.0, jnp.where(bitsets.flags(scenario.shown, tables.NUM_KEYS), 2.0, 1.0))
    by_route = _order(jnp.where(plan.exists, u[:NUM_ROUTES], jnp.inf), scenario.routes.required.size)
    by_key = _order(jnp.where(key_exists, kind + u[NUM_ROUTES:], jnp.inf), scenario.facts.size)
    by_milestone = _order(jnp.where(tables.milestone_exists(plan), 0.0, jnp.inf), scenario.milestone_reward.size)
    by_event = _order(jnp.where(scenario.events.step == NEVER, jnp.inf, 0.0), scenario.events.step.size)

    def take(table: Any, order: jax.Array) -> Any:
        return jax.tree.map(lambda column: column[order], table)

    def members(sets: jax.Array, order: jax.Array) -> jax.Array:
        return bitsets.of_flags(bitsets.flags(sets, order.size)[..., order])

    routes, events = take(scenario.routes, by_route), take(scenario.events, by_event)
    milestones = take(scenario.milestones, by_milestone)
    key = jnp.argsort(by_key)[milestones.key]  # where each key has gone
    return scenario.replace(
        **{name: getattr(scenario, name)[by_key] for name in ("facts", "known")},
        shown=members(scenario.shown, by_key),
        silent=members(scenario.silent, by_event),
        locked=members(scenario.locked, by_milestone),
        milestone_reward=scenario.milestone_reward[by_milestone],
        routes=routes.replace(
            **{name: getattr(routes, name)[:, by_key] for name in ("preconditions", "order", "writes")},
            closes=members(routes.closes, by_route),
            unlocks=members(routes.unlocks, by_milestone),
        ),
        milestones=milestones.replace(key=jnp.where(milestones.codes != 0, key, 0).astype(jnp.int8)),
        events=events.replace(writes=events.writes[:, by_key], closes=members(events.closes, by_route)),
        success=scenario.success.replace(facts=scenario.success.facts[by_key]),
    )


def renumber(scenario: Scenario) -> Scenario:
    """Codes 1 and 2 of each key in the order in which a document has its values: first value, routes, events.

    Codes that a key never takes leave the conditions, as they do when a document is compiled.
    """
    facts, routes, events, milestones = scenario.facts, scenario.routes, scenario.events, scenario.milestones
    met = jnp.concatenate([facts[None], routes.writes, events.writes])
    swaps = jnp.take_along_axis(met, jnp.argmax(met > ABSENT, axis=0)[None], axis=0)[0] == tables.NO  # [K]
    takes = [jnp.any(met == code, axis=0) for code in (tables.YES, tables.NO)]
    taken = 1 | jnp.where(takes[0] | takes[1], 2, 0) | jnp.where(takes[0] & takes[1], 4, 0)  # [K] code sets

    def codes(table: jax.Array) -> jax.Array:
        return jnp.where(swaps[None] & (table > ABSENT), 3 - table, table).astype(table.dtype)

    def sets(table: jax.Array, key: Any) -> jax.Array:
        swapped = (table & 1) | ((table & 2) << 1) | ((table & 4) >> 1)
        return jnp.where(swaps[key], swapped, table) & taken[key].astype(table.dtype)

    every = np.arange(facts.size)

    return scenario.replace(
        facts=codes(facts[None])[0],
        known=codes(scenario.known[None])[0],
        routes=routes.replace(writes=codes(routes.writes), preconditions=sets(routes.preconditions, every[None])),
        events=events.replace(writes=codes(events.writes)),
        milestones=milestones.replace(codes=sets(milestones.codes, milestones.key)),
        success=scenario.success.replace(facts=sets(scenario.success.facts, every[:, None])),
    )


def _order(rank: jax.Array, size: int) -> jax.Array:
    """[size] int32: slots by rank, those without one in their places behind."""
    return jnp.concatenate([jnp.argsort(rank), jnp.arange(rank.size, size)]).astype(jnp.int32)
