"""State to observation: the only module that decides what the agent knows; relations follow from that."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.materialize import materialize
from jaxenv.core.types import ActionMask
from jaxenv.envs.lifestack import actions
from jaxenv.envs.lifestack.actions import NUM_VERBS, Catalogue
from jaxenv.envs.lifestack.conditions import bounded, hold, shared_bits, within
from jaxenv.envs.lifestack.dynamics import is_over, open_milestones
from jaxenv.envs.lifestack.types import (
    FAILS,
    HOLDS,
    IN_FAILURE,
    IN_MILESTONE,
    IN_PRECONDITION,
    IN_SUCCESS,
    NO_RELATION,
    NOT_KNOWN,
    UNKNOWN,
    Observation,
    ObservedBounds,
    ObservedKeys,
    ObservedMilestones,
    ObservedRoutes,
    Params,
    Routes,
    Scenario,
    State,
)


def current_mask(catalogue: Catalogue, state: State, scenario: Scenario) -> ActionMask:
    """[A] bool: the legal entries of a live state, all True once the crisis is over or out of time."""
    outstanding = actions.outstanding_verbs(state, scenario)
    return actions.legal_mask(catalogue, state, scenario, outstanding, is_over(state, scenario))


def observe(catalogue: Catalogue, state: State, params: Params) -> Observation:
    """The observation of a state."""
    scenario = params.bank[state.scenario]
    known = jnp.where(scenario.shown, state.facts, state.known)
    bits = shared_bits(known, scenario.success.facts)
    in_bounds = within(scenario.bounds, state.metrics)
    outstanding = materialize(actions.outstanding_verbs(state, scenario))
    routes = observe_routes(state, scenario, known, bits, in_bounds, outstanding)
    return Observation(
        keys=observe_keys(scenario, known, routes),
        routes=routes,
        milestones=observe_milestones(state, scenario, routes.open),
        bounds=observe_bounds(scenario, in_bounds),
        fired=state.fired & ~scenario.events.silent,
        metrics=state.metrics,
        time=state.time,
        money=state.money,
        energy=state.energy,
        clock=state.clock,
        max_steps=scenario.horizon,
        deadline=scenario.deadline,
        action_mask=actions.legal_mask(catalogue, state, scenario, outstanding, is_over(state, scenario)),
    )


def observe_keys(scenario: Scenario, known: jax.Array, routes: ObservedRoutes) -> ObservedKeys:
    """What is known of the facts, and where they matter."""
    exists = _first(scenario.num_keys, known.shape[0])
    serving = routes.serves[:, None] & (scenario.routes.order > 0)
    return ObservedKeys(
        exists=exists,
        shown=scenario.shown,
        inspectable=((scenario.links.inspectable >> np.arange(known.shape[0], dtype=np.uint32)) & 1) != 0,
        code=jnp.where(exists, known, UNKNOWN),
        in_success=scenario.links.key_uses[IN_SUCCESS],
        in_failure=scenario.links.key_uses[IN_FAILURE],
        in_milestone=scenario.links.key_uses[IN_MILESTONE],
        in_precondition=scenario.links.key_uses[IN_PRECONDITION],
        wanted=jnp.any(serving, axis=0),
    )


def observe_routes(
    state: State,
    scenario: Scenario,
    known: jax.Array,
    bits: jax.Array,
    in_bounds: jax.Array,
    outstanding: jax.Array,
) -> ObservedRoutes:
    """The routes with their relations.

    Args:
        state: of the episode.
        scenario: of the state.
        known: [K] codes.
        bits: [K] the same as sets.
        in_bounds: [B] bool.
        outstanding: [R] verbs as bits.
    """
    routes = scenario.routes
    exists = _first(scenario.num_routes, routes.required.shape[0])
    is_open = actions.open_routes(state, scenario)
    verbs = np.arange(NUM_VERBS, dtype=np.int16)
    relation = relations(routes, known, bits)
    return ObservedRoutes(
        exists=exists,
        open=is_open,
        completed=state.completed,
        outstanding=((outstanding[:, None] >> verbs[None]) & 1) != 0,
        reward=routes.reward,
        time=routes.time,
        energy=routes.energy,
        money=routes.money,
        relation=relation,
        needs_bound=routes.bound_order > 0,
        enables=scenario.links.gives,
        breaks=scenario.links.breaks,
        closes=routes.closes,
        serves=serving(state, scenario, bits, in_bounds, is_open),
    )


def relations(routes: Routes, known: jax.Array, bits: jax.Array) -> jax.Array:
    """[R, K] int8: how each precondition on a key stands, as far as is known ([K] codes, and as sets)."""
    holds = (routes.preconditions & bits[None]) != 0
    judged = jnp.where(holds, jnp.int8(HOLDS), jnp.int8(FAILS))
    judged = jnp.where(known[None] == UNKNOWN, jnp.int8(NOT_KNOWN), judged)
    return jnp.where(routes.order > 0, judged, jnp.int8(NO_RELATION))


def serving(state: State, scenario: Scenario, bits: jax.Array, in_bounds: jax.Array, is_open: jax.Array) -> jax.Array:
    """[R] bool: open routes that satisfy an unmet success condition, or a precondition of one that serves.

    Args:
        state: of the episode.
        scenario: of the state.
        bits: [K] what is known, as sets of codes.
        in_bounds: [B] bool.
        is_open: [R] bool.
    """
    success, links = scenario.success, scenario.links
    members = _first(scenario.num_success, success.facts.shape[-1])
    unmet = members & ~hold(success, bits, in_bounds)
    by_fact = jnp.any(unmet[:, None] & links.meets_success, axis=0)
    matters = jnp.any(unmet[None] & success.bounds, axis=-1)
    by_bound = jnp.any(matters[:, None] & right_direction(scenario, state.metrics), axis=0)
    serves = is_open & (by_fact | by_bound)

    route = np.left_shift(np.uint32(1), np.arange(serves.shape[0], dtype=np.uint32))
    helps = (links.gives & lacking(scenario.routes, bits)[None]) != 0
    helpers = jnp.sum(jnp.where(helps & is_open[:, None], route[:, None], 0), axis=0, dtype=jnp.uint32) | route
    found = jnp.sum(jnp.where(serves, route, 0), dtype=jnp.uint32)  # bit r: route r
    for _ in range(serves.shape[0] - 1):
        found = jax.lax.reduce_or(jnp.where((found & route) != 0, helpers, 0), axes=(0,))
    return (found & route) != 0


def lacking(routes: Routes, bits: jax.Array) -> jax.Array:
    """[R] uint32, bit k: the precondition on key k is not known to hold; `bits` is [K] what is known, as sets."""
    holds = (routes.preconditions & bits[None]) != 0
    key = np.left_shift(np.uint32(1), np.arange(bits.shape[0], dtype=np.uint32))
    return jnp.sum(jnp.where(holds, np.uint32(0), key[None]), axis=-1, dtype=jnp.uint32)


def right_direction(scenario: Scenario, metrics: jax.Array) -> jax.Array:
    """[B, R] bool: the route's effects move the metric of a bound that does not hold towards it."""
    bounds, moves = scenario.bounds, scenario.links.moves
    value = bounded(bounds, metrics)
    too_low, too_high = value < bounds.low, value > bounds.high
    return (too_low[:, None] & (moves > 0)) | (too_high[:, None] & (moves < 0))


