"""What a drawn crisis is made of: the chain of routes that leads out, and what stands beside it and in its way.

Slots are numbered by their part here and shuffled at the end. Routes: the links of the chain, the other way of a fork,
and both routes of the other way of a commitment; a slot that is not used for a way may be a trap, or a help for a
metric. A fork is one link in two variants, of which a hidden fact lets one succeed. A commitment is two links in two
variants, or three: the first ones close each other, and a hidden fact decides which second one can follow, so that
looking first is worth it.
"""

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core.numbers import as_integer
from jaxenv.envs.lifestack.actions import ENERGY, NUM_VERBS, TIME

LINKS = 5  # longest chain
TRAP = LINKS - 1  # the last link's, where the chain is shorter
FORK, FIRST_TURN, SECOND_TURN = range(LINKS, LINKS + 3)
NUM_ROUTES = LINKS + 3
THIRD_FIRST, THIRD_SECOND = FORK, TRAP  # of a commitment with three variants, which leaves no room for a fork
ASIDE_SLOTS = NUM_ROUTES - TRAP  # from TRAP on: those that may be traps or helps
MAX_VERBS = 3  # of a route, and
BEYOND = (4, 6)  # of one at a difficulty above 1
NUM_STRUCTURE = 18 + LINKS + 1 + 4 * ASIDE_SLOTS  # uniform numbers that a plan takes
NUM_PRICES = 4 + NUM_VERBS  # those that a route's verbs and prices take

NO_CHANGE, UNDO, REVISE, SHUT_TOO = range(4)
"""What one event more does: undoes what a link brought, revises the hidden fact of the commitment, closes a link."""


class Plan(struct.PyTreeNode):
    """The structure of a crisis; a link is 0..4, in the order in which it is gone."""

    length: jax.Array  # [] int32, links of the chain
    fork: jax.Array  # [] int32, the link that has two variants, -1 where none
    is_mixed: jax.Array  # [] bool, the variants of the fork bring different values, each of which will do
    turn: jax.Array  # [] int32, the first of two links that have two variants, -1 where none
    is_third: jax.Array  # [] bool, they have three
    join: jax.Array  # [] int32, the link that needs the two before it, which do not need each other; -1 where none
    shut: jax.Array  # [] int32, the link that an event makes impossible late, -1 where none
    wait: jax.Array  # [] int32, the link that an event makes possible early, -1 where none
    change: jax.Array  # [] int32, NO_CHANGE .. SHUT_TOO
    changed: jax.Array  # [] int32, the link that the change is about, -1 where none
    trap: jax.Array  # [8] bool, slots that are traps
    spoils: jax.Array  # [8] int32, the link that a trap closes, -1 where none
    bait: jax.Array  # [8] bool, traps that bring what the link before the closed one brings
    help: jax.Array  # [8] bool, slots that help the metric of the goal
    is_open: jax.Array  # [] bool, what traps and helps bring is success as well
    is_ruin: jax.Array  # [] bool, what the trap in the slot TRAP brings is failure
    exists: jax.Array  # [8] bool, slots in use
    link: jax.Array  # [8] int32, the link that a route is a variant of, -1 for a trap or a help
    milestone: jax.Array  # [6] bool, links that have one, and the trap in the slot TRAP


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
    """A structure from uniform numbers; more links, ways, traps and changes at higher difficulty."""
    d = difficulty
    u, goals, aside = jnp.split(u, (18, 18 + LINKS + 1))
    beside, closes, lures, helps = aside.reshape(4, ASIDE_SLOTS)
    length = 1 + as_integer(u[0] * (0.2 + 0.9 * d), 0, LINKS - 1)
    turn = jnp.where((length >= 2) & (u[1] < 0.1 + 0.5 * d), as_integer(u[2], 0, length - 2), -1)
    free_link = jnp.where(turn < 0, as_integer(u[3], 0, length - 1), jnp.where(turn >= 1, 0, length - 1))
    has_fork = (u[4] < 0.2 + 0.3 * d) & ((turn < 0) | (length >= 3))
    is_third = (turn >= 0) & ~has_fork & (length < LINKS) & (u[9] < 0.3)
    join = jnp.where((length >= 3) & (turn < 0) & (u[10] < 0.4), as_integer(u[11], 2, length - 1), -1)
    shut = jnp.where(u[5] < 0.1 + 0.3 * d, as_integer(u[6], 0, length - 1), -1)
    wait = jnp.where(u[7] < 0.1 + 0.3 * d, as_integer(u[8], 0, length - 1), -1)
    change, changed = _draw_change(u[12:15], d, length, turn, shut)

    slot = np.arange(NUM_ROUTES)
    is_chain = slot < length
    in_turn = (slot == FIRST_TURN) | (slot == SECOND_TURN) | (((slot == FORK) | (slot == TRAP)) & is_third)
    is_way = ~is_chain & (((slot == FORK) & has_fork) | (in_turn & (turn >= 0)))
    beside, closes, lures, helps = (jnp.pad(row, (TRAP, 0)) for row in (beside, closes, lures, helps))
    free = (slot >= TRAP) & ~is_chain & ~is_way
    help = free & (helps < 0.12 + 0.1 * d)
    trap = free & ~help & (beside < 0.3 + 0.4 * d)
    spoils = jnp.where(trap & (closes < 0.7), as_integer(closes / 0.7, 0, length - 1), -1)
    is_second = (slot == SECOND_TURN) | ((slot == THIRD_SECOND) & is_third)
    ways = jnp.where((slot == FORK) & has_fork, jnp.where(has_fork, free_link, -1), turn + is_second.astype(jnp.int32))
    is_open = u[15] < 0.4 - 0.3 * d
    return Plan(
        length=length,
        fork=jnp.where(has_fork, free_link, -1),
        is_mixed=has_fork & (u[17] < 0.5),
        turn=turn,
        is_third=is_third,
        join=join,
        shut=shut,
        wait=wait,
        change=change,
        changed=changed,
        trap=trap,
        spoils=spoils,
        bait=trap & (spoils >= 1) & (lures < 0.5),
        help=help,
        is_open=is_open,
        is_ruin=trap[TRAP] & ~is_open & (u[16] < 0.3),
        exists=is_chain | is_way | trap | help,
        link=jnp.where(is_chain, slot, jnp.where(is_way, ways, -1)),
        milestone=jnp.append(is_chain[:LINKS], trap[TRAP]) & (goals < 0.7),
    )


