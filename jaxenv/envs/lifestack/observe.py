"""Observations: the only module that selects the parts of the state that an agent sees; relations follow from them."""

import jax
import jax.numpy as jnp

from jaxenv.core.fields import taken
from jaxenv.core.numbers import as_integer
from jaxenv.core.types import ActionMask, Key
from jaxenv.envs.lifestack import actions, types
from jaxenv.envs.lifestack.actions import Catalogue
from jaxenv.envs.lifestack.conditions import code_bits, hold, within
from jaxenv.envs.lifestack.dynamics import is_over, open_milestones
from jaxenv.envs.lifestack.types import UNKNOWN, Observation, Params, Scenario, State
from jaxenv.lowering import bitsets
from jaxenv.lowering.lookup import read
from jaxenv.lowering.materialize import materialize


def current_mask(catalogue: Catalogue, state: State, scenario: Scenario) -> ActionMask:
    """[A] bool: the legal entries of a live state, all True once the crisis is over or out of time."""
    outstanding = actions.outstanding_verbs(state, scenario)
    return actions.legal_mask(catalogue, state, scenario, outstanding, is_over(state, scenario))


def observe(catalogue: Catalogue, state: State, params: Params) -> Observation:
    """The observation of a state."""
    scenario = params.bank[state.scenario]
    shown = bitsets.flags(scenario.shown, state.known.shape[0])
    known = jnp.where(shown, state.facts, state.known)
    bits = materialize(code_bits(known, scenario.success.facts))
    in_bounds = within(scenario.bounds, state.metrics)
    outstanding = materialize(actions.outstanding_verbs(state, scenario))
    routes = observe_routes(state, scenario, known, bits, in_bounds, outstanding)
    return Observation(
        keys=observe_keys(scenario, known, routes),
        routes=routes,
        milestones=observe_milestones(state, scenario, routes.open),
        bounds=observe_bounds(scenario, in_bounds),
        fired=state.fired & ~bitsets.flags(scenario.silent, state.fired.shape[0]),
        **taken(state, "metrics", "time", "money", "energy", "clock"),
        max_steps=scenario.horizon,
        deadline=scenario.deadline,
        action_mask=actions.legal_mask(catalogue, state, scenario, outstanding, is_over(state, scenario)),
    )


def draw_facts(key: Key, state: State, scenario: Scenario) -> jax.Array:
    """[K] codes: facts as the agent knows them, and any that they can have where it knows nothing."""
    count = state.known.shape[0]
    written = jnp.concatenate([scenario.facts[None], scenario.routes.writes, scenario.events.writes])
    least = jnp.where(jnp.any(written == types.ABSENT, axis=0), types.ABSENT, 1)
    drawn = as_integer(jax.random.uniform(key, (count,)), least, jnp.max(written, axis=0))
    known = jnp.where(bitsets.flags(scenario.shown, count), state.facts, state.known)
    return jnp.where(known == UNKNOWN, drawn.astype(jnp.int8), known)


def observe_keys(scenario: Scenario, known: jax.Array, routes: types.ObservedRoutes) -> types.ObservedKeys:
    """The agent's knowledge of the facts ([K] codes), and where they matter."""
    links, exists = scenario.links, _first(scenario.num_keys, known.shape[0])
    return types.ObservedKeys(
        exists=exists,
        code=jnp.where(exists, known, UNKNOWN),
        shown=scenario.shown,
        inspectable=links.inspectable,
        uses=links.key_uses,
        wanted=bitsets.union(links.needs, where=routes.serves),
    )


