"""Rival ways: the decision between the variants of a fork or of a commitment.

Unless a hidden fact decides, the variants of a fork close each other as well. Either suffices, or one is a dead end,
which the agent can recognize before it begins: its cost in money or time leaves too little for the way to its end, or
its effect on a metric is a failure.
"""

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.envs.lifestack.generator.slots import FIRST_TURN, FORK, NUM_ROUTES, SECOND_TURN
from jaxenv.host.numbers import as_integer

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
