"""The world's part of a TeamsClone step in slow, plain Python: channels, posts, calls, presence and mentions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from reference.teamsclone_rules import POSTED_KINDS, PRESENT, UNIT, UNREAD_TOP, WINDOW, Draws, Record, pick, uniform
from reference.teamsclone_workspace import Workspace

Appointment = tuple[int, int, int]  # a scheduled mention: step, channel, teammate


def agent_name(number: int) -> str:
    """The author of an agent's messages; a teammate's author is its index."""
    return f"agent {number}"


@dataclass
class Message:
    """A message that its channel keeps."""

    serial: int  # from 1 in its channel
    author: int | str
    kind: str
    text: str
    mentioned: int | None  # an agent
    pending: bool
    posted: int  # the clock before its step; -1 for an initial one
    seen: list[bool]  # by agent
    reactions: list[int | None]  # an emoji, by agent

    @property
    def by_teammate(self) -> bool:
        """Whether a teammate wrote it."""
        return isinstance(self.author, int)


@dataclass
class Channel:
    """A channel with the messages that it keeps, oldest first."""

    messages: list[Message] = field(default_factory=list)
    posts: int = 0
    run: int = 0  # agents' messages since a teammate's last one
    call_started: int | None = None  # the clock before the start of the call that runs


@dataclass
class Agent:
    """What the workspace holds of an agent; the lists go by channel."""

    channel: int
    unread: list[int]
    paid: list[int | None]  # the clock of the last paid entry
    joined: list[bool]
    addressed: list[bool]  # whether a teammate has posted since the agent's own last message
    visited: set[int]
    acts: list[int] = field(default_factory=list)  # the clocks of its acts
    sends: list[int] = field(default_factory=list)  # and of its messages
    answer_ages: list[int] = field(default_factory=list)
    received: int = 0
    missed: int = 0
    switches: int = 0
    joins: int = 0
    reactions: int = 0
    legal_actions: int = 0


class World:
    """A workspace in motion; mentions of a schedule take the place of posts and of calls' starts."""

    def __init__(
        self, document: Record, num_agents: int, capacity: int, schedule: Sequence[Appointment] | None
    ) -> None:
        self.workspace = Workspace(document, num_agents, capacity)
        self.schedule = None if schedule is None else {step: (channel, author) for step, channel, author in schedule}
        self.presence = [teammate.presence for teammate in self.workspace.teammates]
        count, start = len(self.workspace.channel_ids), self.workspace.start
        self.channels = [Channel() for _ in range(count)]
        self.agents = [
            Agent(start, [0] * count, [None] * count, [False] * count, [False] * count, {start})
            for _ in range(num_agents)
        ]
        for agent in self.agents:
            agent.paid[start] = 0
        self.teammates_messages = self.calls_begun = 0
        self.clock = -1  # initial messages stand before the first step
        for each in self.workspace.initial:
            self.post(each.channel, each.teammate, each.kind, each.text, each.agent)
        self.clock = 0
        self._mark_seen()

    # ------------------------------------------------------------------------------------ messages

    def post(self, place: int, author: int | str, kind: str, text: str, mentioned: int | None = None) -> None:
        """Put a message into a channel, which keeps its last ten."""
        channel = self.channels[place]
        channel.posts += 1
        count = len(self.agents)
        message = Message(
            serial=channel.posts,
            author=author,
            kind=kind,
            text=text,
            mentioned=mentioned,
            pending=mentioned is not None,
            posted=self.clock,
            seen=[False] * count,
            reactions=[None] * count,
        )
        channel.messages.append(message)
        channel.run = 0 if message.by_teammate else channel.run + 1
        self.teammates_messages += message.by_teammate
        if mentioned is not None:
            self.agents[mentioned].received += 1
        for number, agent in enumerate(self.agents):
            if author == agent_name(number):
                agent.addressed[place] = False
                continue
            agent.addressed[place] |= message.by_teammate
            if agent.channel != place:
                agent.unread[place] = min(UNREAD_TOP, agent.unread[place] + 1)
        if len(channel.messages) > WINDOW:
            self._miss(channel.messages.pop(0))

    def quiet(self, place: int) -> int:
        """For how many steps nobody has posted in a channel, counted from 0 at reset."""
        messages = self.channels[place].messages
        return self.clock - (max(0, messages[-1].posted) if messages else 0)

    def _miss(self, message: Message) -> None:
        if message.pending:
            assert message.mentioned is not None
            message.pending = False
            self.agents[message.mentioned].missed += 1

    # ----------------------------------------------------------------------------------- the world

    def advance(self, draws: Draws) -> None:
        """The phases of a step that follow the agents' actions."""
        self._move_presence(draws.presence)
        appointment = None if self.schedule is None else self.schedule.get(self.clock)
        if appointment is not None:
            channel, author = appointment
            self.post(channel, author, "mention", self._text("mention", draws.text), 0)
        elif not self._start_call(draws):
            self._teammate_posts(draws)
        self._end_calls()
        self.clock += 1
        self._miss_old_mentions()
        self._mark_seen()

    def present_teammates(self) -> list[int]:
        """The teammates available or busy, in order."""
        return [number for number, presence in enumerate(self.presence) if presence in PRESENT]

    def running(self, place: int) -> bool:
        """Whether a call runs in a channel."""
        return self.channels[place].call_started is not None

    def pending(self) -> list[Message]:
        """Every mention that pends."""
        return [message for channel in self.channels for message in channel.messages if message.pending]

    def _move_presence(self, draws: Sequence[int]) -> None:
        self.presence = [
            pick(teammate.presences[presence], draws[number])
            for number, (teammate, presence) in enumerate(zip(self.workspace.teammates, self.presence, strict=True))
        ]

    def _start_call(self, draws: Draws) -> bool:
        present = self.present_teammates()
        if not present:
            return False
        total = 0
        for place, call_odds in enumerate(self.workspace.call_odds):
            total += 0 if self.running(place) else call_odds
            if draws.call < total:
                author = present[uniform(len(present), draws.author)]
                self.channels[place].call_started = self.clock
                self.calls_begun += 1
                self.post(place, author, "invitation", self._text("invitation", draws.text))
                return True
        return False

    def _teammate_posts(self, draws: Draws) -> None:
        author = self._author(draws.author)
        if author is None:
            return
        teammate = self.workspace.teammates[author]
        place = pick(teammate.channels, draws.channel)
        kind = POSTED_KINDS[pick(teammate.kinds, draws.kind)]
        if kind == "mention" and self.schedule is not None:
            kind = "chatter"
        mentioned = uniform(len(self.agents), draws.mention) if kind == "mention" else None
        self.post(place, author, kind, self._text(kind, draws.text), mentioned)

    def _author(self, draw: int) -> int | None:
        present = self.present_teammates()
        rates = [self.workspace.teammates[number].post_odds for number in present]
        reach = draw * max(UNIT, sum(rates)) // UNIT
        total = 0
        for number, rate in zip(present, rates, strict=True):
            total += rate
            if reach < total:
                return number
        return None

    def _text(self, kind: str, draw: int) -> str:
        texts = self.workspace.texts[kind]
        return texts[uniform(len(texts), draw)]

    def _end_calls(self) -> None:
        for place, channel in enumerate(self.channels):
            if channel.call_started is not None and self.clock >= channel.call_started + self.workspace.call_length:
                channel.call_started = None
                for agent in self.agents:
                    agent.joined[place] = False

    def _miss_old_mentions(self) -> None:
        for message in self.pending():
            if self.clock - message.posted > self.workspace.mention_window:
                self._miss(message)

    def _mark_seen(self) -> None:
        for number, agent in enumerate(self.agents):
            for message in self.channels[agent.channel].messages:
                message.seen[number] = True
