"""What is shown of a workspace: records of what one agent sees of a state, by name."""

import dataclasses

from jaxenv.envs.teamsclone import Statistics

PENDING, ANSWERED, MISSED, OVER = "pending", "answered", "missed", "over"
"""How a mention stands; over where a state alone does not tell whether it was answered or missed."""


@dataclasses.dataclass(frozen=True)
class Message:
    """A message of the agent's channel."""

    author: str
    by: int  # the number of the author
    is_agent: bool
    is_own: bool
    kind: str
    content: str
    step: int  # the number, from 1, of the step that posted it, 0 for one that was there at first
    age: int
    mention: str  # `@agent`, or empty
    is_for_me: bool
    fate: str  # PENDING, ANSWERED, MISSED or OVER; empty where it mentions nobody
    reactions: tuple[tuple[str, int], ...]  # (emoji, how many agents gave it)


@dataclasses.dataclass(frozen=True)
class Channel:
    """A place to talk in."""

    number: int
    name: str
    team: str
    unread: int
    is_current: bool
    has_call: bool
    in_call: tuple[str, ...]  # agents


@dataclasses.dataclass(frozen=True)
class Person:
    """A teammate or an agent."""

    name: str
    number: int  # as an author
    presence: str
    is_agent: bool
    is_me: bool


@dataclasses.dataclass(frozen=True)
class Chat:
    """Everything that is shown of a state."""

    workspace: str
    me: str
    num_agents: int
    clock: int
    time_limit: int
    channels: tuple[Channel, ...]
    messages: tuple[Message, ...]  # the window of the current channel, oldest first
    earlier: int  # messages of the channel before those
    people: tuple[Person, ...]  # teammates, then agents
    statistics: Statistics  # of the agent
    outcome: str  # how the episode has ended, empty while it goes on

    @property
    def current(self) -> Channel:
        """The channel that the agent is in."""
        return next(channel for channel in self.channels if channel.is_current)
