"""The crisis as a whole: plan, tables, rewards, life, conditions, schedule; then slots shuffled and codes in order."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.fields import padding
from jaxenv.core.types import Key
from jaxenv.envs.lifestack.generator import goals, schedule, tables
from jaxenv.envs.lifestack.generator.costs import NUM_PRICES, draw_costs, set_prices, with_dues
from jaxenv.envs.lifestack.generator.life import NUM_LIFE, set_life
from jaxenv.envs.lifestack.generator.plan import NUM_ROUTES, NUM_STRUCTURE, Plan, draw_plan
from jaxenv.envs.lifestack.links import link
from jaxenv.envs.lifestack.types import NEVER, Limits, Scenario
from jaxenv.lowering import bitsets
from jaxenv.lowering.materialize import materialize

MIN_LIMITS = Limits(
    keys=tables.NUM_KEYS,
    codes=4,
    routes=NUM_ROUTES,
    milestones=tables.NUM_MILESTONES,
    events=schedule.NUM_EVENTS,
    success=2,
    bounds=goals.NUM_BOUNDS,
)


def generate(key: Key, limits: Limits, difficulty: jax.Array | float) -> Scenario:
    """One drawn crisis.

    Args:
        key: consumed.
        limits: capacities, no smaller than `MIN_LIMITS`.
        difficulty: [] float in [0, 1]: longer chains, more ways and traps; less slack in time, money and energy. Above
            1: as at 1, with four to six verbs a route instead of one to three, and the time that they take.

    Raises:
        ValueError: where the limits are smaller.
    """
    pairs = zip(dataclasses.astuple(limits), dataclasses.astuple(MIN_LIMITS), strict=True)
    if any(given < needed for given, needed in pairs):
        raise ValueError(f"a drawn crisis needs {MIN_LIMITS}, or more; found {limits}")
    R, K, M = NUM_ROUTES, tables.NUM_KEYS, tables.NUM_MILESTONES
    sizes = (NUM_STRUCTURE, R * NUM_PRICES, 2, M, 1 + R + M, NUM_LIFE, 4, 7, 15, 1, R + K)
    uniform = _once(jax.random.uniform(key, (sum(sizes),)))  # one draw for the whole crisis: it compiles faster
    pieces = jnp.split(uniform, np.cumsum(sizes)[:-1])
    structure, prices, at_first, locks, pay, living, conditions, slack, chance, dearth, order = pieces
    d = jnp.asarray(difficulty, jnp.float32)
    is_beyond, d = d > 1, jnp.minimum(d, 1.0)

    plan, late = _once(draw_plan(structure, d)), pay[0] < goals.SHARE_LATE
    costs = draw_costs(prices.reshape(R, NUM_PRICES), d, is_beyond)
    costs = _once(with_dues(costs, plan))
    scenario = jax.tree.map(jnp.asarray, padding(Scenario, limits.sizes))
    scenario = tables.set_facts(scenario, plan, at_first)
    scenario = tables.set_routes(scenario, plan, costs, locks)
    scenario = tables.set_goals(scenario, plan)
    scenario = goals.set_rewards(scenario, plan, late, pay[1:])
    scenario, life = set_life(scenario, plan, living, d)
    life = _once(life)
    scenario = goals.set_conditions(scenario, plan, life, conditions)
    scenario, needs = schedule.set_resources(scenario, plan, costs, life, late=late, u=slack, difficulty=d)
    scenario = set_prices(scenario, plan, costs, dearth[0])
    scenario = schedule.set_schedule(scenario, plan, life, needs, u=chance, difficulty=d)
    return link(_once(renumber(shuffle(_once(scenario), plan, order))))


def shuffle(scenario: Scenario, plan: Plan, u: jax.Array) -> Scenario:
    """Routes and keys in any order, so that no slot has a fixed part; empty slots of every table last.

    Hidden keys come first, then those of the world, then those that are always shown, as in a document.
    """
    key_exists = tables.key_exists(plan)
    kind = jnp.where(tables.is_hidden(plan), 0.0, jnp.where(bitsets.flags(scenario.shown, tables.NUM_KEYS), 2.0, 1.0))
    by_route = _order(jnp.where(plan.exists, u[:NUM_ROUTES], jnp.inf), scenario.routes.required.size)
    by_key = _order(jnp.where(key_exists, kind + u[NUM_ROUTES:], jnp.inf), scenario.facts.size)
    by_milestone = _order(jnp.where(plan.milestone, 0.0, jnp.inf), scenario.milestone_reward.size)
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
        failure=scenario.failure.replace(facts=scenario.failure.facts[by_key]),
    )


def renumber(scenario: Scenario) -> Scenario:
    """Codes of each key in the order in which a document has its values: first value, routes, events.

    Codes that a key never takes leave the conditions, as they do when a document is compiled.
    """
    facts, routes, events, milestones = scenario.facts, scenario.routes, scenario.events, scenario.milestones
    met = jnp.concatenate([facts[None], routes.writes, events.writes])
    every = np.arange(1, tables.OTHER + 1, dtype=np.int8)
    is_met = met[None] == every[:, None, None]
    place = jnp.where(is_met.any(1), jnp.argmax(is_met, axis=1), met.shape[0])  # [3, K] where each code is first met
    is_lower = (every[None] < every[:, None])[..., None]
    before = (place[None] < place[:, None]) | ((place[None] == place[:, None]) & is_lower)
    number = 1 + jnp.sum(before, 1, dtype=jnp.int32)  # [3, K] of each code
    taken = place < met.shape[0]

    def codes(table: jax.Array) -> jax.Array:
        found = table.astype(jnp.int32)
        for n, code in enumerate(every):
            found = jnp.where(table == code, number[n][None], found)
        return found.astype(table.dtype)

    def sets(table: jax.Array, key: Any) -> jax.Array:
        wide = table.astype(jnp.int32)
        found = wide & 1
        for n, code in enumerate(every):
            has = ((wide >> int(code)) & 1 != 0) & taken[n][key]
            found |= jnp.where(has, 1 << number[n][key], 0)
        return found.astype(table.dtype)

    slots = np.arange(facts.size)
    return scenario.replace(
        facts=codes(facts[None])[0],
        known=codes(scenario.known[None])[0],
        routes=routes.replace(writes=codes(routes.writes), preconditions=sets(routes.preconditions, slots[None])),
        events=events.replace(writes=codes(events.writes)),
        milestones=milestones.replace(codes=sets(milestones.codes, milestones.key)),
        success=scenario.success.replace(facts=sets(scenario.success.facts, slots[:, None])),
        failure=scenario.failure.replace(facts=sets(scenario.failure.facts, slots[:, None])),
    )


def _once(stage: Any) -> Any:
    """The result of a stage, computed once: fused with the stages that follow, it would be drawn again for each use."""
    return jax.tree.map(materialize, stage)


def _order(rank: jax.Array, size: int) -> jax.Array:
    """[size] int32: slots by rank, those without one in their places behind."""
    return jnp.concatenate([jnp.argsort(rank), jnp.arange(rank.size, size)]).astype(jnp.int32)
