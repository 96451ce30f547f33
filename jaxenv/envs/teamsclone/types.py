"""The records of TeamsClone.

Axes: C channels, U teammates, N agents, T texts of a document, W the 10 messages that a channel keeps, P their
places (W · C: message s of channel c is at (s % W) · C + c), S scheduled mentions, A actions, D numbers of a text's
embedding. Capacities are in `Limits`, everything else is traced. The clock
counts steps; what is posted in the step that starts at clock t has `posted` t. Rates are probabilities in units of
2⁻¹⁶; `_edges` are their running sums (a CDF), and a draw in 0 .. 65535 picks the first entry above it.
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core.contents import Capacities
from jaxenv.core.fields import Sizes, array, last, record
from jaxenv.core.params import BankParams
from jaxenv.core.printing import Compact
from jaxenv.core.types import ActionMask
from jaxenv.envs.teamsclone.texts import default_embedding

ONE = 2**16  # the probability of what is certain
WINDOW = 10  # messages that a channel keeps and shows
MAX_AGENTS = 8
MAX_TEXTS = 2**11  # in the table of a bank
NEVER = -1000  # the clock of what has not happened
MAX_STEPS = 31_000  # so that a clock minus NEVER fits int16
MAX_WAIT = 500  # steps for which a mention or a call can wait
MAX_COUNT = 2**31 - 2  # of whatever grows with an episode
MEMORY_OF_SENDS, MEMORY_OF_ACTS = 2**9 - 1, 2**5 - 1  # bits, one for each step before

# At most 15 kinds and 15 emoji: 4 bits of a message and of its reactions, of which 0 is none.
KINDS = ("chatter", "question", "greeting", "announcement", "mention", "invitation", "reply", "status", "thanks")
CHATTER, QUESTION, GREETING, ANNOUNCEMENT, MENTION, INVITATION, REPLY, STATUS, THANKS = range(len(KINDS))
POSTED_KINDS = KINDS[: MENTION + 1]  # those that teammates post of themselves
TEMPLATES = (GREETING, REPLY, QUESTION, STATUS, THANKS, CHATTER)  # the kinds of the messages an agent can write

PRESENCE = ("available", "busy", "away", "offline")
AVAILABLE, BUSY, AWAY, OFFLINE = range(len(PRESENCE))

EMOJI = ("👍", "❤️", "😂", "😮", "😢", "🎉", "🙏", "👀")
NO_REACTION = -1


@dataclasses.dataclass(frozen=True)
class Limits(Capacities):
    """Capacities of a workspace."""

    teams: int = 4
    channels: int = 8
    users: int = 7  # teammates
    texts: int = 64  # of one document

    axes: ClassVar[str] = "teams C U T"
    greatest: ClassVar[Mapping[str, int]] = {"users": 15 - MAX_AGENTS}  # with the agents they are 4 bits of a message


def _bits(number: str) -> Callable[[Sizes], np.uint32]:
    """The bound of unsigned numbers of so many bits; it has the dtype, because a Python int of 32 bits does not fit."""
    return lambda sizes: np.uint32(2 ** sizes[number] - 1)


class Scenario(Compact):
    """One workspace as data."""

    num_channels: jax.Array = array("", np.int8, 0, "C", doc="channels of this workspace")
    num_users: jax.Array = array("", np.int8, 0, "U", doc="teammates of this workspace")
    team: jax.Array = array("C", np.int8, 0, last("teams"), doc="the team of each channel")
    start: jax.Array = array("", np.int8, 0, last("C"), doc="the channel in which agents start")
    presence: jax.Array = array(
        "U", np.int8, 0, len(PRESENCE) - 1, doc="at first; AVAILABLE where absent, who never posts"
    )
    messages: jax.Array = array(f"{WINDOW} C", np.uint32, doc="initial ones, packed as `messages` says, oldest first")
    post_rate: jax.Array = array("U", np.int32, 0, ONE, doc="probability, 2⁻¹⁶")
    channel_edges: jax.Array = array("U C", np.int32, 0, ONE, fill=ONE, doc="over channels")
    kind_edges: jax.Array = array(f"U {len(POSTED_KINDS)}", np.int32, 0, ONE, doc="over POSTED_KINDS")
    presence_edges: jax.Array = array(
        f"U {len(PRESENCE)} {len(PRESENCE)}", np.int32, 0, ONE, doc="row: current presence"
    )
    call_rate: jax.Array = array("C", np.int32, 0, ONE, doc="probability, 2⁻¹⁶")
    call_length: jax.Array = array("", np.int16, 0, MAX_WAIT, doc="steps in which a call can be joined")
    mention_window: jax.Array = array("", np.int16, 0, MAX_WAIT, doc="greatest age at which a mention can be answered")
    texts: jax.Array = array("T", np.int16, 0, MAX_TEXTS - 1, doc="rows of the table of texts, by kind")
    first_text: jax.Array = array(f"{len(KINDS)}", np.int8, 0, "T", doc="where the texts of each kind begin in `texts`")
    num_texts: jax.Array = array(
        f"{len(KINDS)}", np.int8, 0, "T", doc="how many there are of each kind: at least 1 in a scenario"
    )


class Messages(struct.PyTreeNode):
    """The last messages of every channel, as rings: serial number s, from 0, of channel c stands at (s % W) * C + c.

    All P = W * C places lie along one axis: a CPU works through a long loop eight numbers at once, and through loops
    over eight channels one by one.
    """

    words: jax.Array = array(
        "P", np.uint32, 0, _bits("word"), doc="text, author, kind, mention, pending and seen; see `messages`"
    )
    posted: jax.Array = array("P", np.int16, -1, MAX_STEPS, doc="clock, -1 for initial messages, 0 where there is none")
    reactions: jax.Array = array("P", np.uint32, 0, _bits("reactions"), doc="4 bits an agent: 0 or its emoji + 1")
    count: jax.Array = array("C", np.int32, 0, MAX_COUNT, doc="messages ever posted: the next serial number")


class Schedule(struct.PyTreeNode):
    """Mentions that are always posted; S is 0 where the variant has none."""

    step: jax.Array = array("S", np.int16, NEVER, MAX_STEPS, fill=NEVER, doc="NEVER where there is none")
    channel: jax.Array = array("S", np.int8, 0, last("C"), doc="where it is posted")
    author: jax.Array = array("S", np.int8, 0, last("U"), doc="the teammate who posts it")


class Counts(struct.PyTreeNode):
    """What each agent has done and met so far."""

    total_reward: jax.Array = array("N", np.float32, doc="undiscounted")
    sent: jax.Array = array("N", np.int16, 0, doc="messages")
    switched: jax.Array = array("N", np.int16, 0, doc="switches of channel")
    joined: jax.Array = array("N", np.int16, 0, doc="calls joined")
    reacted: jax.Array = array("N", np.int16, 0, doc="reactions")
    valid: jax.Array = array("N", np.int16, 0, doc="legal actions")
    received: jax.Array = array("N", np.int16, 0, doc="mentions that name the agent")
    answered: jax.Array = array("N", np.int16, 0, doc="answers that the agent gave")
    missed: jax.Array = array("N", np.int16, 0, doc="of those received, the missed ones")
    waited: jax.Array = array("N", np.int32, 0, MAX_COUNT, doc="sum of the ages of its answers")


class State(Compact):
    """What changes during an episode; the rest is looked up in `params.bank`."""

    scenario: jax.Array = array("", np.int32, 0, MAX_COUNT, doc="index of the bank")
    clock: jax.Array = array("", np.int16, 0, MAX_STEPS, doc="steps taken")
    presence: jax.Array = array("U", np.int8, 0, len(PRESENCE) - 1, doc="current, index of PRESENCE")
    messages: Messages = record(Messages)
    last_post: jax.Array = array("C", np.int16, 0, MAX_STEPS, doc="clock of the last message by anybody, 0 at first")
    run: jax.Array = array("C", np.int8, 0, doc="agents' messages since a teammate's last")
    call_end: jax.Array = array(
        "C", np.int16, NEVER, fill=NEVER, doc="last clock at which the call runs, NEVER where there was none"
    )
    by_teammates: jax.Array = array("", np.int16, 0, doc="messages of teammates, initial ones among them")
    calls: jax.Array = array("", np.int16, 0, doc="calls that have begun")
    channel: jax.Array = array("N", np.int8, 0, last("C"), doc="where each agent is")
    unread: jax.Array = array("N C", np.uint8, doc="unread messages of each channel, saturates")
    news: jax.Array = array("N C", bool, doc="a teammate has posted since the agent's own last message there")
    paid: jax.Array = array(
        "N C", np.int16, NEVER, MAX_STEPS, doc="clock of the last entry that paid, NEVER where there was none"
    )
    visited: jax.Array = array("N C", bool, doc="channels that the agent has been in")
    in_call: jax.Array = array("N C", bool, doc="calls that the agent is in")
    sends: jax.Array = array("N", np.int16, 0, MEMORY_OF_SENDS, doc="bit k: a message k + 1 steps ago, of nine steps")
    acts: jax.Array = array("N", np.int8, 0, MEMORY_OF_ACTS, doc="bit k: an act k + 1 steps ago, of five steps")
    waiting: jax.Array = array(
        "N", np.int16, 0, lambda sizes: sizes["C"] * WINDOW, doc="pending mentions that name the agent"
    )
    counts: Counts = record(Counts)
    schedule: Schedule = record(Schedule)


OF_AGENTS = {"channel", "unread", "news", "paid", "visited", "in_call", "sends", "acts", "waiting", "counts"}
"""The fields of a state that have the axis N."""


def each_agent(function: Callable[..., Any], state: State, *arguments: jax.Array) -> Any:
    """`function(agent, state, *arguments)` for all agents, stacked along N.

    Each call has the agent's number ([] int32), the state with the agent's own entries of `OF_AGENTS`, without their
    axis N, and its entries of further arguments ([N, ...]).
    """
    axes: dict[str, Any] = {field.name: 0 if field.name in OF_AGENTS else None for field in dataclasses.fields(State)}
    agents = jnp.arange(state.channel.shape[0], dtype=jnp.int32)
    return jax.vmap(function, in_axes=(0, State(**axes), *[0] * len(arguments)))(agents, state, *arguments)


class Draws(struct.PyTreeNode):
    """The chance of one step: int32 numbers in 0 .. 65535."""

    presence: jax.Array  # [U]
    call: jax.Array  # []
    author: jax.Array  # []
    channel: jax.Array  # []
    kind: jax.Array  # []
    text: jax.Array  # []
    mention: jax.Array  # []


class ObservedMessages(struct.PyTreeNode):
    """The window of the agent's channel, newest first."""

    exists: jax.Array = array(f"{WINDOW}", bool, doc="the slot holds a message")
    author: jax.Array = array(
        f"{WINDOW}",
        np.int8,
        -1,
        lambda sizes: sizes["U"] + sizes["N"] - 1,
        doc="teammate 0 .. U - 1, U + i for agent i; -1 where there is no message, as below",
    )
    kind: jax.Array = array(f"{WINDOW}", np.int8, -1, len(KINDS) - 1, doc="index of KINDS")
    mentions_me: jax.Array = array(f"{WINDOW}", bool, doc="it names the agent")
    pending: jax.Array = array(f"{WINDOW}", bool, doc="a mention that waits for an answer")
    age: jax.Array = array(f"{WINDOW}", np.int16, 0, MAX_STEPS + 1, doc="steps since it was posted")
    reaction: jax.Array = array(
        f"{WINDOW}", np.int8, NO_REACTION, len(EMOJI) - 1, doc="the agent's own, index of EMOJI or NO_REACTION"
    )
    text: jax.Array = array(f"{WINDOW}", np.int16, 0, MAX_TEXTS - 1, doc="row of the table of texts")


