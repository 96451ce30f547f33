"""The TeamsClone document: the types of its fields, and a workspace of teams, channels, teammates and messages."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from jaxenv.envs.teamsclone.texts import DEFAULT_TEXTS
from jaxenv.envs.teamsclone.types import KINDS, MAX_AGENTS, MAX_WAIT, MENTION, PRESENCE
from scenarios.text.records import ListOf, Name, NotEmpty, Record, expect, number_from, one_of

START_TIME = 1_698_765_432_000  # that of the specification
MAX_CHARACTERS = 1000  # of a text or a message
MAX_WEIGHT = 1_000_000
LAST_MILLISECOND = 253_402_300_799_999  # of the year 9999


Text = Annotated[
    str,
    Field(max_length=MAX_CHARACTERS, pattern=r"\S"),
    expect(f"a text that is not blank, of at most {MAX_CHARACTERS} characters"),
]
Probability = Annotated[float, *number_from(0, 1, "a probability: a number")]
Weight = Annotated[float, *number_from(0, MAX_WEIGHT, "a weight: a number")]
Row = Annotated[
    tuple[Weight, Weight, Weight, Weight],
    Field(strict=False),
    expect(f"four weights from 0 to {MAX_WEIGHT}, for {', '.join(PRESENCE)} next"),
]
Wait = Annotated[int, Field(ge=1, le=MAX_WAIT), expect(f"a number of steps: an integer from 1 to {MAX_WAIT}")]
Agent = Annotated[int, Field(ge=0, le=MAX_AGENTS - 1), expect(f"an agent: an integer from 0 to {MAX_AGENTS - 1}")]
Milliseconds = Annotated[
    int, Field(ge=0, le=LAST_MILLISECOND), expect(f"milliseconds since 1970: an integer from 0 to {LAST_MILLISECOND}")
]
Presence = Annotated[Literal["available", "busy", "away", "offline"], one_of(PRESENCE)]
Kind = Annotated[
    Literal["chatter", "question", "greeting", "announcement", "mention", "invitation", "reply", "status", "thanks"],
    one_of(KINDS),
]
TextList = NotEmpty[Text]


class Channel(Record):
    """A place to talk in."""

    id: Name
    """What other fields call it; no two channels of the workspace share one."""
    name: str = ""
    """What people call it; without one, its id."""
    call_rate: Probability = 0
    """How likely a call starts here in a step, as long as anybody is there to start it."""


class Team(Record):
    """Channels that belong together."""

    id: Name
    """What it is called in states; no two teams share one."""
    name: str = ""
    """What people call it; without one, its id."""
    channels: NotEmpty[Channel]
    """Its channels, at least one."""


class KindMix(Record):
    """What a teammate posts: weights, which need not sum to 1."""

    chatter: Weight = 0
    """Weight of small talk."""
    question: Weight = 0
    """Weight of questions to everybody."""
    greeting: Weight = 0
    """Weight of greetings."""
    announcement: Weight = 0
    """Weight of announcements."""
    mention: Weight = 0
    """Weight of messages that mention an agent and wait for its answer."""


class PresenceTransition(Record):
    """How presence changes in a step: for each present one, weights of the next: available, busy, away, offline."""

    available: Row = (0.96, 0.02, 0.02, 0)
    """From available to each of the four."""
    busy: Row = (0.06, 0.92, 0.02, 0)
    """From busy to each of the four."""
    away: Row = (0.06, 0.02, 0.92, 0)
    """From away to each of the four."""
    offline: Row = (0.05, 0, 0, 0.95)
    """From offline to each of the four."""


DEFAULT_MIX = KindMix(chatter=0.5, question=0.2, greeting=0.1, announcement=0.155, mention=0.045)


class User(Record):
    """A teammate: a person of the workspace who is not an agent."""

    id: Name
    """What other fields call them; no two teammates share one."""
    name: str = ""
    """What people call them; without one, their id."""
    avatar: Name = "🧑"
    """Their picture, an emoji; changes nothing."""
    status: Presence = "available"
    """How they are at first; nobody posts who is away or offline."""
    post_rate: Probability = 0.2
    """How likely they post in a step; where those of all sum to more than 1, their share."""
    channel_preference: dict[str, Weight] | None = None
    """Where they post: channel id to weight, 0 where left out; null for all alike."""
    kind_mix: KindMix = DEFAULT_MIX
    """What they post: kind to weight, 0 where left out."""
    presence_transition: PresenceTransition = PresenceTransition()
    """How they come and go: present presence to four weights of the next."""


class Message(Record):
    """A message that stands in a channel when the episode begins."""

    channel: Name
    """The id of its channel."""
    user: Name
    """The id of the teammate who wrote it."""
    kind: Kind = "chatter"
    """What sort of message it is; a mention waits for an answer."""
    text: Text
    """What it says."""
    agent: Agent | None = None
    """Whom a mention names: 0, or null, for the first agent."""

    @property
    def named(self) -> int | None:
        """The agent that it mentions."""
        return (self.agent or 0) if self.kind == KINDS[MENTION] else None


class Texts(Record):
    """What is said: at least one text of each kind, all as likely; what an agent says is the first of its kind."""

    chatter: TextList = DEFAULT_TEXTS["chatter"]
    """Small talk; an agent says the first."""
    question: TextList = DEFAULT_TEXTS["question"]
    """Questions to everybody; an agent asks the first."""
    greeting: TextList = DEFAULT_TEXTS["greeting"]
    """Greetings; an agent says the first."""
    announcement: TextList = DEFAULT_TEXTS["announcement"]
    """News for everybody."""
    mention: TextList = DEFAULT_TEXTS["mention"]
    """What an agent is asked when it is mentioned."""
    invitation: TextList = DEFAULT_TEXTS["invitation"]
    """What is said when a call starts."""
    reply: TextList = DEFAULT_TEXTS["reply"]
    """Answers; an agent gives the first."""
    status: TextList = DEFAULT_TEXTS["status"]
    """How the work goes; an agent says the first."""
    thanks: TextList = DEFAULT_TEXTS["thanks"]
    """Thanks; an agent says the first."""


class Workspace(Record):
    """A scenario: one workspace before its first step."""

    model_config = ConfigDict(title="A workspace of TeamsClone")

    environment: Annotated[Literal["teamsclone"], one_of(["teamsclone"])] = "teamsclone"
    """Which environment plays it."""
    id: str = ""
    """What the workspace is called; without one, as its file."""
    story: str = ""
    """What goes on here, for people; changes nothing."""
    teams: NotEmpty[Team]
    """The teams and their channels, which are numbered in this order."""
    users: NotEmpty[User]
    """The teammates; agents are not listed."""
    messages: ListOf[Message] = ()
    """What was said before the first step, oldest first; at most ten in a channel."""
    start_channel: Name | None = None
    """The id of the channel where agents begin; null for the first one."""
    mention_window: Wait = 12
    """The greatest age in steps at which a mention can be answered."""
    call_length: Wait = 8
    """For how many steps a call can be joined."""
    texts: Texts = Texts()
    """What teammates and agents say; usual texts where left out."""
    start_time: Milliseconds = START_TIME
    """When the episode begins, in milliseconds since 1970; a step takes a second."""

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The channels of all teams, in the order of their numbers."""
        return tuple(channel for team in self.teams for channel in team.channels)

    @property
    def channel_ids(self) -> tuple[str, ...]:
        """Their ids."""
        return tuple(channel.id for channel in self.channels)

    @property
    def team_of(self) -> tuple[int, ...]:
        """The number of the team of each channel."""
        return tuple(n for n, team in enumerate(self.teams) for _ in team.channels)

    @property
    def first_channel(self) -> str:
        """The id of the channel where agents begin."""
        return self.start_channel or self.channel_ids[0]

    def preference(self, user: User) -> dict[str, float]:
        """Where a teammate posts: the weight of every channel, in order."""
        if user.channel_preference is None:
            return dict.fromkeys(self.channel_ids, 1.0)
        return {id: user.channel_preference.get(id, 0.0) for id in self.channel_ids}

    def all_texts(self) -> Iterator[str]:
        """Every text: those of each kind, then those of the messages."""
        for kind in KINDS:
            yield from self.texts[kind]
        yield from (message.text for message in self.messages)