def observe_milestones(state: State, scenario: Scenario, open_routes: jax.Array) -> ObservedMilestones:
    """The checkpoints; `open_routes` is [R] bool."""
    exists = _first(scenario.num_milestones, state.reached.shape[0])
    return ObservedMilestones(
        exists=exists,
        open=exists & open_milestones(state.completed, scenario),
        reached=state.reached,
        reward=scenario.milestone_reward,
        in_sight=jnp.any(open_routes[None] & scenario.links.meets_milestone, axis=-1),
    )


def observe_bounds(scenario: Scenario, in_bounds: jax.Array) -> ObservedBounds:
    """The bounds, whether they hold, and where they matter."""
    exists = _first(scenario.num_bounds, in_bounds.shape[0])
    return ObservedBounds(
        exists=exists,
        metric=scenario.bounds.metric,
        low=scenario.bounds.low,
        high=scenario.bounds.high,
        holds=exists & in_bounds,
        in_success=scenario.links.bound_uses[IN_SUCCESS],
        in_failure=scenario.links.bound_uses[IN_FAILURE],
        in_milestone=scenario.links.bound_uses[IN_MILESTONE],
        in_precondition=scenario.links.bound_uses[IN_PRECONDITION],
    )


def _first(count: jax.Array, size: int) -> jax.Array:
    """[size] bool: the first `count` slots."""
    return jnp.arange(size, dtype=jnp.int8) < count
