"""Rings of packed messages: the last ten of each channel, one word per message, and queries on them.

A word holds, from the lowest bit: text 11, author 4, kind + 1 (0: there is no message) 4, mentioned agent + 1 (0: none)
4, pending 1, seen by agent i 8.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.envs.teamsclone.types import WINDOW, Messages
from jaxenv.lowering.lookup import read

AUTHOR, KIND, NAMED, PENDING, SEEN = 11, 15, 19, 23, 24  # lowest bit of each part
KIND_BITS, PENDING_BIT = np.uint32(15 << KIND), np.uint32(1 << PENDING)


def pack(text: Any, author: Any, kind: Any, named: Any) -> jax.Array:
    """A message as a word (uint32), seen by nobody; it pends if it names an agent (`named` >= 0, -1 for none)."""
    text, author, kind, named = (jnp.asarray(part, jnp.int32) for part in (text, author, kind, named))
    word = text | (author << AUTHOR) | ((kind + 1) << KIND) | ((named + 1) << NAMED)
    return word.astype(jnp.uint32) | jnp.where(named >= 0, PENDING_BIT, 0)


def text(words: jax.Array) -> jax.Array:
    """Row of the table of texts, int32."""
    return _part(words, 0, 11)


def author(words: jax.Array) -> jax.Array:
    """Teammate 0 .. U - 1, or U + i for agent i, int32."""
    return _part(words, AUTHOR, 4)


def kind(words: jax.Array) -> jax.Array:
    """Index of KINDS, -1 where there is no message, int32."""
    return _part(words, KIND, 4) - 1


def named(words: jax.Array) -> jax.Array:
    """The agent that is mentioned, -1 for none, int32."""
    return _part(words, NAMED, 4) - 1


def is_pending(words: jax.Array) -> jax.Array:
    """bool: a mention that waits for an answer."""
    return (words & PENDING_BIT) != 0


def is_seen(words: jax.Array, agent: jax.Array | int) -> jax.Array:
    """bool: the agent has been shown the message."""
    return ((words >> (SEEN + jnp.asarray(agent, jnp.uint32))) & 1) != 0


def is_message(words: jax.Array) -> jax.Array:
    """bool: there is a message."""
    return (words & KIND_BITS) != 0


def waiting(words: jax.Array, num_agents: int) -> jax.Array:
    """[N] int16: the pending mentions of each agent in rings ([P]).

    They are summed in two steps, first five places each: XLA on a CPU would split a sum of more than 32 terms.
    """
    one = jnp.left_shift(np.uint32(1), (4 * named(words)).astype(jnp.uint32))  # 4 bits an agent; 0 beyond the eighth
    packed = jnp.sum(jnp.where(is_pending(words), one, 0).reshape(WINDOW // 2, -1), axis=0, dtype=jnp.uint32)
    agents = np.arange(num_agents, dtype=np.uint32)[:, None]
    return jnp.sum((packed[None] >> (4 * agents)) & 15, axis=1, dtype=jnp.uint32).astype(jnp.int16)


def by_channel(column: jax.Array) -> jax.Array:
    """[C, W]: a column of the rings ([P])."""
    return column.reshape(WINDOW, -1).T


def place_of(count: jax.Array, slot: jax.Array | np.ndarray) -> jax.Array:
    """int32: where in a ring of `count` messages the newest (slot 0), the one before it (slot 1) and so on stand."""
    return (count - 1 - slot) % WINDOW


def reaction_of(reactions: jax.Array, agent: jax.Array) -> jax.Array:
    """int32: an agent's own reactions ([] int32), 0 or its emoji + 1."""
    return ((reactions >> (4 * agent).astype(jnp.uint32)) & 15).astype(jnp.int32)


def flat_index(channel: jax.Array, place: jax.Array, channels: int) -> jax.Array:
    """int32: the number of a place of a channel's ring among all W * C."""
    return place * channels + channel


def is_at(indices: jax.Array, like: jax.Array) -> jax.Array:
    """[n, P] bool: where each of n indices lies in an array like `like` ([P]); nowhere where it is negative."""
    return np.arange(like.size, dtype=np.int32)[None] == indices[:, None]


def mark_seen(messages: Messages, channel: jax.Array) -> Messages:
    """All messages in each agent's channel ([N] int8) become seen by it."""
    words, channel_of_place = messages.words, np.arange(messages.words.size, dtype=np.int32) % messages.count.size
    for agent, here in enumerate(channel.astype(jnp.int32)):
        words = words | jnp.where(channel_of_place == here, np.uint32(1 << SEEN + agent), 0)
    return messages.replace(words=words)


def indices_of_posts(messages: Messages, channel: jax.Array) -> jax.Array:
    """[n] int32: the indices that up to n messages come to stand at, posted in their order; -1 where none is posted.

    Args:
        messages: the rings.
        channel: [n] int32, where each is posted, -1 where none is.
    """
    earlier = np.tri(channel.shape[0], k=-1, dtype=bool) & (channel[None] == channel[:, None])
    place = (read(messages.count, channel) + jnp.sum(earlier, axis=1, dtype=jnp.int32)) % WINDOW
    return jnp.where(channel >= 0, flat_index(channel, place, messages.count.shape[0]), -1)


def post(messages: Messages, indices: jax.Array, words: jax.Array, clock: jax.Array) -> Messages:
    """Up to n messages posted, as `indices_of_posts` ([n] int32) says, each a word ([n] uint32).

    The caller adds to `count`, once the indices of all posts are known.
    """
    here = is_at(indices, messages.words)
    new = messages.words
    for n in range(indices.shape[0]):
        new = jnp.where(here[n], words[n], new)
    written = jnp.any(here, axis=0)
    return messages.replace(
        words=new,
        posted=jnp.where(written, clock, messages.posted),
        reactions=jnp.where(written, jnp.uint32(0), messages.reactions),
    )


def _part(words: jax.Array, low: int, width: int) -> jax.Array:
    return ((words >> low) & (2**width - 1)).astype(jnp.int32)
