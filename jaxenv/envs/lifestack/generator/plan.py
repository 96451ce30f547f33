"""What a drawn crisis is made of: the chain of routes that leads out, and what stands beside it and in its way.

Slots are numbered by their part here and shuffled at the end. Routes: the links of the chain, the other way of a fork,
both routes of the other way of a commitment, and a trap; what is not used for a way may be a trap too. A fork is one
link in two variants, of which a hidden fact lets one succeed. A commitment is two links in two variants: the first ones
close each other, and a hidden fact decides which second one can follow, so that looking first is worth it.
"""

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core.numbers import as_integer
from jaxenv.envs.lifestack.actions import ENERGY, NUM_VERBS, TIME

LINKS = 4  # longest chain
FORK, FIRST_TURN, SECOND_TURN, TRAP = range(LINKS, LINKS + 4)
NUM_ROUTES = LINKS + 4
MAX_VERBS = 3  # of a route
NUM_PRICES = 4 + NUM_VERBS  # uniform numbers that a route's verbs and prices take


class Plan(struct.PyTreeNode):
    """The structure of a crisis; a link is 0..3, in the order in which it is gone."""

    length: jax.Array  # [] int32, links of the chain
    fork: jax.Array  # [] int32, the link that has two variants, -1 where none
    turn: jax.Array  # [] int32, the first of two links that have two variants, -1 where none
    shut: jax.Array  # [] int32, the link that an event makes impossible late, -1 where none
    wait: jax.Array  # [] int32, the link that an event makes possible early, -1 where none
    trap: jax.Array  # [8] bool, slots that are traps
    spoils: jax.Array  # [8] int32, the link that a trap closes, -1 where none
    exists: jax.Array  # [8] bool, slots in use
    link: jax.Array  # [8] int32, the link that a route is a variant of, -1 for a trap


class Costs(struct.PyTreeNode):
    """What the routes ask, [8] each."""

    required: jax.Array  # [8] int16, bit v for verb v
    verbs: jax.Array  # [8] int32, how many
    time: jax.Array  # [8] int32, hundredths of an hour added to each verb
    energy: jax.Array  # [8] int32, hundredths added to each verb
    money: jax.Array  # [8] int32, hundredths
    total_time: jax.Array  # [8] int32, over all its verbs
    total_energy: jax.Array  # [8] int32, over the verbs that cost some


def draw_plan(u: jax.Array, difficulty: jax.Array) -> Plan:
    """A structure from 18 uniform numbers; more links, ways and traps at higher difficulty."""
    d = difficulty
    length = 1 + as_integer(u[0] * (0.25 + 0.75 * d), 0, LINKS - 1)
    turn = jnp.where((length >= 2) & (u[1] < 0.1 + 0.5 * d), as_integer(u[2], 0, length - 2), -1)
    free_link = jnp.where(turn < 0, as_integer(u[3], 0, length - 1), jnp.where(turn >= 1, 0, length - 1))
    has_fork = (u[4] < 0.2 + 0.3 * d) & ((turn < 0) | (length >= 3))
    fork = jnp.where(has_fork, free_link, -1)
    shut = jnp.where(u[5] < 0.1 + 0.3 * d, as_integer(u[6], 0, length - 1), -1)
    wait = jnp.where(u[7] < 0.1 + 0.3 * d, as_integer(u[8], 0, length - 1), -1)

    slot = np.arange(NUM_ROUTES)
    is_chain = slot < length
    is_way = ((slot == FORK) & has_fork) | ((slot >= FIRST_TURN) & (slot <= SECOND_TURN) & (turn >= 0))
    beside = jnp.concatenate([jnp.ones(LINKS), u[9:13]])
    trap = (slot >= LINKS) & ~is_way & (beside < 0.3 + 0.4 * d)
    closes = jnp.concatenate([jnp.ones(LINKS), u[13:17]])
    spoils = jnp.where(trap & (closes < 0.7), as_integer(closes / 0.7, 0, length - 1), -1)
    ways = jnp.where(slot == FORK, fork, turn + (slot == SECOND_TURN).astype(np.int32))
    return Plan(
        length=length,
        fork=fork,
        turn=turn,
        shut=shut,
        wait=wait,
        trap=trap,
        spoils=spoils,
        exists=is_chain | is_way | trap,
        link=jnp.where(is_chain, slot, jnp.where(is_way, ways, -1)),
    )


def draw_costs(u: jax.Array, difficulty: jax.Array) -> Costs:
    """Verbs and prices of eight routes from [8, NUM_PRICES] uniform numbers."""
    count = 1 + as_integer(u[:, 0] * (0.5 + 0.5 * difficulty), 0, MAX_VERBS - 1)
    score = u[:, 4:]
    rank = jnp.sum(score[:, None, :] < score[:, :, None], axis=-1, dtype=jnp.int32)
    chosen = rank < count[:, None]
    bits = np.left_shift(1, np.arange(NUM_VERBS, dtype=np.int32))[None]
    time = jnp.where(u[:, 1] < 0.2, 50, 0)
    energy = jnp.where(u[:, 2] < 0.2, 300, 0)
    money = jnp.where(u[:, 3] < 0.45, 2000 * (1 + as_integer(u[:, 3] / 0.45, 0, 14)), 0)
    verb_energy = jnp.maximum(ENERGY[None, :NUM_VERBS] + energy[:, None], 0)
    return Costs(
        required=jnp.sum(jnp.where(chosen, bits, 0), axis=-1).astype(jnp.int16),
        verbs=count,
        time=time,
        energy=energy,
        money=money,
        total_time=jnp.sum(jnp.where(chosen, TIME[None, :NUM_VERBS] + time[:, None], 0), axis=-1),
        total_energy=jnp.sum(jnp.where(chosen, verb_energy, 0), axis=-1),
    )


def dearest(plan: Plan, cost: jax.Array) -> jax.Array:
    """[4] int32: what each link costs in its dearer variant, 0 behind the chain; `cost` is [8]."""
    is_variant = (plan.link[:, None] == np.arange(LINKS)[None]) & plan.exists[:, None]
    return jnp.max(jnp.where(is_variant, cost[:, None], 0), axis=0)
