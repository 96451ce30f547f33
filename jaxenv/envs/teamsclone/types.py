"""The records of TeamsClone and their shapes.

Axes: C channels, U teammates, N agents, T texts of a document, W the 10 messages that a channel keeps, S scheduled
mentions, A actions, D numbers of a text's embedding. Capacities are in `Limits`, everything else is traced. The clock
counts steps; what is posted in the step that starts at clock t has `posted` t. Odds are probabilities in units of
2⁻¹⁶; edges are their running sums, and a draw in 0 .. 65535 picks the first entry whose edge is above it.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core import ScenarioBank
from jaxenv.core.types import ActionMask
from jaxenv.envs.teamsclone.texts import default_embedding

ONE = 2**16  # odds of what is certain
WINDOW = 10  # messages that a channel keeps and shows
MOST_AGENTS = 8
MOST_TEXTS = 2**11  # in the table of a bank
NEVER = -1000  # the clock of what has not happened
MOST_STEPS = 32000

KINDS = ("chatter", "question", "greeting", "announcement", "mention", "invitation", "reply", "status", "thanks")
CHATTER, QUESTION, GREETING, ANNOUNCEMENT, MENTION, INVITATION, REPLY, STATUS, THANKS = range(len(KINDS))
POSTED_KINDS = KINDS[: MENTION + 1]  # those that teammates post of themselves
TEMPLATES = (GREETING, REPLY, QUESTION, STATUS, THANKS, CHATTER)  # the kinds of the messages an agent can write

PRESENCE = ("available", "busy", "away", "offline")
AVAILABLE, BUSY, AWAY, OFFLINE = range(len(PRESENCE))

EMOJI = ("👍", "❤️", "😂", "😮", "😢", "🎉", "🙏", "👀")
NO_REACTION = -1


@dataclasses.dataclass(frozen=True)
class Limits:
    """Capacities of a workspace."""

    teams: int = 4
    channels: int = 8
    users: int = 7  # teammates
    texts: int = 64  # of one document

    def __post_init__(self) -> None:
        """Refuses a capacity under 1 and one that would not fit its dtype."""
        for name, value in dataclasses.asdict(self).items():
            if value < 1:
                raise ValueError(f"Limits({name}={value}): a capacity is at least 1")
        if self.users + MOST_AGENTS > 15 or max(self.teams, self.channels, self.texts) > 120:
            raise ValueError(f"{self}: at most 7 users, and 120 of the others, fit their dtypes")


class Scenario(struct.PyTreeNode):
    """One workspace as data."""

    num_channels: jax.Array  # [] int8
    num_users: jax.Array  # [] int8
    team: jax.Array  # [C] int8, the team of each channel, 0 where absent
    start: jax.Array  # [] int8, the channel in which agents start
    presence: jax.Array  # [U] int8, at first; AVAILABLE where absent, who never posts
    messages: jax.Array  # [W, C] uint32, initial ones, packed as `messages` says, oldest first, 0 where absent
    post_rate: jax.Array  # [U] int32, odds, 0 where absent
    channel_edges: jax.Array  # [U, C] int32, ONE where absent
    kind_edges: jax.Array  # [U, 5] int32, over POSTED_KINDS, 0 where absent
    presence_edges: jax.Array  # [U, 4, 4] int32, row: present state, 0 where absent
    call_rate: jax.Array  # [C] int32, odds, 0 where absent
    call_length: jax.Array  # [] int16, steps in which a call can be joined
    mention_window: jax.Array  # [] int16, greatest age at which a mention can be answered
    texts: jax.Array  # [T] int16, rows of the table of texts, by kind; 0 where absent
    first_text: jax.Array  # [9] int8, where the texts of each kind begin in `texts`
    num_texts: jax.Array  # [9] int8, how many there are of each kind, at least 1


class Messages(struct.PyTreeNode):
    """The last messages of every channel, as rings: serial number s, from 0, stands at s % W.

    Channels lie along the last axis: a CPU works through eight numbers at once, and there are eight channels.
    """

    words: jax.Array  # [W, C] uint32, text, author, kind, mention, pending and seen; see `messages`
    posted: jax.Array  # [W, C] int16, clock, -1 for initial messages, 0 where there is none
    reactions: jax.Array  # [W, C] uint32, 4 bits an agent: 0 or its emoji + 1
    count: jax.Array  # [C] int32, messages ever posted: the next serial number


class Schedule(struct.PyTreeNode):
    """Mentions that are posted come what may; S is 0 where the variant has none."""

    step: jax.Array  # [S] int16, NEVER where there is none
    channel: jax.Array  # [S] int8
    author: jax.Array  # [S] int8


class Counts(struct.PyTreeNode):
    """What each agent has done and met so far."""

    total_reward: jax.Array  # [N] float32
    sent: jax.Array  # [N] int16, messages
    switched: jax.Array  # [N] int16
    joined: jax.Array  # [N] int16
    reacted: jax.Array  # [N] int16
    valid: jax.Array  # [N] int16, legal actions
    received: jax.Array  # [N] int16, mentions that name the agent
    answered: jax.Array  # [N] int16, answers that the agent gave
    missed: jax.Array  # [N] int16, mentions that name the agent
    waited: jax.Array  # [N] int32, sum of the ages of its answers


class State(struct.PyTreeNode):
    """What changes during an episode; the rest is looked up in `params.bank`."""

    scenario: jax.Array  # [] int32, index of the bank
    clock: jax.Array  # [] int16, steps taken
    presence: jax.Array  # [U] int8
    messages: Messages
    last_post: jax.Array  # [C] int16, clock of the last message by anybody, 0 at first
    run: jax.Array  # [C] int8, agents' messages since a teammate's last
    call_end: jax.Array  # [C] int16, last clock at which the call runs, NEVER where there was none
    by_teammates: jax.Array  # [] int16, messages of teammates, initial ones among them
    channel: jax.Array  # [N] int8, where each agent is
    unread: jax.Array  # [N, C] uint8
    news: jax.Array  # [N, C] bool, a teammate has posted since the agent's own last message there
    paid: jax.Array  # [N, C] int16, clock of the last entry that paid, NEVER where there was none
    visited: jax.Array  # [N, C] bool
    in_call: jax.Array  # [N, C] bool
    sends: jax.Array  # [N] int16, bit k: a message k + 1 steps ago, of nine steps
    acts: jax.Array  # [N] int8, bit k: an act k + 1 steps ago, of five steps
    waiting: jax.Array  # [N] int16, pending mentions that name the agent
    counts: Counts
    schedule: Schedule


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

    present: jax.Array  # [W] bool
    author: jax.Array  # [W] int8, teammate 0 .. U - 1, U + i for agent i; -1 where there is no message, as below
    kind: jax.Array  # [W] int8, index of KINDS
    mentions_me: jax.Array  # [W] bool
    pending: jax.Array  # [W] bool, a mention that waits for an answer
    age: jax.Array  # [W] int16, steps since it was posted
    reaction: jax.Array  # [W] int8, the agent's own, index of EMOJI or NO_REACTION
    text: jax.Array  # [W] int16, row of the table of texts


class Observation(struct.PyTreeNode):
    """The workspace as one agent sees it: other channels only as unread counts, and no rates."""

    messages: ObservedMessages
    team: jax.Array  # [] int8, of the current channel
    channel: jax.Array  # [] int8, the current one
    exists: jax.Array  # [C] bool
    unread: jax.Array  # [C] uint8, saturates
    running: jax.Array  # [C] bool, a call
    joined: jax.Array  # [C] bool, the agent is in the call
    present: jax.Array  # [U] bool, available or busy
    away: jax.Array  # [] bool, the agent's own status
    clock: jax.Array  # [] int16
    time_limit: jax.Array  # [] int16
    sends: jax.Array  # [] int8, own messages of the nine steps before, which count as spam does
    run: jax.Array  # [C] int8, agents' messages since a teammate's last
    action_mask: ActionMask  # [A] bool


class RewardWeights(struct.PyTreeNode):
    """What each part pays, each a [] float32 (or a Python float); zero switches a part off."""

    send: jax.Array | float
    mention_response: jax.Array | float
    switch: jax.Array | float
    react: jax.Array | float
    join_call: jax.Array | float
    empty_message: jax.Array | float
    invalid_channel: jax.Array | float
    invalid_action: jax.Array | float
    spam: jax.Array | float
    timely_response: jax.Array | float
    channel_engagement: jax.Array | float
    presence: jax.Array | float


class RewardParts(struct.PyTreeNode):
    """The named terms of one step's reward, each [] float32 ([N] for N agents); they sum to it."""

    send: jax.Array
    mention_response: jax.Array
    switch: jax.Array
    react: jax.Array
    join_call: jax.Array
    empty_message: jax.Array
    invalid_channel: jax.Array
    invalid_action: jax.Array
    spam: jax.Array
    timely_response: jax.Array
    channel_engagement: jax.Array
    presence: jax.Array


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


