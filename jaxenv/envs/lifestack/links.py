"""What a scenario's tables imply: which route gives another what it needs, and where keys and bounds matter."""

import jax
import jax.numpy as jnp

from jaxenv.envs.lifestack.conditions import code_bits
from jaxenv.envs.lifestack.types import Conditions, Links, Routes, Scenario


def link(scenario: Scenario) -> Scenario:
    """The scenario with its links computed from all its other fields; jittable."""
    routes = scenario.routes
    gives, breaks = route_links(routes)
    links = Links(
        gives=gives,
        breaks=breaks,
        meets_success=meets(routes, scenario.success),
        meets_milestone=meets(routes, scenario.milestones),
        moves=jnp.sign(jnp.asarray(routes.effects)[:, scenario.bounds.metric]).T.astype(jnp.int8),
        inspectable=inspectable(scenario),
        key_uses=jnp.stack([*map(_keys_of, _conditions(scenario)), jnp.any(routes.order > 0, axis=0)]),
        bound_uses=jnp.stack([*map(_bounds_of, _conditions(scenario)), jnp.any(routes.bound_order > 0, axis=0)]),
    )
    return scenario.replace(links=links)


def route_links(routes: Routes) -> tuple[jax.Array, jax.Array]:
    """([R, R] uint32 keys on which the row gives what the column needs, [R, R] bool the row breaks the column)."""
    written = code_bits(jnp.asarray(routes.writes), jnp.asarray(routes.preconditions))
    related = (routes.order > 0)[None] & (written != 0)[:, None, :]
    gives = related & ((routes.preconditions[None] & written[:, None, :]) != 0)
    key = jnp.left_shift(jnp.uint32(1), jnp.arange(written.shape[-1], dtype=jnp.uint32))
    bits = jnp.sum(jnp.where(gives, key[None, None], 0), axis=-1, dtype=jnp.uint32)
    return bits, jnp.any(related & ~gives, axis=-1)


def inspectable(scenario: Scenario) -> jax.Array:
    """[] uint32, bit k: key k exists and is not always shown."""
    key = jnp.arange(scenario.shown.shape[0], dtype=jnp.uint32)
    hides = (key < scenario.num_keys.astype(jnp.uint32)) & ~scenario.shown
    return jnp.sum(jnp.where(hides, jnp.left_shift(jnp.uint32(1), key), 0), dtype=jnp.uint32)


def meets(routes: Routes, conditions: Conditions) -> jax.Array:
    """[C, R] bool: a consequence of the route satisfies the condition."""
    written = code_bits(jnp.asarray(routes.writes), jnp.asarray(conditions.facts))
    return jnp.any((conditions.facts.T[:, None, :] & written[None]) != 0, axis=-1)


def _conditions(scenario: Scenario) -> tuple[Conditions, ...]:
    """Those of IN_SUCCESS, IN_FAILURE and IN_MILESTONE."""
    return scenario.success, scenario.failure, scenario.milestones


def _keys_of(conditions: Conditions) -> jax.Array:
    return jnp.any(conditions.facts != 0, axis=-1)


def _bounds_of(conditions: Conditions) -> jax.Array:
    return jnp.any(conditions.bounds, axis=-1)
