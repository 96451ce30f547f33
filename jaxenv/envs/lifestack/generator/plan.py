"""The structure of a drawn crisis: the chain of routes that leads out, and the routes beside it and in its way.

Slots are numbered by their part here and shuffled at the end. Routes: the links of the chain, the other way of a fork,
and both routes of the other way of a commitment; a slot that is not used for a way may be a trap, or a help for a
metric. A fork is one link in two variants. A commitment is two links in two variants, or three, of which the first
ones close each other. `rivals` decides between variants, and `doors` shuts links.
"""

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.envs.lifestack.generator import doors, rivals
from jaxenv.envs.lifestack.generator.doors import Doors
from jaxenv.envs.lifestack.generator.slots import (
    ASIDE_SLOTS,
    FIRST_TURN,
    FORK,
    LINKS,
    NUM_ROUTES,
    SECOND_TURN,
    THIRD_SECOND,
    TRAP,
)
from jaxenv.host.numbers import as_integer

NUM_WAYS, NUM_BESIDE = 10, 4  # uniform numbers that the ways take, and all that stands beside them
NUM_STRUCTURE = NUM_WAYS + NUM_BESIDE + rivals.NUM_RIVALS + doors.NUM_DOORS + LINKS + 1 + 5 * ASIDE_SLOTS


class Plan(struct.PyTreeNode):
    """The structure of a crisis; a link is 0..4, in the order in which it is gone."""

    length: jax.Array  # [] int32, links of the chain
    fork: jax.Array  # [] int32, the link that has two variants, -1 where none
    fork_by: jax.Array  # [] int32, the kind of decision between them, BY_FACT .. BY_TIME
    is_mixed: jax.Array  # [] bool, the variants of the fork bring different values, each of which suffices
    turn: jax.Array  # [] int32, the first of two links that have two variants, -1 where none
    turn_by: jax.Array  # [] int32, the kind of decision between them
    is_third: jax.Array  # [] bool, they have three
    join: jax.Array  # [] int32, the link that needs the two before it, which do not need each other; -1 where none
    doors: Doors  # effects of events on links
    trap: jax.Array  # [8] bool, slots that are traps
    spoils: jax.Array  # [8] int32, the link that a trap closes, -1 where none
    lure: jax.Array  # [8] int32, the link whose result a trap brings too, -1 where none
    help: jax.Array  # [8] bool, slots that help the metric of the goal
    is_tangled: jax.Array  # [] bool, helps harm a metric that must not become too bad, and traps help the goal
    is_open: jax.Array  # [] bool, results of traps and helps are success as well
    is_ruin: jax.Array  # [] bool, the result of the trap in the slot TRAP is failure
    exists: jax.Array  # [8] bool, slots in use
    dead: jax.Array  # [8] bool, slots of a variant that leads nowhere, though no fact stands in its way
    link: jax.Array  # [8] int32, the link that a route is a variant of, -1 for a trap or a help
    milestone: jax.Array  # [6] bool, links that have one, and the trap in the slot TRAP

    @property
    def fork_is_hidden(self) -> jax.Array:
        """[] bool: a hidden fact decides the fork."""
        return (self.fork >= 0) & (self.fork_by == rivals.BY_FACT)

    @property
    def turn_is_hidden(self) -> jax.Array:
        """[] bool: a hidden fact decides the commitment."""
        return (self.turn >= 0) & (self.turn_by == rivals.BY_FACT)


def draw_plan(u: jax.Array, difficulty: jax.Array) -> Plan:
    """A structure from uniform numbers; more links, ways, traps and changes at higher difficulty."""
    d = difficulty
    sizes = (NUM_WAYS, NUM_BESIDE, rivals.NUM_RIVALS, doors.NUM_DOORS, LINKS + 1)
    u, chance, of_rivals, of_doors, goals, aside = jnp.split(u, np.cumsum(sizes))
    beside, closes, lures, lured, helps = jnp.pad(aside.reshape(5, ASIDE_SLOTS), ((0, 0), (TRAP, 0)))
    length = 1 + as_integer(u[0] * (0.2 + 0.9 * d), 0, LINKS - 1)
    turn = jnp.where((length >= 2) & (u[1] < 0.1 + 0.5 * d), as_integer(u[2], 0, length - 2), -1)
    free_link = jnp.where(turn < 0, as_integer(u[3], 0, length - 1), jnp.where(turn >= 1, 0, length - 1))
    has_fork = (u[4] < 0.2 + 0.4 * d) & ((turn < 0) | (length >= 3))
    fork = jnp.where(has_fork, free_link, -1)
    is_third = (turn >= 0) & ~has_fork & (length < LINKS) & (u[5] < 0.3)
    join = jnp.where((length >= 3) & (turn < 0) & (u[6] < 0.4), as_integer(u[7], 2, length - 1), -1)
    fork_by, turn_by, dead = rivals.draw_deciders(of_rivals, d, length, fork, turn)

    slot = np.arange(NUM_ROUTES)
    is_chain = slot < length
    in_turn = (slot == FIRST_TURN) | (slot == SECOND_TURN) | (((slot == FORK) | (slot == TRAP)) & is_third)
    is_way = ~is_chain & (((slot == FORK) & has_fork) | (in_turn & (turn >= 0)))
    is_second = (slot == SECOND_TURN) | ((slot == THIRD_SECOND) & is_third)
    ways = jnp.where((slot == FORK) & has_fork, fork, turn + is_second.astype(jnp.int32))

    free = (slot >= TRAP) & ~is_chain & ~is_way
    help = free & (helps < 0.12 + 0.1 * d)
    trap = free & ~help & (beside < 0.3 + 0.4 * d)
    is_open = chance[0] < 0.4 - 0.3 * d
    is_ruin = trap[TRAP] & ~is_open & (chance[1] < 0.3 + 0.2 * d)
    is_shortcut = (slot == TRAP) & is_ruin & (length >= 2) & (chance[2] < 0.5)
    spoils = jnp.where(trap & ~is_shortcut & (closes < 0.7), as_integer(closes / 0.7, 0, length - 1), -1)
    bait = jnp.where((spoils >= 1) & (lures < 0.5), spoils - 1, -1)
    return Plan(
        length=length,
        fork=fork,
        fork_by=fork_by,
        is_mixed=has_fork & (u[8] < 0.5),
        turn=turn,
        turn_by=turn_by,
        is_third=is_third,
        join=join,
        doors=doors.draw_doors(of_doors, d, length, turn=turn, can_revise=turn_by == rivals.BY_FACT, join=join),
        trap=trap,
        spoils=spoils,
        lure=jnp.where(is_shortcut, as_integer(lured, 0, jnp.maximum(length - 2, 0)), bait),
        help=help,
        is_tangled=help.any() & trap.any() & (chance[3] < 0.2 + 0.6 * d),
        is_open=is_open,
        is_ruin=is_ruin,
        exists=is_chain | is_way | trap | help,
        dead=dead,
        link=jnp.where(is_chain, slot, jnp.where(is_way, ways, -1)),
        milestone=jnp.append(is_chain[:LINKS], trap[TRAP]) & (goals < 0.7),
    )
