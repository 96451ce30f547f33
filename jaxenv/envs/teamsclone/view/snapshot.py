"""A workspace in plain Python, read for drawing: one agent's view of a state, by name.

It reads the messages of the agent's channel and, of other channels, only the unread counts and the members of calls.
Rates, schedules and the places of other agents appear in no picture or text of a state.
"""

import dataclasses
import functools
from collections.abc import Mapping
from typing import NamedTuple

import jax
import numpy as np

from jaxenv.envs.teamsclone import Params, Scenario, State, Statistics, TeamsClone, actions
from jaxenv.envs.teamsclone.dynamics import is_away
from jaxenv.envs.teamsclone.texts import default_table
from jaxenv.envs.teamsclone.types import EMOJI, KINDS, PRESENCE
from jaxenv.envs.teamsclone.view.history import ANSWERED, PENDING, History, Post, posts_of
from jaxenv.rendering.view import Given, numbered, remembered, to_host, with_defaults

AGENT = "agent"  # the id of the only agent, which `@agent` mentions; several are `agent-0` and so on


@dataclasses.dataclass(frozen=True)
class Names:
    """Names by the indices of the arrays.

    Attributes:
        teams: by number.
        channels: by number.
        team_of: the number of the team of each channel.
        users: teammates, by number.
        texts: by code; the default table is completed by those of the document.
        agents: ids, by number; filled in by rendering.
        room: how many teammates the arrays have room for; agents are numbered after them. Filled in by rendering.
        workspace: the id, or empty.
    """

    teams: tuple[str, ...]
    channels: tuple[str, ...]
    team_of: tuple[int, ...]
    users: tuple[str, ...]
    texts: Mapping[int, str]
    agents: tuple[str, ...]
    room: int
    workspace: str = ""

    def author(self, number: int) -> str:
        """Who writes: a teammate, or an agent as people call it."""
        return self.users[number] if number < self.room else self.agent(number - self.room)

    def agent(self, number: int) -> str:
        """An agent as people call it: `Agent`, `Agent 2`."""
        return self.agents[number].replace("-", " ").capitalize()

    def content(self, code: int, named: int) -> str:
        """The text of a message; the mentioned agent (-1 for nobody) replaces `@agent` in it, or comes first."""
        text = self.texts.get(code, f"text {code}")
        return text if named < 0 else mentioning(text, self.mention(named))

    def mention(self, agent: int) -> str:
        """How a message mentions an agent, even one that does not exist."""
        return f"@{self.agents[agent]}" if agent < len(self.agents) else f"@{AGENT}-{agent}"


def mentioning(text: str, mention: str) -> str:
    """A text that mentions somebody, instead of `@agent` if the text has it, or at its beginning."""
    return text.replace(f"@{AGENT}", mention) if f"@{AGENT}" in text else f"{mention} {text}"


@remembered
def names_of(workspace: Scenario, given: Given, num_agents: int) -> Names:
    """The names of a scenario (arrays on the host), by number if they are not given.

    Raises:
        ValueError: if other teams, channels or teammates are given than the scenario has.
    """
    team_of = tuple(workspace.team[: int(workspace.num_channels)].tolist())
    return with_defaults(
        Names,
        given,
        teams=numbered("Team", max(team_of) + 1),
        channels=numbered("Channel", len(team_of)),
        team_of=team_of,
        users=numbered("User", int(workspace.num_users)),
        texts=dict(enumerate(default_table())),
        agents=(AGENT,) if num_agents == 1 else tuple(f"{AGENT}-{n}" for n in range(num_agents)),
        room=len(workspace.presence),
    )


OVER = "over"  # a mention that has ended, if a single state does not show whether it was answered or missed


class Message(NamedTuple):
    """A message of the agent's channel."""

    author: str
    author_number: int
    is_agent: bool
    kind: str
    content: str
    step: int  # the number, from 1, of the step that posted it, 0 for an initial message
    age: int
    mention: str  # `@agent`, or empty
    is_for_me: bool
    outcome: str  # of its mention: PENDING, ANSWERED, MISSED or OVER; empty if it mentions nobody
    reactions: tuple[str, ...]  # emoji, by the agents that gave them


class Channel(NamedTuple):
    """A channel in the list."""

    number: int
    name: str
    team: str
    unread: int
    is_current: bool
    has_call: bool
    in_call: tuple[str, ...]  # agents


class Person(NamedTuple):
    """A teammate or an agent."""

    name: str
    number: int  # as an author
    presence: str
    is_agent: bool
    is_viewer: bool


