"""The catalogue of actions: the meaning of each index, and the entries that are legal now.

Order: the six templates into the current channel, the answer template into each channel, going to each channel, each
emoji on each message of the window (message by message, newest first), joining the call of each channel, idling, and
the three actions that are never legal: an empty message, an unknown channel, a malformed action.
"""

import dataclasses
import functools
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core.masking import concatenate_masks
from jaxenv.core.types import ActionCatalogue, ActionMask
from jaxenv.envs.teamsclone import messages
from jaxenv.envs.teamsclone.types import EMOJI, REPLY, TEMPLATES, WINDOW, Scenario, State
from jaxenv.lowering.lookup import read, rotate
from jaxenv.lowering.materialize import materialize

ALWAYS, ELSEWHERE, REACTABLE, RUNNING_CALL, NEVER = range(5)  # when an entry is legal, see `conditions`


class Entry(NamedTuple):
    """The meaning of one index of the catalogue, apart from its verb."""

    channel: int = 0
    kind: int = 0  # of the message
    slot: int = 0  # of the message of the window, newest first
    emoji: int = 0


class Verb(NamedTuple):
    """A kind of action: for each place of its condition some variants, each an entry of the catalogue."""

    name: str
    condition: int  # ALWAYS .. NEVER; its places are channels, messages of the window, or one
    variants: int = 1
    entry: Callable[[int, int], Entry] = lambda place, variant: Entry()


VERBS = (
    Verb("text", ALWAYS, len(TEMPLATES), lambda _, template: Entry(kind=TEMPLATES[template])),
    Verb("answer", ELSEWHERE, entry=lambda channel, _: Entry(channel, kind=REPLY)),
    Verb("switch", ELSEWHERE, entry=lambda channel, _: Entry(channel)),
    Verb("react", REACTABLE, len(EMOJI), lambda slot, emoji: Entry(slot=slot, emoji=emoji)),
    Verb("join", RUNNING_CALL, entry=lambda channel, _: Entry(channel)),
    Verb("idle", ALWAYS),
    Verb("empty message", NEVER),
    Verb("unknown channel", NEVER),
    Verb("malformed", NEVER),
)
TEXT, ANSWER, SWITCH, REACT, JOIN, IDLE, EMPTY_MESSAGE, UNKNOWN_CHANNEL, MALFORMED = range(len(VERBS))


@dataclasses.dataclass(frozen=True)
class Catalogue(ActionCatalogue):
    """The meaning of the indices, 114 with 8 channels.

    `table` has the columns verb, channel, message kind, slot, emoji.
    """

    channels: int

    @functools.cached_property
    def table(self) -> np.ndarray:
        """[A, 5] int32, 0 where a column does not matter."""
        places = {ALWAYS: 1, ELSEWHERE: self.channels, REACTABLE: WINDOW, RUNNING_CALL: self.channels, NEVER: 1}
        rows = [
            (number, *verb.entry(place, variant))
            for number, verb in enumerate(VERBS)
            for place in range(places[verb.condition])
            for variant in range(verb.variants)
        ]
        return np.array(rows, np.int32)


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
    columns = tuple(map(messages.by_channel, (rings.words, rings.posted, rings.reactions)))
    columns, count = read((columns, rings.count), state.channel)
    words, posted, reactions = (column[::-1] for column in rotate(columns, count % WINDOW))  # the newest is the last
    return Window(words=words, age=state.clock - posted, reaction=messages.reaction_of(reactions, agent))


def decode(catalogue: Catalogue, state: State, scenario: Scenario, agent: jax.Array, action: jax.Array) -> Move:
    """The meaning of an agent's action ([] int32); an out-of-range index is malformed."""
    action = jnp.where((action >= 0) & (action < catalogue.size), action, catalogue.size - 1)
    verb, channel, kind, slot, emoji = read(catalogue.table, action)
    here, rings = state.channel.astype(jnp.int32), state.messages
    call_end, in_call = read((state.call_end, state.in_call), channel)
    columns = tuple(map(messages.by_channel, (rings.words, rings.reactions)))
    columns, count = read((columns, rings.count), here)
    place = messages.place_of(count, slot)
    word, reactions = read(columns, place)
    holds = conditions(state, scenario, channel, call_end, in_call, word, messages.reaction_of(reactions, agent))
    legal = functools.reduce(operator.or_, ((verb == n) & holds[row.condition] for n, row in enumerate(VERBS)))
    legal = materialize(legal)
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
    channels = np.arange(scenario.team.shape[0], dtype=np.int32)
    holds = conditions(state, scenario, channels, state.call_end, state.in_call, window.words, window.reaction)
    return concatenate_masks(*(jnp.repeat(jnp.atleast_1d(holds[verb.condition]), verb.variants) for verb in VERBS))


def conditions(
    state: State, scenario: Scenario, channel: Any, call_end: Any, in_call: Any, words: jax.Array, reaction: jax.Array
) -> tuple[Any, ...]:
    """Whether entries that go to a channel and a message are legal in a live state: a bool for each of ALWAYS .. NEVER.

    Args:
        state: as `types.each_agent` passes it.
        scenario: of the state.
        channel: number of a channel ([]), or of all ([C]).
        call_end: of that channel.
        in_call: of that channel.
        words: a message ([]), or all of the window ([W]).
        reaction: the agent's own reaction to it.
    """
    elsewhere = (channel < scenario.num_channels.astype(jnp.int32)) & (channel != state.channel.astype(jnp.int32))
    by_teammate = messages.is_message(words) & (messages.author(words) < state.presence.shape[0])
    return True, elsewhere, by_teammate & (reaction == 0), (state.clock <= call_end) & ~in_call, False


def is_running(state: State) -> jax.Array:
    """[C] bool: a call."""
    return state.clock <= state.call_end
