"""The catalogue of actions: what an index means, and which entries are legal now.

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

from jaxenv.core.types import ActionMask
from jaxenv.envs.teamsclone import messages
from jaxenv.envs.teamsclone.types import EMOJI, REPLY, TEMPLATES, WINDOW, Limits, Scenario, State

VERBS = ("text", "answer", "switch", "react", "join", "idle", "empty message", "unknown channel", "malformed")
TEXT, ANSWER, SWITCH, REACT, JOIN, IDLE, EMPTY_MESSAGE, UNKNOWN_CHANNEL, MALFORMED = range(len(VERBS))


@dataclasses.dataclass(frozen=True)
class Catalogue:
    """What the indices mean, for C channels; columns of `table` are verb, channel, message kind, slot and emoji."""

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

    place: jax.Array  # [W] int32, in the ring
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
    slot: jax.Array  # [] int32, of the window
    emoji: jax.Array  # [] int32


def look(state: State, agent: jax.Array) -> Window:
    """The window of an agent ([] int32)."""
    channel = state.channel[agent]
    place = messages.place_of(state.messages.count[channel], np.arange(WINDOW))
    return Window(
        place=place,
        words=state.messages.words[place, channel],
        age=state.clock - state.messages.posted[place, channel],
        reaction=((state.messages.reactions[place, channel] >> (4 * agent).astype(jnp.uint32)) & 15).astype(jnp.int32),
    )


def decode(catalogue: Catalogue, state: State, scenario: Scenario, agent: jax.Array, action: jax.Array) -> Move:
    """What an agent's action ([] int32) means; an index out of range is malformed."""
    action = jnp.where((action >= 0) & (action < catalogue.size), action, catalogue.size - 1)
    verb, channel, kind, slot, emoji = jnp.asarray(catalogue.table)[action]
    here = state.channel[agent].astype(jnp.int32)
    can_go, can_join = other_channels(state, scenario, agent)[channel], joinable(state, agent)[channel]
    can_react = reactable(look(state, agent), state.presence.shape[0])[slot]
    is_open = jnp.stack([jnp.bool_(True), can_go, can_go, can_react, can_join, jnp.bool_(True)])
    legal = (verb <= IDLE) & is_open[jnp.minimum(verb, IDLE)]
    return Move(
        verb=verb,
        legal=legal,
        sends=legal & (verb <= ANSWER),
        switches=legal & (verb == SWITCH),
        reacts=legal & (verb == REACT),
        joins=legal & (verb == JOIN),
        channel=jnp.where(verb == TEXT, here, channel),
        kind=kind,
        slot=slot,
        emoji=emoji,
    )


def legal_mask(state: State, scenario: Scenario, agent: jax.Array) -> ActionMask:
    """[A] bool: the entries that the engine accepts of an agent in a live state."""
    others = other_channels(state, scenario, agent)
    can_react = reactable(look(state, agent), state.presence.shape[0])
    true, false = np.ones(len(TEMPLATES), bool), np.zeros(3, bool)
    parts = (true, others, others, jnp.repeat(can_react, len(EMOJI)), joinable(state, agent), true[:1], false)
    return jnp.concatenate(parts)


def other_channels(state: State, scenario: Scenario, agent: jax.Array) -> jax.Array:
    """[C] bool: channels that exist and are not the agent's."""
    channels = jnp.arange(scenario.team.shape[0], dtype=jnp.int8)
    return (channels < scenario.num_channels) & (channels != state.channel[agent])


def joinable(state: State, agent: jax.Array) -> jax.Array:
    """[C] bool: a call runs there and the agent is not in it."""
    return is_running(state) & ~state.in_call[agent]


def is_running(state: State) -> jax.Array:
    """[C] bool: a call."""
    return state.clock <= state.call_end


def reactable(window: Window, users: int) -> jax.Array:
    """[W] bool: messages of teammates without a reaction of the agent."""
    by_teammate = messages.is_message(window.words) & (messages.author(window.words) < users)
    return by_teammate & (window.reaction == 0)
