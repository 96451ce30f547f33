"""The world of an episode of TeamsClone whose draws are known: teammates' messages, whatever the agent does.

Teammates do not react to the agent, so a play of idle steps shows everything that the world does. Its messages are
sources of pay: M = C + T of them, first the messages in each channel at reset, taken together, then those of each of T
steps, if any.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.envs.teamsclone import TeamsClone, messages
from jaxenv.envs.teamsclone.actions import IDLE
from jaxenv.envs.teamsclone.types import INVITATION, WINDOW, Draws, Params


class Posts(NamedTuple):
    """The world's message in each step."""

    is_posted: jax.Array  # [T] bool
    channel: jax.Array  # [T] int32
    is_mention: jax.Array  # [T] bool
    starts_call: jax.Array  # [T] bool


class Revealed(struct.PyTreeNode):
    """The sources of an episode, and the steps in which they stand."""

    exists: jax.Array  # [C] bool, the slot holds a channel
    start: jax.Array  # [] int32, where the agent is at reset
    mention_window: jax.Array  # [] int32
    call_length: jax.Array  # [] int32
    channel: jax.Array  # [M] int32
    posted: jax.Array  # [M] int32, clock, -1 at reset
    begins: jax.Array  # [M] bool, a stretch of the channel begins: it is the reset, or something is posted
    messages: jax.Array  # [M] int32, how many there are
    mentions: jax.Array  # [M] int32, how many of them are mentions
    calls: jax.Array  # [M] int32, how many of them start a call
    shown: jax.Array  # [M, T] bool, before the step less than ten of the channel follow
    newest: jax.Array  # [M, T] bool, before the step none of the channel follows


def reveal(env: TeamsClone, params: Params, scenario: jax.Array | int, draws: Draws) -> Revealed:
    """The world of a workspace under the draws of T steps ([T] each)."""
    workspace, found = params.bank[scenario], posts(env, params, scenario, draws)
    T, C = found.channel.shape[0], workspace.team.shape[0]
    exists = np.arange(C, dtype=np.int8) < workspace.num_channels
    initial, pending = messages.is_message(workspace.messages), messages.is_pending(workspace.messages)

    def joined(at_reset: Any, in_steps: jax.Array) -> jax.Array:
        return jnp.concatenate([jnp.asarray(at_reset, jnp.int32), in_steps.astype(jnp.int32)])

    channel, begins = joined(np.arange(C), found.channel), joined(exists, found.is_posted) > 0
    posted = np.arange(-C, T, dtype=np.int32).clip(min=-1)
    follows = (channel[:, None] == channel[None]) & (posted[:, None] < posted[None]) & begins[None]  # [M, M]
    is_before = begins[:, None] & (posted[:, None] < np.arange(T)[None])  # [M, T]
    followers = follows.astype(jnp.float32) @ is_before.astype(jnp.float32)  # exact: at most T
    return Revealed(
        exists=exists,
        start=workspace.start.astype(jnp.int32),
        mention_window=workspace.mention_window.astype(jnp.int32),
        call_length=workspace.call_length.astype(jnp.int32),
        channel=channel,
        posted=jnp.asarray(posted),
        begins=begins,
        messages=joined(jnp.sum(initial, axis=0), found.is_posted),
        mentions=joined(jnp.sum(pending, axis=0), found.is_mention),
        calls=joined(np.zeros(C), found.starts_call),
        shown=is_before & (followers < WINDOW),
        newest=is_before & (followers == 0),
    )


def posts(env: TeamsClone, params: Params, scenario: jax.Array | int, draws: Draws) -> Posts:
    """The teammates' messages of an episode in which the agent idles."""
    idle = jnp.int32(env.catalogue.first(IDLE))

    def step(state: Any, draws: Draws) -> tuple[Any, Posts]:
        count = state.messages.count
        state, *_ = env.turn(state, idle, draws, params)
        is_new = state.messages.count > count  # [C], at most one
        is_posted, channel = jnp.any(is_new), jnp.argmax(is_new).astype(jnp.int32)
        word = messages.by_channel(state.messages.words)[channel, count[channel] % WINDOW]
        is_mention, starts_call = messages.named(word) >= 0, messages.kind(word) == INVITATION
        return state, Posts(is_posted, channel, is_posted & is_mention, is_posted & starts_call)

    return jax.lax.scan(step, env.init(jax.random.key(0), params, scenario), draws)[1]
