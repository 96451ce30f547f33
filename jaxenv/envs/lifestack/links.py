"""Consequences of a scenario's tables: which route supplies another, and where keys and bounds matter."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.envs.lifestack.conditions import code_bits
from jaxenv.envs.lifestack.types import UNWRITTEN, Conditions, Links, Milestones, Routes, Scenario
from jaxenv.lowering import bitsets


def link(scenario: Scenario) -> Scenario:
    """The scenario with its links computed from all its other fields; jittable."""
    routes, conditions = scenario.routes, (scenario.success, scenario.failure)
    needs, needs_bounds = bitsets.of_flags(routes.order > 0), bitsets.of_flags(routes.bound_order > 0)
    gives, breaks = route_links(routes)
    links = Links(
        gives=gives,
        breaks=breaks,
        needs=needs,
        needs_bounds=needs_bounds,
        meet_success=meet(routes, scenario.success),
        meet_failure=meet(routes, scenario.failure),
        meet_milestone=meet_milestones(routes, scenario.milestones),
        shift=jnp.asarray(routes.effects)[:, scenario.bounds.metric],
        inspectable=inspectable(scenario),
        written=bitsets.of_flags(scenario.events.writes != UNWRITTEN),
        success_keys=bitsets.of_flags(scenario.success.facts.T != 0),
        key_uses=jnp.stack([*map(_keys_of, conditions), _keys_of_milestones(scenario), _union(needs)]),
        bound_uses=jnp.stack(
            [*(_union(each.bounds) for each in (*conditions, scenario.milestones)), _union(needs_bounds)]
        ),
    )
    return scenario.replace(links=jax.tree.map(jnp.asarray, links))


def route_links(routes: Routes) -> tuple[jax.Array, jax.Array]:
    """([R, R] keys on which the row supplies a need of the column, [R] the routes that each breaks)."""
    written = code_bits(jnp.asarray(routes.writes), jnp.asarray(routes.preconditions))
    related = (routes.order > 0)[None] & (written != 0)[:, None, :]
    gives = related & ((routes.preconditions[None] & written[:, None, :]) != 0)
    return bitsets.of_flags(gives), bitsets.of_flags(jnp.any(related & ~gives, axis=-1))


def inspectable(scenario: Scenario) -> jax.Array:
    """[]: the keys that exist and are not always shown."""
    exists = jnp.arange(scenario.facts.shape[0], dtype=jnp.int8) < scenario.num_keys
    return bitsets.of_flags(exists) & ~scenario.shown


def meet(routes: Routes, conditions: Conditions) -> jax.Array:
    """[C]: the routes of which a consequence satisfies the condition."""
    written = code_bits(jnp.asarray(routes.writes), jnp.asarray(conditions.facts))
    return bitsets.of_flags(jnp.any((conditions.facts.T[:, None, :] & written[None]) != 0, axis=-1))


def meet_milestones(routes: Routes, milestones: Milestones) -> jax.Array:
    """[M]: the routes of which a consequence meets the milestone."""
    written = code_bits(jnp.asarray(routes.writes)[:, milestones.key].T, jnp.asarray(milestones.codes))
    return bitsets.of_flags((milestones.codes[:, None] & written) != 0)


def _keys_of(conditions: Conditions) -> jax.Array:
    """[]: the keys that a condition of the table rests on."""
    return bitsets.of_flags(jnp.any(jnp.asarray(conditions.facts) != 0, axis=-1))


def _keys_of_milestones(scenario: Scenario) -> jax.Array:
    """[]: the keys that milestones rest on."""
    milestones, key = scenario.milestones, np.arange(scenario.facts.shape[0], dtype=np.int8)
    return bitsets.of_flags(jnp.any((milestones.key[:, None] == key[None]) & (milestones.codes != 0)[:, None], axis=0))


def _union(sets: jax.Array) -> jax.Array:
    return bitsets.union(jnp.asarray(sets), where=np.bool_(True))
