"""A state of TeamsClone as the specification's state dictionary, for one agent."""

from typing import Any

import numpy as np

from jaxenv.envs.teamsclone.types import EMOJI, PRESENCE, WINDOW
from jaxenv.envs.teamsclone.view.history import Post, posts_in
from jaxenv.envs.teamsclone.view.snapshot import agent_ids, mentioning, report
from scenarios.document_format import Moment
from scenarios.teamsclone.document import Workspace

STEP = 1000  # milliseconds
AVATAR = "🤖"  # of the agents
DIGITS = 4  # after the point, of rewards and statistics: rewards are hundredths, held in single precision


def observation(moment: Moment) -> dict[str, Any]:
    """The agent's observation; of other channels only the number of unread messages.

    Messages are listed oldest first. A message that mentions an agent has `@agent` in its content.
    """
    document, state, agent = moment.document, moment.state, moment.agent
    id, teams = current_channel(moment), _teams(document, state.unread[agent].tolist())
    channel = next(channel for team in teams for channel in team["channels"] if channel["id"] == id)
    return {
        "agentState": {
            "currentTeamId": channel["teamId"],
            "currentChannelId": id,
            "userId": agent_ids(moment.env.num_agents)[agent],
        },
        "currentChannel": dict(channel),
        "recentMessages": [_message(post, moment) for post in posts_in(state, int(state.channel[agent]))],
        "teams": teams,
        "users": _users(moment),
        "episodeStats": episode_stats(moment),
        "timestamp": document.start_time + STEP * int(state.clock),
    }


def episode_stats(moment: Moment) -> dict[str, Any]:
    """The statistics of the agent: first those of the specification, then those that the rules add."""
    statistics = report(moment.env, moment.state, moment.params).of_agent(moment.agent)
    return {
        "stepCount": int(statistics.steps),
        "totalReward": rounded(statistics.total_reward),
        "messagesSent": int(statistics.messages_sent),
        "channelsSwitched": int(statistics.channels_switched),
        "startTime": moment.document.start_time,
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


def current_channel(moment: Moment) -> str:
    """The id of the channel that the agent is in."""
    return moment.document.channel_ids[int(moment.state.channel[moment.agent])]


def message_id(channel: str, serial: int) -> str:
    """The id of a message; serial numbers of a channel begin at 1."""
    return f"msg-{channel}-{serial}"


def window_ids(moment: Moment) -> list[str]:
    """The ids of the messages that the agent sees, newest first."""
    newest = int(moment.state.messages.count[moment.state.channel[moment.agent]])
    channel = current_channel(moment)
    return [message_id(channel, serial) for serial in range(newest, max(newest - WINDOW, 0), -1)]


def _teams(document: Workspace, unread: list[int]) -> list[dict[str, Any]]:
    """The teams and their channels."""
    counts = iter(unread)
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


def _users(moment: Moment) -> list[dict[str, Any]]:
    """The teammates, then the agents."""
    people = [(user.id, user.name or user.id, user.avatar) for user in moment.document.users]
    agents = [(id, id.replace("-", " ").title(), AVATAR) for id in agent_ids(moment.env.num_agents)]
    status = [PRESENCE[code] for code in moment.state.presence[: len(people)].tolist()]
    is_away = report(moment.env, moment.state, moment.params).is_away
    status += np.where(is_away, "away", "available").tolist()
    return [
        {"id": id, "name": name, "status": presence, "avatar": avatar}
        for (id, name, avatar), presence in zip(people + agents, status, strict=True)
    ]


def _message(post: Post, moment: Moment) -> dict[str, Any]:
    """A message of the window."""
    document, agents, room = moment.document, agent_ids(moment.env.num_agents), len(moment.state.presence)
    channel, text = document.channel_ids[post.channel], moment.names["texts"][post.text]
    given = (post.reactions >> 4 * agent & 15 for agent in range(len(agents)))
    return {
        "id": message_id(channel, post.serial + 1),
        "channelId": channel,
        "userId": document.users[post.author].id if post.author < room else agents[post.author - room],
        "content": text if post.named < 0 else mentioning(text, f"@{agents[post.named]}"),
        "timestamp": document.start_time + STEP * post.step,
        "reactions": [EMOJI[code - 1] for code in given if code],
    }