class Observation(Compact):
    """The workspace as one agent sees it: other channels only as unread counts, and no rates."""

    messages: ObservedMessages = record(ObservedMessages)
    team: jax.Array = array("", np.int8, 0, last("teams"), doc="of the current channel")
    channel: jax.Array = array("", np.int8, 0, last("C"), doc="the current one")
    exists: jax.Array = array("C", bool, doc="the slot holds a channel")
    unread: jax.Array = array("C", np.uint8, doc="saturates")
    running: jax.Array = array("C", bool, doc="a call")
    joined: jax.Array = array("C", bool, doc="the agent is in the call")
    present: jax.Array = array("U", bool, doc="available or busy")
    away: jax.Array = array("", bool, doc="the agent's own status")
    clock: jax.Array = array("", np.int16, 0, MAX_STEPS, doc="steps taken")
    max_steps: jax.Array = array("", np.int16, 0, MAX_STEPS, doc="the time limit in steps")
    sends: jax.Array = array(
        "",
        np.int8,
        0,
        MEMORY_OF_SENDS.bit_length(),
        doc="own messages of the nine steps before, which count as spam does",
    )
    run: jax.Array = array("C", np.int8, 0, doc="agents' messages since a teammate's last")
    action_mask: ActionMask = array("A", bool, doc="the legal actions")


