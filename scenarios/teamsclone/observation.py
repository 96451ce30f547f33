"""A state of TeamsClone as the specification's state dictionary, for one agent."""

from typing import Any

import jax

from jaxenv.envs.teamsclone import State, Statistics, messages
from jaxenv.envs.teamsclone.types import EMOJI, PRESENCE
from scenarios.teamsclone.agent_view import (
    AGENT,
    AgentSnapshot,
    AgentView,
    agent_ids,
    current_channel,
    snapshot,
    window_ids,
)
from scenarios.teamsclone.document import Workspace

STEP = 1000  # milliseconds
AVATAR = "🤖"  # of the agents
DIGITS = 4  # after the point, of rewards and statistics: rewards are hundredths, held in single precision


def observation(document: Workspace, state: State, view: AgentView) -> dict[str, Any]:
    """The agent's observation of a state; of other channels only the number of unread messages.

    Messages are listed oldest first. A message that mentions an agent has `@agent` in its content.
    """
    seen, id = snapshot(view, state), current_channel(document, state, view)
    teams = _teams(document, state.unread[view.agent])
    channel = next(channel for team in teams for channel in team["channels"] if channel["id"] == id)
    return {
        "agentState": {
            "currentTeamId": channel["teamId"],
            "currentChannelId": id,
            "userId": agent_ids(view)[view.agent],
        },
        "currentChannel": dict(channel),
        "recentMessages": _messages(document, state, seen, view),
        "teams": teams,
        "users": _users(document, state, seen.is_away, view),
        "episodeStats": episode_stats(document, seen.statistics),
        "timestamp": document.start_time + STEP * int(state.clock),
    }


def episode_stats(document: Workspace, statistics: Statistics) -> dict[str, Any]:
    """The statistics of an agent: first those of the specification, then those that the rules add."""
    return {
        "stepCount": int(statistics.steps),
        "totalReward": rounded(statistics.total_reward),
        "messagesSent": int(statistics.messages_sent),
        "channelsSwitched": int(statistics.channels_switched),
        "startTime": document.start_time,
        "channelsVisited": int(statistics.channels_visited),
        "mentionsReceived": int(statistics.mentions_received),
        "mentionsAnswered": int(statistics.mentions_answered),
        "mentionsMissed": int(statistics.mentions_missed),
        "meanResponseTime": rounded(statistics.mean_response_time),
        "responseRate": rounded(statistics.response_rate),
        "validActionShare": rounded(statistics.valid_action_share),
        "coverage": rounded(statistics.coverage),
        "reactionsPerMessage": rounded(statistics.reactions_per_message),
    }


def rounded(number: Any) -> float:
    """A number of the environment, rounded for text."""
    return round(float(number), DIGITS)


def _teams(document: Workspace, unread: jax.Array) -> list[dict[str, Any]]:
    """The teams and their channels."""
    counts = iter(unread.tolist())
    return [
        {
            "id": team.id,
            "name": team.name or team.id,
            "channels": [
                {"id": channel.id, "name": channel.name or channel.id, "teamId": team.id, "unread": next(counts)}
                for channel in team.channels
            ],
        }
        for team in document.teams
    ]


def _users(document: Workspace, state: State, away: jax.Array, view: AgentView) -> list[dict[str, Any]]:
    """The teammates, then the agents."""
    people = [(user.id, user.name or user.id, user.avatar) for user in document.users]
    agents = [(id, id.replace("-", " ").title(), AVATAR) for id in agent_ids(view)]
    status = [PRESENCE[code] for code in state.presence[: len(people)].tolist()]
    status += ["away" if is_away else "available" for is_away in away.tolist()]
    return [
        {"id": id, "name": name, "status": presence, "avatar": avatar}
        for (id, name, avatar), presence in zip(people + agents, status, strict=True)
    ]


def _messages(document: Workspace, state: State, seen: AgentSnapshot, view: AgentView) -> list[dict[str, Any]]:
    """The window of a channel, oldest first."""
    channel, agents = current_channel(document, state, view), agent_ids(view)
    authors = dict(enumerate(user.id for user in document.users))
    authors |= dict(enumerate(agents, start=len(state.presence)))  # whatever room there is for teammates
    columns = (messages.author(seen.words), messages.text(seen.words), messages.named(seen.words), seen.age)
    rows = zip(*(column.tolist() for column in columns), seen.reactions.T.tolist(), strict=True)
    found = [
        {
            "id": id,
            "channelId": channel,
            "userId": authors[author],
            "content": _content(view.texts[int(text)], agents[named] if named >= 0 else None),
            "timestamp": document.start_time + STEP * (int(state.clock) - age),
            "reactions": [EMOJI[code - 1] for code in given if code],
        }
        for id, (author, text, named, age, given) in zip(window_ids(document, state, view), rows, strict=False)
    ]
    return found[::-1]


def _content(text: str, mentioned: str | None) -> str:
    """The content of a message; the agent that it mentions replaces `@agent`, or comes first."""
    if mentioned is None:
        return text
    name = f"@{mentioned}"
    return text.replace(f"@{AGENT}", name) if f"@{AGENT}" in text else f"{name} {text}"