class Chat(NamedTuple):
    """Everything that is shown of a state."""

    names: Names
    agent: int  # whose view it is
    clock: int  # steps taken
    time_limit: int
    channels: tuple[Channel, ...]
    messages: tuple[Message, ...]  # the window of the current channel, oldest first
    earlier: int  # messages of the channel before those
    people: tuple[Person, ...]  # teammates, then agents
    statistics: Statistics  # of the agent
    outcome: str  # how the episode has ended, empty until then

    @property
    def viewer(self) -> str:
        """The agent, as people call it."""
        return self.names.agent(self.agent)

    @property
    def current(self) -> Channel:
        """The channel that the agent is in."""
        return next(channel for channel in self.channels if channel.is_current)


class Report(NamedTuple):
    """The engine's report on a state, on the host; the axes of agents are always there."""

    statistics: Statistics  # [N]
    is_away: np.ndarray  # [N] bool
    time_limit: int
    outcome: str  # how the episode has ended, empty until then

    def of_agent(self, agent: int) -> Statistics:
        """The statistics of one agent."""
        return jax.tree.map(lambda leaf: leaf[agent], self.statistics)


@remembered
def report(env: TeamsClone, state: State, params: Params) -> Report:
    """The engine's report on a state."""
    statistics, away, time_limit, is_terminated, is_truncated = to_host(_query(env, state, params))
    outcome = "out of time" if is_truncated else ""
    if is_terminated and env.goal == "mentions":
        missed = int(np.sum(state.counts.missed))
        outcome = f"every mention is addressed, {missed} missed" if missed else "every mention is answered"
    elif is_terminated:
        outcome = "enough mentions are answered and calls joined"
    return Report(jax.tree.map(np.atleast_1d, statistics), away, int(time_limit), outcome)


@functools.partial(jax.jit, static_argnums=0)
def _query(env: TeamsClone, state: State, params: Params) -> tuple:
    ends = env.is_terminated(state, params), env.is_truncated(state, params)
    return env.statistics(state, params), is_away(state), params.max_steps_in_episode, *ends


def read(state: State, scenario: Scenario, report: Report, history: History, names: Names, agent: int) -> Chat:
    """One agent's observation of a state; the records are on the host."""
    posts = posts_of(state)[int(state.channel[agent])]
    return Chat(
        names=names,
        agent=agent,
        clock=int(state.clock),
        time_limit=report.time_limit,
        channels=_channels(state, names, agent),
        messages=tuple(_message(post, state, scenario, history, names, agent) for post in posts),
        earlier=posts[0].serial if posts else 0,
        people=_people(state, report, names, agent),
        statistics=report.of_agent(agent),
        outcome=report.outcome,
    )


@remembered
def _channels(state: State, names: Names, agent: int) -> tuple[Channel, ...]:
    """The channels as a chat lists them, with the agents in their calls."""
    running = actions.is_running(state)
    return tuple(
        Channel(
            number=number,
            name=name,
            team=names.teams[names.team_of[number]],
            unread=int(state.unread[agent, number]),
            is_current=bool(state.channel[agent] == number),
            has_call=bool(running[number]),
            in_call=tuple(names.agent(other) for other in np.flatnonzero(state.in_call[:, number]).tolist()),
        )
        for number, name in enumerate(names.channels)
    )


def _message(post: Post, state: State, scenario: Scenario, history: History, names: Names, agent: int) -> Message:
    """A message of the agent's channel."""
    age, outcome = int(state.clock) - post.step, ""
    reactions = (post.reactions >> 4 * agent & 15 for agent in range(len(names.agents)))
    if post.named >= 0:
        ended = history.outcome(post.place, int(state.clock))
        likely = ANSWERED if age <= scenario.mention_window else OVER
        outcome = PENDING if post.is_pending else ended.how if ended else likely
    return Message(
        author=names.author(post.author),
        author_number=post.author,
        is_agent=post.author >= names.room,
        kind=KINDS[post.kind],
        content=names.content(post.text, post.named),
        step=post.step + 1,
        age=age,
        mention=names.mention(post.named) if post.named >= 0 else "",
        is_for_me=post.named == agent,
        outcome=outcome,
        reactions=tuple(EMOJI[code - 1] for code in reactions if code),
    )


@remembered
def _people(state: State, report: Report, names: Names, agent: int) -> tuple[Person, ...]:
    """The teammates, then the agents."""
    presence = state.presence.tolist()
    teammates = (Person(name, n, PRESENCE[presence[n]], False, False) for n, name in enumerate(names.users))
    agents = range(len(names.agents))
    status = ["away" if away else "available" for away in report.is_away.tolist()]
    return *teammates, *(Person(names.agent(n), names.room + n, status[n], True, n == agent) for n in agents)
