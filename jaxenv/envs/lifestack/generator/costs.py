"""The costs of routes in a drawn crisis: verbs, time, energy and money."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.envs.lifestack.actions import ENERGY, NUM_VERBS, TIME
from jaxenv.envs.lifestack.generator.plan import LINKS, Plan
from jaxenv.host.numbers import as_integer

MAX_VERBS = 3  # of a route, and
BEYOND = (4, 6)  # of one at a difficulty above 1
NUM_PRICES = 4 + NUM_VERBS  # uniform numbers that a route's verbs and prices take
MONEY_STEP = 2000  # hundredths; every price is a multiple


class Costs(struct.PyTreeNode):
    """The costs of the routes, [8] each."""

    required: jax.Array  # [8] int16, bit v for verb v
    verbs: jax.Array  # [8] int32, how many
    time: jax.Array  # [8] int32, hundredths of an hour added to each verb
    energy: jax.Array  # [8] int32, hundredths added to each verb
    money: jax.Array  # [8] int32, hundredths
    verb_time: jax.Array  # [8] int32, over all its verbs, without the added time
    total_energy: jax.Array  # [8] int32, over the verbs that cost some

    @property
    def total_time(self) -> jax.Array:
        """[8] int32: over all verbs of each route."""
        return self.verb_time + self.verbs * self.time


def draw_costs(u: jax.Array, difficulty: jax.Array, is_beyond: jax.Array) -> Costs:
    """Verbs and prices of eight routes from [8, NUM_PRICES] uniform numbers."""
    count = 1 + as_integer(u[:, 0] * (0.5 + 0.5 * difficulty), 0, MAX_VERBS - 1)
    count = jnp.where(is_beyond, as_integer(u[:, 0], *BEYOND), count)
    score = u[:, 4:]
    rank = jnp.sum(score[:, None, :] < score[:, :, None], axis=-1, dtype=jnp.int32)
    chosen = rank < count[:, None]
    bits = np.left_shift(1, np.arange(NUM_VERBS, dtype=np.int32))[None]
    energy = jnp.where(u[:, 2] < 0.2, 300, 0)
    verb_energy = jnp.maximum(ENERGY[None, :NUM_VERBS] + energy[:, None], 0)
    return Costs(
        required=jnp.sum(jnp.where(chosen, bits, 0), axis=-1).astype(jnp.int16),
        verbs=count,
        time=jnp.where(u[:, 1] < 0.2, 50, 0),
        energy=energy,
        money=jnp.where(u[:, 3] < 0.45, MONEY_STEP * (1 + as_integer(u[:, 3] / 0.45, 0, 14)), 0),
        verb_time=jnp.sum(jnp.where(chosen, TIME[None, :NUM_VERBS], 0), axis=-1),
        total_energy=jnp.sum(jnp.where(chosen, verb_energy, 0), axis=-1),
    )


def dearest(plan: Plan, cost: jax.Array) -> jax.Array:
    """[5] int32: the cost of each link in its dearer variant that is no dead end, 0 behind the chain; `cost` is [8]."""
    return jnp.max(jnp.where(_variants(plan), cost[:, None], 0), axis=0)


def cheapest(plan: Plan, cost: jax.Array) -> jax.Array:
    """[5] int32: the same of the cheaper one."""
    variants = _variants(plan)
    least = jnp.min(jnp.where(variants, cost[:, None], np.iinfo(np.int32).max), axis=0)
    return jnp.where(variants.any(0), least, 0)


def of_helps(plan: Plan, cost: jax.Array) -> jax.Array:
    """[] int32: the total cost of all helps; `cost` is [8]."""
    return jnp.sum(jnp.where(plan.help, cost, 0))


def _variants(plan: Plan) -> jax.Array:
    """[8, 5] bool: which routes are variants of which link, without dead ends."""
    return (plan.link[:, None] == np.arange(LINKS)[None]) & (plan.exists & ~plan.dead)[:, None]
