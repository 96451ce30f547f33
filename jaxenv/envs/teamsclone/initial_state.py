"""The first state of a workspace."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.dice import sample_bits, scale
from jaxenv.core.types import Key
from jaxenv.envs.teamsclone import messages
from jaxenv.envs.teamsclone.types import NEVER, Scenario, Schedule, State

MIN_MENTIONS, MAX_MENTIONS = 3, 8  # of a schedule
NUM_SCHEDULE_BITS = 1 + 3 * MAX_MENTIONS
CHOICE = 2  # draws that choose a scenario


def initial_state(index: jax.Array, scenario: Scenario, nothing: State) -> State:
    """The state at clock 0: everybody in the start channel, initial messages unread elsewhere, no mention scheduled.

    Args:
        index: [] int32, of the scenario in its bank.
        scenario: that scenario.
        nothing: a state of padding only.
    """
    N, C = nothing.visited.shape
    words = scenario.messages.ravel()
    count = jnp.sum(messages.is_message(scenario.messages), axis=0, dtype=jnp.int32)
    here = np.arange(C, dtype=np.int8) == scenario.start
    channel = jnp.broadcast_to(scenario.start, N)
    posted = jnp.where(messages.is_message(words), jnp.int16(-1), jnp.int16(0))
    rings = nothing.messages.replace(words=words, posted=posted, count=count)
    waiting = messages.waiting(words, N)
    return nothing.replace(
        scenario=index,
        presence=scenario.presence,
        messages=messages.mark_seen(rings, channel),
        by_teammates=jnp.sum(count.astype(jnp.int16), dtype=jnp.int16),
        channel=channel,
        unread=_per_agent(jnp.where(here, 0, count).astype(jnp.uint8), N),
        news=_per_agent(count > 0, N),
        paid=_per_agent(jnp.where(here, jnp.int16(0), jnp.int16(NEVER)), N),
        visited=_per_agent(here, N),
        waiting=waiting,
        counts=nothing.counts.replace(received=waiting),
    )


def fresh_schedule(key: Key, num_channels: jax.Array, num_users: jax.Array, max_steps: jax.Array) -> Schedule:
    """3 to 8 mentions at distinct steps of the first half, in uniform channels, by uniform teammates.

    The steps are a uniform subset, by Floyd's algorithm (Bentley and Floyd 1987).

    Args:
        key: of the reset; the first draws of its words choose the scenario.
        num_channels: [] int8, of the scenario.
        num_users: [] int8, of the scenario.
        max_steps: [] int32.
    """
    bits = sample_bits(key, CHOICE + NUM_SCHEDULE_BITS)[CHOICE:]
    most = MAX_MENTIONS
    size = MIN_MENTIONS + scale(bits[0], jnp.int32(most - MIN_MENTIONS + 1))
    dice = bits[1:].reshape(3, most)
    first = jnp.maximum(max_steps // 2 - size, 0)
    steps = jnp.full(most, NEVER, jnp.int32)
    for n in range(most):
        step = scale(dice[0, n], first + n + 1)
        step = jnp.where(jnp.any(steps == step), first + n, step)
        steps = steps.at[n].set(jnp.where(n < size, step, NEVER))
    return Schedule(
        step=steps.astype(jnp.int16),
        channel=scale(dice[1], num_channels.astype(jnp.int32)).astype(jnp.int8),
        author=scale(dice[2], num_users.astype(jnp.int32)).astype(jnp.int8),
    )


def _per_agent(row: jax.Array, num_agents: int) -> jax.Array:
    """[N, C]: the same for all."""
    return jnp.broadcast_to(row, (num_agents, *row.shape))
