"""The structure of a drawn crisis: the chain of routes that leads out, and the routes beside it and in its way.

Slots are numbered by their part here and shuffled at the end. Routes: the links of the chain, the other way of a fork,
and both routes of the other way of a commitment; a slot that is not used for a way may be a trap, or a help for a
metric. A fork is one link in two variants. A commitment is two links in two variants, or three, of which the first
ones close each other.

Rival ways: unless a hidden fact decides between the variants, those of a fork close each other as well. Either
suffices, or one is a dead end, which the agent can recognize before it begins: its cost in money or time leaves too
little for the way to its end, or its effect on a metric is a failure.

Doors: an event shuts a link late, for good or by a fact. The fact shows, or it is hidden and nobody is asked before it
changes. An awaited opening may last for a while only: a window. Two doors may stand on two branches that are both
needed.
"""

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core.numbers import as_integer

LINKS = 5  # longest chain
TRAP = LINKS - 1  # the last link's, where the chain is shorter
FORK, FIRST_TURN, SECOND_TURN = range(LINKS, LINKS + 3)
NUM_ROUTES = LINKS + 3
THIRD_FIRST, THIRD_SECOND = FORK, TRAP  # of a commitment with three variants, which leaves no room for a fork
ASIDE_SLOTS = NUM_ROUTES - TRAP  # from TRAP on: those that may be traps or helps

BY_FACT, BY_NOTHING, BY_MONEY, BY_METRIC, BY_TIME = range(5)
KINDS = np.array([BY_NOTHING] * 3 + [BY_MONEY] * 3 + [BY_METRIC] * 2 + [BY_TIME] * 2)  # a repeat is a weight
NUM_RIVALS = 4  # uniform numbers