class Statistics(struct.PyTreeNode):
    """The specification's statistics of an episode so far and those of the rules, each [] ([N] for N agents)."""

    steps: jax.Array  # int16
    total_reward: jax.Array  # float32
    messages_sent: jax.Array  # int16
    channels_switched: jax.Array  # int16
    channels_visited: jax.Array  # int16, the first one included
    mentions_received: jax.Array  # int16, those that name the agent
    mentions_answered: jax.Array  # int16, by the agent
    mentions_missed: jax.Array  # int16, of those that name the agent
    mean_response_time: jax.Array  # float32, steps, 0 where none was answered
    response_rate: jax.Array  # float32, answered / (answered + missed), 0 where there is neither
    valid_action_share: jax.Array  # float32, of the steps
    coverage: jax.Array  # float32, visited / existing channels
    reactions_per_message: jax.Array  # float32, reactions / teammates' messages

    def pooled(self) -> dict[str, float]:
        """The figures of the specification's evaluation beside the return, over all episodes and agents (host side).

        Returns:
            `messages` an episode; of all mentions that were answered or missed the share of `mentions answered`;
            `response time`, the mean steps until an answer, 0 without one; mean `coverage` of channels and share of
            `valid actions`.
        """
        answered, missed = np.sum(self.mentions_answered), np.sum(self.mentions_missed)
        waited = np.sum(np.asarray(self.mean_response_time) * np.asarray(self.mentions_answered))
        figures = {
            "messages": np.mean(self.messages_sent),
            "mentions answered": answered / max(answered + missed, 1),
            "response time": waited / max(answered, 1),
            "coverage": np.mean(self.coverage),
            "valid actions": np.mean(self.valid_action_share),
        }
        return {name: float(value) for name, value in figures.items()}


