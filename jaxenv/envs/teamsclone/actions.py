"""The catalogue of actions: the meaning of each index, and the entries that are legal now.

Order: the six templates into the current channel, the answer template into each channel, going to each channel, each
emoji on each message of the window (message by message, newest first), joining the call of each channel, idling, and
the three actions that are never legal: an empty message, an unknown channel, a malformed action.
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core.masking import concatenate_masks
from jaxenv.core.types import ActionMask
from jaxenv.envs.teamsclone import messages
from jaxenv.envs.teamsclone.types import EMOJI, REPLY, TEMPLATES, WINDOW, Limits, Scenario, State
from jaxenv.lowering.lookup import read, rotate

VERBS = ("text", "answer", "switch", "react", "join", "idle", "empty message", "unknown channel", "malformed")
TEXT, ANSWER, SWITCH, REACT, JOIN, IDLE, EMPTY_MESSAGE, UNKNOWN_CHANNEL, MALFORMED = range(len(VERBS))


@dataclasses.dataclass(frozen=True)
class Catalogue:
    """The meaning of the indices, for C channels; `table` has the columns verb, channel, message kind, slot, emoji."""

    channels: int

    @classmethod
    def of(cls, limits: Limits) -> "Catalogue":
        """The catalogue of an environment with these capacities."""
        return cls(limits.channels)

    @property
    def size(self) -> int:
        """A: 114 with 8 channels."""
        return len(self.table)

    @functools.cached_property
    def table(self) -> np.ndarray:
        """[A, 5] int32, 0 where a column does not matter."""
        rows = [(TEXT, 0, kind, 0, 0) for kind in TEMPLATES]
        rows += [(ANSWER, channel, REPLY, 0, 0) for channel in range(self.channels)]
        rows += [(SWITCH, channel, 0, 0, 0) for channel in range(self.channels)]
        rows += [(REACT, 0, 0, slot, emoji) for slot in range(WINDOW) for emoji in range(len(EMOJI))]
        rows += [(JOIN, channel, 0, 0, 0) for channel in range(self.channels)]
        rows += [(verb, 0, 0, 0, 0) for verb in (IDLE, EMPTY_MESSAGE, UNKNOWN_CHANNEL, MALFORMED)]
        return np.array(rows, np.int32)

    def first(self, verb: int) -> int:
        """The index of the first entry of a verb."""
        return int(np.flatnonzero(self.table[:, 0] == verb)[0])


class Window(struct.PyTreeNode):
    """The messages of one agent's channel, newest first."""

    words: jax.Array  # [W] uint32
    age: jax.Array  # [W] int16
    reaction: jax.Array  # [W] int32, the agent's own: emoji + 1, 0 for none


class Move(struct.PyTreeNode):
    """One agent's action, looked up; the other parts mean nothing where they do not fit the verb."""

    verb: jax.Array  # [] int32
    legal: jax.Array  # [] bool
    sends: jax.Array  # [] bool, a legal message
    switches: jax.Array  # [] bool, legally
    reacts: jax.Array  # [] bool, legally
    joins: jax.Array  # [] bool, legally
    channel: jax.Array  # [] int32, that a message, a switch or a join goes to
    kind: jax.Array  # [] int32, of the message
    place: jax.Array  # [] int32, in the ring of the agent's channel: the message that a reaction goes to
    emoji: jax.Array  # [] int32


def look(agent: jax.Array, state: State) -> Window:
    """The window of an agent, as `types.each_agent` calls it."""
    rings = state.messages
    columns = (rings.words.T, rings.posted.T, rings.reactions.T)
    columns, count = read((columns, rings.count), state.channel)
    words, posted, reactions = (column[::-1] for column in rotate(columns, count % WINDOW))  # the newest is the last
    return Window(words=words, age=state.clock - posted, reaction=messages.reaction_of(reactions, agent))


def decode(catalogue: Catalogue, state: State, scenario: Scenario, agent: jax.Array, action: jax.Array) -> Move:
    """The meaning of an agent's action ([] int32); an out-of-range index is malformed."""
    action = jnp.where((action >= 0) & (action < catalogue.size), action, catalogue.size - 1)
    verb, channel, kind, slot, emoji = read(catalogue.table, action)
    here, rings = state.channel.astype(jnp.int32), state.messages
    call_end, in_call = read((state.call_end, state.in_call), channel)
    columns, count = read(((rings.words.T, rings.reactions.T), rings.count), here)
    place = messages.place_of(count, slot)
    word, reactions = read(columns, place)
    can_go = (channel < scenario.num_channels.astype(jnp.int32)) & (channel != here)
    can_join = (state.clock <= call_end) & ~in_call
    can_react = reactable(word, messages.reaction_of(reactions, agent), state.presence.shape[0])
    legal = (
        ((verb == TEXT) | (verb == IDLE))
        | (((verb == ANSWER) | (verb == SWITCH)) & can_go)
        | ((verb == REACT) & can_react)
        | ((verb == JOIN) & can_join)
    )
    return Move(
        verb=verb,
        legal=legal,
        sends=legal & (verb <= ANSWER),
        switches=legal & (verb == SWITCH),
        reacts=legal & (verb == REACT),
        joins=legal & (verb == JOIN),
        channel=jnp.where(verb == TEXT, here, channel),
        kind=kind,
        place=place,
        emoji=emoji,
    )


def legal_mask(agent: jax.Array, state: State, scenario: Scenario, window: Window) -> ActionMask:
    """[A] bool: the entries that the engine accepts of an agent in a live state, as `types.each_agent` calls it."""
    channels = np.arange(scenario.team.shape[0], dtype=np.int8)
    others = (channels < scenario.num_channels) & (channels != state.channel)
    can_react = reactable(window.words, window.reaction, state.presence.shape[0])
    joinable = is_running(state) & ~state.in_call
    true, false = np.ones(len(TEMPLATES), bool), np.zeros(3, bool)
    return concatenate_masks(true, others, others, jnp.repeat(can_react, len(EMOJI)), joinable, true[:1], false)


def is_running(state: State) -> jax.Array:
    """[C] bool: a call."""
    return state.clock <= state.call_end


def reactable(words: jax.Array, reaction: jax.Array, users: int) -> jax.Array:
    """bool: messages of teammates to which the agent has not reacted ([...] uint32 and int32)."""
    return messages.is_message(words) & (messages.author(words) < users) & (reaction == 0)