class Params(struct.PyTreeNode):
    """The numbers of the environment, all traced."""

    bank: ScenarioBank  # of Scenario; `bank.shared` is the embedding of its texts, None where they are the default ones
    weights: RewardWeights
    call_rate: jax.Array  # [] float32, of every channel, 0 .. 1 a step; negative: the workspaces' own
    max_steps_in_episode: jax.Array  # [] int32, the time limit, at most MOST_STEPS
    shared_reward: jax.Array  # [] float32, the share of the mean over agents in each one's reward, 0 .. 1
    quota_mentions: jax.Array  # [] int32, answers that end an episode of several agents, together with
    quota_calls: jax.Array  # [] int32, joins

    @property
    def text_embedding(self) -> jax.Array:
        """[texts, D] float32: a row for each text code; `with_text_embedding` puts another in its place."""
        return default_embedding() if self.bank.shared is None else self.bank.shared

    def with_text_embedding(self, table: jax.Array) -> "Params":
        """The params with another frozen embedding of the texts of the bank, such as one of sentences: [texts, D]."""
        return self.replace(bank=self.bank.replace(shared=table))

    def workspace(self, index: jax.Array) -> Scenario:
        """The scenario at an index of the bank, with the calls of `call_rate`."""
        scenario = self.bank[index]
        exists = np.arange(scenario.call_rate.shape[0], dtype=np.int8) < scenario.num_channels
        odds = jnp.floor(self.call_rate * ONE + 0.5).astype(jnp.int32)
        rates = jnp.where(self.call_rate < 0, scenario.call_rate, jnp.where(exists, odds, 0))
        return scenario.replace(call_rate=rates)


def empty_scenario(limits: Limits) -> Scenario:
    """A scenario of padding only, as NumPy arrays: the shapes, dtypes and padding of everything compiled or drawn."""
    C, U, T = limits.channels, limits.users, limits.texts

    def zeros(*shape: int, dtype: Any = np.int32) -> Any:
        return np.zeros(shape, dtype)

    return Scenario(
        num_channels=zeros(dtype=np.int8),
        num_users=zeros(dtype=np.int8),
        team=zeros(C, dtype=np.int8),
        start=zeros(dtype=np.int8),
        presence=zeros(U, dtype=np.int8),
        messages=zeros(WINDOW, C, dtype=np.uint32),
        post_rate=zeros(U),
        channel_edges=zeros(U, C) + np.int32(ONE),
        kind_edges=zeros(U, len(POSTED_KINDS)),
        presence_edges=zeros(U, len(PRESENCE), len(PRESENCE)),
        call_rate=zeros(C),
        call_length=zeros(dtype=np.int16),
        mention_window=zeros(dtype=np.int16),
        texts=zeros(T, dtype=np.int16),
        first_text=zeros(len(KINDS), dtype=np.int8),
        num_texts=zeros(len(KINDS), dtype=np.int8),
    )
