"""Edits of the channels of a workspace, their calls and their initial messages."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core.edits import first_slots, put
from jaxenv.core.numbers import as_integer
from jaxenv.envs.teamsclone import messages
from jaxenv.envs.teamsclone.generator import KINDS_AT_FIRST, MAX_INITIAL
from jaxenv.envs.teamsclone.types import MENTION, ONE, Scenario

FEWEST_CHANNELS = 2
CALL_RATES = (ONE // 2048, ONE // 2048 + ONE // 512 - 1)


def channel_exists(workspace: Scenario) -> jax.Array:
    """[C] bool."""
    return first_slots(workspace.num_channels, workspace.team.shape[0])


def can_start(workspace: Scenario) -> jax.Array:
    """[C] bool: channels in which agents do not start."""
    return channel_exists(workspace) & (_index(workspace.team) != workspace.start.astype(jnp.int32))


def start_in(workspace: Scenario, channel: jax.Array, u: jax.Array) -> Scenario:
    """Agents start in another channel."""
    return workspace.replace(start=channel.astype(jnp.int8))


def ring(workspace: Scenario, channel: jax.Array, u: jax.Array) -> Scenario:
    """Calls start in a channel at another rate, or no more."""
    is_silent = workspace.call_rate[channel] == 0
    rate = jnp.where(is_silent | (u[1] < 0.5), as_integer(u[0], *CALL_RATES), 0)
    return workspace.replace(call_rate=put(workspace.call_rate, channel, rate))


def can_add_channel(workspace: Scenario) -> jax.Array:
    """[C] bool: the slot behind the last channel."""
    return _index(workspace.team) == workspace.num_channels.astype(jnp.int32)


def add_channel(workspace: Scenario, channel: jax.Array, u: jax.Array) -> Scenario:
    """One channel more, of the last team; teammates post there as often as in the others on average."""
    reaches = _index(workspace.team) >= channel
    posts = first_slots(workspace.num_users, workspace.channel_edges.shape[0])  # of the teammates there are
    edges = jnp.where(reaches[None], ONE, workspace.channel_edges * channel // (channel + 1))
    return workspace.replace(
        num_channels=workspace.num_channels + jnp.int8(1),
        team=put(workspace.team, channel, workspace.team[channel - 1]),
        channel_edges=jnp.where(posts[:, None], edges, ONE),
        call_rate=put(workspace.call_rate, channel, as_integer(u[0], *CALL_RATES)),
    )


def can_drop_channel(workspace: Scenario) -> jax.Array:
    """[C] bool: the last channel, where there are more than two."""
    is_last = _index(workspace.team) == workspace.num_channels.astype(jnp.int32) - 1
    return is_last & (workspace.num_channels > FEWEST_CHANNELS)


def drop_channel(workspace: Scenario, channel: jax.Array, u: jax.Array) -> Scenario:
    """The last channel is gone; what was posted there goes to the one before."""
    from_before = _index(workspace.team) >= channel - 1
    return workspace.replace(
        num_channels=workspace.num_channels - jnp.int8(1),
        team=put(workspace.team, channel, 0),
        start=jnp.minimum(workspace.start, (channel - 1).astype(jnp.int8)),
        messages=put(workspace.messages, (slice(None), channel), 0),
        channel_edges=jnp.where(from_before[None], ONE, workspace.channel_edges),
        call_rate=put(workspace.call_rate, channel, 0),
    )


def can_add_message(workspace: Scenario) -> jax.Array:
    """[C] bool: channels with room for one initial message more."""
    return channel_exists(workspace) & (_num_messages(workspace) < MAX_INITIAL)


def add_message(workspace: Scenario, channel: jax.Array, u: jax.Array) -> Scenario:
    """One initial message more in a channel."""
    author = as_integer(u[0], 0, workspace.num_users.astype(jnp.int32) - 1)
    kind = jnp.asarray(KINDS_AT_FIRST, jnp.int32)[as_integer(u[1], 0, len(KINDS_AT_FIRST) - 1)]
    first, number = (table[kind].astype(jnp.int32) for table in (workspace.first_text, workspace.num_texts))
    place = first + as_integer(u[2], 0, number - 1)
    word = messages.pack(workspace.texts[place], author, kind, jnp.where(kind == MENTION, 0, -1))
    return workspace.replace(messages=put(workspace.messages, (_num_messages(workspace)[channel], channel), word))


def can_drop_message(workspace: Scenario) -> jax.Array:
    """[C] bool: channels with an initial message."""
    return _num_messages(workspace) > 0


def drop_message(workspace: Scenario, channel: jax.Array, u: jax.Array) -> Scenario:
    """A channel without its newest initial message."""
    newest = _num_messages(workspace)[channel] - 1
    return workspace.replace(messages=put(workspace.messages, (newest, channel), 0))


def _index(table: jax.Array) -> np.ndarray:
    """[n] int32: the slots of a table."""
    return np.arange(table.shape[0], dtype=np.int32)


def _num_messages(workspace: Scenario) -> jax.Array:
    """[C] int32: initial messages of each channel, which lie at the beginning of its column."""
    return jnp.sum(messages.is_message(workspace.messages), axis=0, dtype=jnp.int32)
