"""The TeamsClone document: a workspace of teams, channels and teammates, and their messages."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from jaxenv.envs.teamsclone.texts import DEFAULT_TEXTS
from jaxenv.envs.teamsclone.types import KINDS, MENTION
from scenarios.teamsclone.fields import (
    NOT_EMPTY,
    Agent,
    Kind,
    Milliseconds,
    Presence,
    Probability,
    Row,
    Text,
    Wait,
    Weight,
    several,
)
from scenarios.text.records import Name, Record, one_of

START_TIME = 1_698_765_432_000  # that of the specification

TextList = Annotated[tuple[Text, ...], *several("text")]


class Channel(Record):
    """A place to talk in."""

    id: Name = Field(description="What other fields call it; no two channels of the workspace share one.")
    name: str = Field(default="", description="What people call it; without one, its id.")
    call_rate: Probability = Field(
        default=0, description="How likely a call starts here in a step, as long as anybody is there to start it."
    )


class Team(Record):
    """Channels that belong together."""

    id: Name = Field(description="What it is called in states; no two teams share one.")
    name: str = Field(default="", description="What people call it; without one, its id.")
    channels: Annotated[tuple[Channel, ...], *several("channel")] = Field(
        description="Its channels, at least one.", json_schema_extra=NOT_EMPTY
    )


class KindMix(Record):
    """What a teammate posts: weights, which need not sum to 1."""

    chatter: Weight = Field(default=0, description="Weight of small talk.")
    question: Weight = Field(default=0, description="Weight of questions to everybody.")
    greeting: Weight = Field(default=0, description="Weight of greetings.")
    announcement: Weight = Field(default=0, description="Weight of announcements.")
    mention: Weight = Field(default=0, description="Weight of messages that mention an agent and wait for its answer.")


class PresenceTransition(Record):
    """How presence changes in a step: for each present one, weights of the next: available, busy, away, offline."""

    available: Row = Field(default=(0.96, 0.02, 0.02, 0), description="From available to each of the four.")
    busy: Row = Field(default=(0.06, 0.92, 0.02, 0), description="From busy to each of the four.")
    away: Row = Field(default=(0.06, 0.02, 0.92, 0), description="From away to each of the four.")
    offline: Row = Field(default=(0.05, 0, 0, 0.95), description="From offline to each of the four.")


DEFAULT_MIX = KindMix(chatter=0.5, question=0.2, greeting=0.1, announcement=0.155, mention=0.045)


class User(Record):
    """A teammate: a person of the workspace who is not an agent."""

    id: Name = Field(description="What other fields call them; no two teammates share one.")
    name: str = Field(default="", description="What people call them; without one, their id.")
    avatar: Name = Field(default="🧑", description="Their picture, an emoji; changes nothing.")
    status: Presence = Field(
        default="available", description="How they are at first; nobody posts who is away or offline."
    )
    post_rate: Probability = Field(
        default=0.2, description="How likely they post in a step; where those of all sum to more than 1, their share."
    )
    channel_preference: dict[str, Weight] | None = Field(
        default=None, description="Where they post: channel id to weight, 0 where left out; null for all alike."
    )
    kind_mix: KindMix = Field(default=DEFAULT_MIX, description="What they post: kind to weight, 0 where left out.")
    presence_transition: PresenceTransition = Field(
        default=PresenceTransition(), description="How they come and go: present presence to four weights of the next."
    )


class Message(Record):
    """A message that stands in a channel when the episode begins."""

    channel: Name = Field(description="The id of its channel.")
    user: Name = Field(description="The id of the teammate who wrote it.")
    kind: Kind = Field(default="chatter", description="What sort of message it is; a mention waits for an answer.")
    text: Text = Field(description="What it says.")
    agent: Agent | None = Field(default=None, description="Whom a mention names: 0, or null, for the first agent.")

    @property
    def named(self) -> int | None:
        """The agent that it mentions."""
        return (self.agent or 0) if self.kind == KINDS[MENTION] else None


def _texts(kind: str, description: str) -> Any:
    """The field of the texts of a kind."""
    return Field(default=DEFAULT_TEXTS[kind], description=description, json_schema_extra=NOT_EMPTY)


class Texts(Record):
    """What is said: at least one text of each kind, all as likely; what an agent says is the first of its kind."""

    chatter: TextList = _texts("chatter", "Small talk; an agent says the first.")
    question: TextList = _texts("question", "Questions to everybody; an agent asks the first.")
    greeting: TextList = _texts("greeting", "Greetings; an agent says the first.")
    announcement: TextList = _texts("announcement", "News for everybody.")
    mention: TextList = _texts("mention", "What an agent is asked when it is mentioned.")
    invitation: TextList = _texts("invitation", "What is said when a call starts.")
    reply: TextList = _texts("reply", "Answers; an agent gives the first.")
    status: TextList = _texts("status", "How the work goes; an agent says the first.")
    thanks: TextList = _texts("thanks", "Thanks; an agent says the first.")


class Workspace(Record):
    """A scenario: one workspace before its first step."""

    model_config = ConfigDict(title="A workspace of TeamsClone")

    environment: Annotated[Literal["teamsclone"], one_of(["teamsclone"])] = Field(
        default="teamsclone", description="Which environment plays it."
    )
    id: str = Field(default="", description="What the workspace is called; without one, as its file.")
    story: str = Field(default="", description="What goes on here, for people; changes nothing.")
    teams: Annotated[tuple[Team, ...], *several("team")] = Field(
        description="The teams and their channels, which are numbered in this order.", json_schema_extra=NOT_EMPTY
    )
    users: Annotated[tuple[User, ...], *several("teammate")] = Field(
        description="The teammates; agents are not listed.", json_schema_extra=NOT_EMPTY
    )
    messages: Annotated[tuple[Message, ...], Field(strict=False)] = Field(
        default=(), description="What was said before the first step, oldest first; at most ten in a channel."
    )
    start_channel: Name | None = Field(
        default=None, description="The id of the channel where agents begin; null for the first one."
    )
    mention_window: Wait = Field(
        default=12, description="The greatest age in steps at which a mention can be answered."
    )
    call_length: Wait = Field(default=8, description="For how many steps a call can be joined.")
    texts: Texts = Field(default=Texts(), description="What teammates and agents say; usual texts where left out.")
    start_time: Milliseconds = Field(
        default=START_TIME, description="When the episode begins, in milliseconds since 1970; a step takes a second."
    )

    @property
    def scenario_id(self) -> str:
        """The id of the workspace."""
        return self.id

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

    def complete(self) -> dict[str, Any]:
        """The plain form in which nothing is left out: every field, weight, channel and text."""
        complete_form = self.model_dump(mode="json")
        channels = [channel for team in complete_form["teams"] for channel in team["channels"]]
        for item in (*complete_form["teams"], *channels, *complete_form["users"]):
            item["name"] = item["name"] or item["id"]
        for user, plain in zip(self.users, complete_form["users"], strict=True):
            plain["channel_preference"] = self.preference(user)
        for message, plain in zip(self.messages, complete_form["messages"], strict=True):
            plain["agent"] = message.named
        complete_form["start_channel"] = self.first_channel
        return complete_form