def draw_deciders(
    u: jax.Array, d: jax.Array, length: jax.Array, fork: jax.Array, turn: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The decision of the fork, the decision of the commitment, and [8] bool slots that are a dead end.

    At most one of the two has a dead end. That of a fork must leave something to be paid.

    Args:
        u: [NUM_RIVALS] in [0, 1).
        d: [] float32, the difficulty.
        length: [] int32, links of the chain.
        fork: [] int32, the link in two variants, -1 where none.
        turn: [] int32, the first link of the commitment, -1 where none.
    """
    is_rival = u[:2] < 0.1 + 0.35 * d
    kind = jnp.asarray(KINDS)[as_integer(u[2:], 0, len(KINDS) - 1)]
    turn_by = jnp.where((turn >= 0) & is_rival[1], kind[1], BY_FACT)
    has_room = (fork + 1 < length) & (turn_by <= BY_NOTHING)
    fork_by = jnp.where(has_room, kind[0], BY_NOTHING)
    fork_by = jnp.where((fork >= 0) & is_rival[0], fork_by, BY_FACT)
    slot = np.arange(NUM_ROUTES)
    of_turn = ((slot == FIRST_TURN) | (slot == SECOND_TURN)) & (turn_by > BY_NOTHING)
    return fork_by, turn_by, of_turn | ((slot == FORK) & (fork_by > BY_NOTHING))


NO_CHANGE, UNDO, REVISE, SHUT_TOO = range(4)
"""Effects of one further event: undo a link's result, revise the hidden fact of the commitment, or close a link."""
NUM_DOORS = 14  # uniform numbers


class Doors(struct.PyTreeNode):
    """Which links events make possible or impossible; -1 where there is no such link."""

    shut: jax.Array  # [] int32, the link that an event makes impossible late
    is_hidden: jax.Array  # [] bool, by a hidden fact that is true at first
    is_silent: jax.Array  # [] bool, and the event is not announced
    is_urgent: jax.Array  # [] bool, before there is time for links that can wait
    wait: jax.Array  # [] int32, the link that an event makes possible early
    is_window: jax.Array  # [] bool, for a while only: it is the one that is shut
    wait_shows: jax.Array  # [] bool, the awaited fact always shows
    change: jax.Array  # [] int32, NO_CHANGE .. SHUT_TOO
    changed: jax.Array  # [] int32, the link that the change affects
    early: jax.Array  # [] int32, a link that is best gone first, though no other needs it


def draw_doors(
    u: jax.Array, d: jax.Array, length: jax.Array, *, turn: jax.Array, can_revise: jax.Array, join: jax.Array
) -> Doors:
    """Doors from uniform numbers, [NUM_DOORS].

    Args:
        u: [NUM_DOORS] in [0, 1).
        d: [] float32, the difficulty.
        length: [] int32, links of the chain.
        turn: [] int32, the first link of the commitment, -1 where none.
        can_revise: [] bool, whether a hidden fact decides the commitment.
        join: [] int32, the link that needs two branches, -1 where none.
    """
    is_pair = (join >= 0) & (u[0] < 0.3 + 0.5 * d)
    wait = jnp.where(u[1] < 0.1 + 0.3 * d, as_integer(u[2], 0, length - 1), -1)
    is_window = (wait >= 0) & ~is_pair & (u[3] < 0.1 + 0.4 * d)
    shut = jnp.where(u[4] < 0.1 + 0.3 * d, as_integer(u[5], 0, length - 1), -1)
    shut = jnp.where(is_window, wait, jnp.where(is_pair, as_integer(u[5], 0, join - 2), shut))
    is_hidden = (shut >= 0) & ~is_window & (u[6] < 0.15 + 0.35 * d)
    change, changed = _draw_change(u[7:10], d, length, turn=turn, can_revise=can_revise, shut=shut)
    branch = join - 1
    return Doors(
        shut=shut,
        is_hidden=is_hidden,
        is_silent=is_hidden & (u[10] < 0.3),
        is_urgent=(shut >= 0) & (u[11] < 0.2 + 0.5 * d),
        wait=wait,
        is_window=is_window,
        wait_shows=is_window & (u[12] < 0.5),
        change=jnp.where(is_pair, SHUT_TOO, change),
        changed=jnp.where(is_pair, branch, changed),
        early=jnp.where(is_pair & (u[13] < 0.5) & (wait != branch), branch, -1),
    )


def _draw_change(
    u: jax.Array, d: jax.Array, length: jax.Array, *, turn: jax.Array, can_revise: jax.Array, shut: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """([] int32 effect of one further event, [] int32 affected link), where the plan has room for it."""
    kind = 1 + as_integer(u[0], 0, 5) // 2
    link = jnp.where(kind == UNDO, as_integer(u[1], 0, jnp.maximum(length - 2, 0)), as_integer(u[1], 0, length - 1))
    link = jnp.where(kind == REVISE, turn, link)
    revises = (turn >= 0) & can_revise
    fits = jnp.where(kind == UNDO, length >= 2, jnp.where(kind == REVISE, revises, (shut >= 0) & (link != shut)))
    fits &= (u[2] < 0.2 + 0.7 * d) | (kind == SHUT_TOO)  # which needs room that is seldom there
    return jnp.where(fits, kind, NO_CHANGE), jnp.where(fits, link, -1)


def gone_before(doors: Doors) -> jax.Array:
    """[5, 5] bool: whether the column is gone no later than the row, in the order that the doors require."""
    link = np.arange(LINKS)
    rank = jnp.where(link == doors.early, -1, link)
    return rank[None] <= rank[:, None]


NUM_WAYS, NUM_BESIDE = 10, 4  # uniform numbers that the ways take, and all that stands beside them
NUM_STRUCTURE = NUM_WAYS + NUM_BESIDE + NUM_RIVALS + NUM_DOORS + LINKS + 1 + 5 * ASIDE_SLOTS


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
        return (self.fork >= 0) & (self.fork_by == BY_FACT)

    @property
    def turn_is_hidden(self) -> jax.Array:
        """[] bool: a hidden fact decides the commitment."""
        return (self.turn >= 0) & (self.turn_by == BY_FACT)


def draw_plan(u: jax.Array, d: jax.Array) -> Plan:
    """A structure from uniform numbers; more links, ways, traps and changes at higher difficulty `d`."""
    sizes = (NUM_WAYS, NUM_BESIDE, NUM_RIVALS, NUM_DOORS, LINKS + 1)
    u, chance, of_rivals, of_doors, goals, aside = jnp.split(u, np.cumsum(sizes))
    beside, closes, lures, lured, helps = jnp.pad(aside.reshape(5, ASIDE_SLOTS), ((0, 0), (TRAP, 0)))
    length = 1 + as_integer(u[0] * (0.2 + 0.9 * d), 0, LINKS - 1)
    turn = jnp.where((length >= 2) & (u[1] < 0.1 + 0.5 * d), as_integer(u[2], 0, length - 2), -1)
    free_link = jnp.where(turn < 0, as_integer(u[3], 0, length - 1), jnp.where(turn >= 1, 0, length - 1))
    has_fork = (u[4] < 0.2 + 0.4 * d) & ((turn < 0) | (length >= 3))
    fork = jnp.where(has_fork, free_link, -1)
    is_third = (turn >= 0) & ~has_fork & (length < LINKS) & (u[5] < 0.3)
    join = jnp.where((length >= 3) & (turn < 0) & (u[6] < 0.4), as_integer(u[7], 2, length - 1), -1)
    fork_by, turn_by, dead = draw_deciders(of_rivals, d, length, fork, turn)

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
        doors=draw_doors(of_doors, d, length, turn=turn, can_revise=turn_by == BY_FACT, join=join),
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
