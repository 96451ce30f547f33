"""Greedy: urgent self-care, else the shortest useful route (docs/rules/lifestack.md, section 9)."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core import masking
from jaxenv.core.types import Key, Policy
from jaxenv.envs.lifestack.actions import EFFECTS, FIRST_UPKEEP, INSPECTING, NUM_VERBS, UPKEEP, WAITING, Catalogue
from jaxenv.envs.lifestack.env import LifeStack
from jaxenv.envs.lifestack.metrics import INVERTED, UNIT, better, indices
from jaxenv.envs.lifestack.outlook import bound_uses
from jaxenv.envs.lifestack.types import CENTS, IN_SUCCESS, Observation, Params
from jaxenv.lowering import bitsets

LOW_ENERGY, LOW_METRIC = 20 * CENTS, 20 * UNIT
WATCHED = indices(
    "mental_wellbeing.stress_level",
    "career.workload",
    "time.free_hours_per_week",
    "relationships.romantic",
    "mental_wellbeing.motivation",
)
RAISES = EFFECTS[FIRST_UPKEEP:INSPECTING]  # [5, 23] int32
# [5] int32, for each watched metric
BEST_UPKEEP = np.argmax(np.where(INVERTED, -RAISES, RAISES)[:, WATCHED], axis=0).astype(np.int32)
REST = UPKEEP.index("rest")


def baselines(env: LifeStack) -> dict[str, Policy]:
    """Greedy for the catalogue of `env`."""
    return {"Greedy": functools.partial(greedy, env.catalogue)}


def greedy(catalogue: Catalogue, key: Key, observation: Observation, params: Params) -> jax.Array:
    """The first that applies of: rest, care, inspect, work, nudge a metric of success; else wait: [] int32."""
    del key, params
    target, has_target = target_route(catalogue, observation)
    outstanding = jnp.where(has_target, bitsets.sizes(observation.routes.outstanding[target]), 0)
    steps_left = (jnp.minimum(observation.max_steps, observation.deadline) - observation.clock).astype(jnp.int32)

    rest = catalogue.first(FIRST_UPKEEP) + REST
    needs_rest = (observation.energy < LOW_ENERGY) & observation.action_mask[rest]
    care, needs_care = care_for_metrics(catalogue, observation)
    work = work_on(catalogue, observation, target)
    nudge, can_nudge = nudge_metric(catalogue, observation)
    choice = jnp.where(can_nudge, nudge, catalogue.first(WAITING))
    choice = jnp.where(has_target, work, choice)
    choice = jnp.where(needs_care & (steps_left > outstanding), care, choice)
    return jnp.where(needs_rest, rest, choice).astype(jnp.int32)


def target_route(catalogue: Catalogue, o: Observation) -> tuple[jax.Array, jax.Array]:
    """([] int32 route, [] bool whether there is one) that is useful, not known to fail, and workable now.

    It has the fewest outstanding verbs; ties go to the higher final reward, then to the lower index.
    """
    fails = (o.routes.fails != 0) | ((o.routes.needs_bounds & ~bitsets.of_flags(o.bounds.holds)) != 0)
    workable = jnp.any(route_entries(catalogue, o), axis=0)
    ready = o.routes.serves & ~fails & workable
    return masking.lexicographic_argmin(ready, bitsets.sizes(o.routes.outstanding), -o.routes.reward), jnp.any(ready)


def route_entries(catalogue: Catalogue, o: Observation) -> jax.Array:
    """[V, R] bool: the legal verbs of each route."""
    return o.action_mask[: catalogue.first(INSPECTING)].reshape(NUM_VERBS, catalogue.routes)


def work_on(catalogue: Catalogue, o: Observation, route: jax.Array) -> jax.Array:
    """[] int32: inspect its first unknown precondition that can be inspected, else do its first outstanding verb."""
    first = catalogue.first(INSPECTING)
    can_inspect = o.action_mask[first : first + catalogue.keys]
    inspect = bitsets.flags(o.routes.unknown[route], catalogue.keys) & can_inspect
    verb = jnp.argmax(route_entries(catalogue, o)[:, route]).astype(jnp.int32)
    key = jnp.argmax(inspect).astype(jnp.int32)
    return jnp.where(jnp.any(inspect), first + key, verb * catalogue.routes + route)


def care_for_metrics(catalogue: Catalogue, o: Observation) -> tuple[jax.Array, jax.Array]:
    """([] int32 entry, [] bool whether one applies): the upkeep for the first watched metric that is low."""
    low = better(o.metrics)[WATCHED] < LOW_METRIC
    entry = jnp.asarray(catalogue.first(FIRST_UPKEEP) + BEST_UPKEEP)
    applies = low & o.action_mask[entry]
    return entry[jnp.argmax(applies)], jnp.any(applies)


def nudge_metric(catalogue: Catalogue, o: Observation) -> tuple[jax.Array, jax.Array]:
    """([] int32 entry, [] bool whether one applies): the upkeep that moves the first unmet bound of success most."""
    bounds = o.bounds
    unmet = bounds.exists & bound_uses(o)[IN_SUCCESS] & ~bounds.holds
    direction = jnp.where(o.metrics[bounds.metric] < bounds.low, 1, -1)
    moved = jnp.asarray(RAISES)[:, bounds.metric] * direction[None]
    entry = catalogue.first(FIRST_UPKEEP) + jnp.argmax(moved, axis=0).astype(jnp.int32)
    applies = unmet & (jnp.max(moved, axis=0) > 0) & o.action_mask[entry]
    return entry[jnp.argmax(applies)], jnp.any(applies)