class Params(BankParams):
    """The numbers of the environment, all traced.

    `bank.shared` is the embedding of the texts of its scenarios, None where they are the default ones.
    """

    call_rate: jax.Array  # [] float32, of every channel, 0 .. 1 a step; negative: the workspaces' own
    max_steps_in_episode: jax.Array  # [] int32, the time limit; above MAX_STEPS it is MAX_STEPS
    shared_reward: jax.Array  # [] float32, the share of the mean over agents in each one's reward, 0 .. 1
    quota_mentions: jax.Array  # [] int32, answers that end an episode of several agents, together with
    quota_calls: jax.Array  # [] int32, joins
    quota_share: jax.Array  # [] float32, of what is offered, which the quota asks for as well, 0 .. 1; 0: of nothing

    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {
        "call_rate": (-np.inf, 1.0),
        "max_steps_in_episode": (1, MAX_STEPS),
        **dict.fromkeys(("shared_reward", "quota_share"), (0.0, 1.0)),
        **dict.fromkeys(("quota_mentions", "quota_calls"), (0, MAX_COUNT)),
    }

    @property
    def time_limit(self) -> jax.Array:
        """[] int32, which the clock can reach."""
        return jnp.minimum(self.max_steps_in_episode, MAX_STEPS)

    @property
    def text_embedding(self) -> jax.Array:
        """[texts, D] float32: a row for each text code; `with_text_embedding` puts another in its place."""
        return jnp.asarray(default_embedding()) if self.bank.shared is None else self.bank.shared

    def with_text_embedding(self, table: jax.Array) -> "Params":
        """The params with another frozen embedding of the texts of the bank, such as one of sentences: [texts, D]."""
        return self.replace(bank=self.bank.replace(shared=table))

    def workspace(self, index: jax.Array) -> Scenario:
        """The scenario at an index of the bank, with the calls of `call_rate`."""
        scenario = self.bank[index]
        exists = np.arange(scenario.call_rate.shape[0], dtype=np.int8) < scenario.num_channels
        given = jnp.floor(self.call_rate * ONE + 0.5).astype(jnp.int32)
        rates = jnp.where(self.call_rate < 0, scenario.call_rate, jnp.where(exists, given, 0))
        return scenario.replace(call_rate=rates)