def observe_routes(
    state: State, scenario: Scenario, known: jax.Array, bits: jax.Array, in_bounds: jax.Array, outstanding: jax.Array
) -> types.ObservedRoutes:
    """The routes with their relations.

    Args:
        state: of the episode.
        scenario: of the state.
        known: [K] codes.
        bits: [K] the same as sets.
        in_bounds: [B] bool.
        outstanding: [R] verbs as bits.
    """
    routes, links = scenario.routes, scenario.links
    is_open = actions.open_routes(state, scenario)
    unknown = links.needs & bitsets.of_flags(known == UNKNOWN)
    lacking = bitsets.of_flags((routes.preconditions & bits[None]) == 0)  # [R] keys not known to satisfy one
    return types.ObservedRoutes(
        exists=_first(scenario.num_routes, is_open.shape[0]),
        open=is_open,
        completed=state.completed,
        outstanding=outstanding,
        **taken(routes, "reward", "time", "energy", "money", "closes"),
        holds=links.needs & ~lacking,
        fails=links.needs & lacking & ~unknown,
        unknown=unknown,
        **taken(links, "needs_bounds", "breaks", "shift"),
        enables=links.gives,
        brings_failure=links.meet_failure[0],
        serves=serving(state, scenario, bits, in_bounds, is_open, lacking),
    )


def serving(
    state: State, scenario: Scenario, bits: jax.Array, in_bounds: jax.Array, is_open: jax.Array, lacking: jax.Array
) -> jax.Array:
    """[R] bool: open routes that satisfy an unmet success condition, or a precondition of one that serves.

    Args:
        state: of the episode.
        scenario: of the state.
        bits: [K] the agent's knowledge, as sets of codes.
        in_bounds: [B] bool.
        is_open: [R] bool.
        lacking: [R] the keys that are not known to satisfy the route's precondition, if it has one there.
    """
    success, links = scenario.success, scenario.links
    members = _first(scenario.num_success, success.facts.shape[-1])
    unmet = members & ~hold(success, bits, bitsets.of_flags(in_bounds))
    by_fact = bitsets.union(links.meet_success, where=unmet)
    by_bound = right_direction(scenario, state.metrics, bitsets.union(success.bounds, where=unmet))

    route = bitsets.singletons(is_open.shape[0], links.breaks.dtype)
    helps = (links.gives & lacking[None]) != 0
    helpers = jnp.sum(jnp.where(helps & is_open[:, None], route[:, None], 0), axis=0, dtype=route.dtype) | route
    found = bitsets.of_flags(is_open) & (by_fact | by_bound)
    for _ in range(is_open.shape[0] - 1):
        found = bitsets.union(helpers, where=(found & route) != 0)
    return (found & route) != 0


def right_direction(scenario: Scenario, metrics: jax.Array, matters: jax.Array) -> jax.Array:
    """[]: the routes whose effects move towards a bound its metric, as a set.

    Args:
        scenario: of the episode.
        metrics: [23] current ones.
        matters: [] the bounds that matter, as a set.
    """
    bounds, shift = scenario.bounds, scenario.links.shift
    value, matter = read(metrics, bounds.metric), bitsets.flags(matters, bounds.low.shape[0])
    is_low, is_high = matter & (value < bounds.low), matter & (value > bounds.high)
    return bitsets.of_flags(jnp.any((is_low[None] & (shift > 0)) | (is_high[None] & (shift < 0)), axis=-1))


def observe_milestones(state: State, scenario: Scenario, open_routes: jax.Array) -> types.ObservedMilestones:
    """The checkpoints; `open_routes` is [R] bool."""
    exists = _first(scenario.num_milestones, state.reached.shape[0])
    return types.ObservedMilestones(
        exists=exists,
        open=exists & open_milestones(state.completed, scenario),
        reached=state.reached,
        reward=scenario.milestone_reward,
        in_sight=(scenario.links.meet_milestone & bitsets.of_flags(open_routes)) != 0,
    )


def observe_bounds(scenario: Scenario, in_bounds: jax.Array) -> types.ObservedBounds:
    """The bounds, whether they hold, and where they matter."""
    exists = _first(scenario.num_bounds, in_bounds.shape[0])
    return types.ObservedBounds(
        exists=exists,
        **taken(scenario.bounds, "metric", "low", "high"),
        holds=exists & in_bounds,
        uses=scenario.links.bound_uses,
    )


def _first(count: jax.Array, size: int) -> jax.Array:
    """[size] bool: the first `count` slots."""
    return jnp.arange(size, dtype=jnp.int8) < count