def _draw_change(
    u: jax.Array, d: jax.Array, length: jax.Array, turn: jax.Array, shut: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """([] int32 what one event more does, [] int32 to which link), where the plan has room for it."""
    kind = 1 + as_integer(u[0], 0, 5) // 2
    link = jnp.where(kind == UNDO, as_integer(u[1], 0, jnp.maximum(length - 2, 0)), as_integer(u[1], 0, length - 1))
    link = jnp.where(kind == REVISE, turn, link)
    fits = jnp.where(kind == UNDO, length >= 2, jnp.where(kind == REVISE, turn >= 0, (shut >= 0) & (link != shut)))
    fits &= (u[2] < 0.2 + 0.7 * d) | (kind == SHUT_TOO)  # which needs room that is seldom there
    return jnp.where(fits, kind, NO_CHANGE), jnp.where(fits, link, -1)


def draw_costs(u: jax.Array, difficulty: jax.Array, is_beyond: jax.Array) -> Costs:
    """Verbs and prices of eight routes from [8, NUM_PRICES] uniform numbers."""
    count = 1 + as_integer(u[:, 0] * (0.5 + 0.5 * difficulty), 0, MAX_VERBS - 1)
    count = jnp.where(is_beyond, as_integer(u[:, 0], *BEYOND), count)
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
    """[5] int32: what each link costs in its dearer variant, 0 behind the chain; `cost` is [8]."""
    is_variant = (plan.link[:, None] == np.arange(LINKS)[None]) & plan.exists[:, None]
    return jnp.max(jnp.where(is_variant, cost[:, None], 0), axis=0)


def of_helps(plan: Plan, cost: jax.Array) -> jax.Array:
    """[] int32: what all helps cost together; `cost` is [8]."""
    return jnp.sum(jnp.where(plan.help, cost, 0))
