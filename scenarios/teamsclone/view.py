"""A state of TeamsClone in the words of its document: names, the specification's actions, and its state dictionary."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from jaxenv.envs.teamsclone import actions as engine
from jaxenv.envs.teamsclone import messages
from jaxenv.envs.teamsclone.types import CHATTER, EMOJI, KINDS, REPLY, TEMPLATES, WINDOW
from jaxenv.envs.teamsclone.view import shown
from jaxenv.envs.teamsclone.view.snapshot import Chat, Message, report
from scenarios.document_format import Moment
from scenarios.teamsclone.compiler import codes_of
from scenarios.teamsclone.document import MAX_CHARACTERS, Workspace
from scenarios.text.records import Record, name_among

STEP = 1000  # milliseconds
AVATAR = "🤖"  # of the agents
DIGITS = 4  # after the point, of rewards and statistics: rewards are hundredths, held in single precision
UNKNOWN_CHANNEL, MALFORMED = "(unknown channel)", "(malformed)"
SEND, SWITCH, REACT, JOIN, IDLE = "send_message", "switch_channel", "react_to_message", "join_call", "idle"

FIELDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    SEND: (("content",), ("channelId",)),
    SWITCH: (("channelId",), ()),
    REACT: (("messageId", "reaction"), ()),
    JOIN: ((), ("channelId",)),
    IDLE: ((), ()),
}
"""Type -> the fields that its payload must have, and those that it may have."""


class Payload(Record, revalidate_instances="always"):
    """What an action is about; null is the same as leaving a field out."""

    content: Annotated[str, Field(max_length=MAX_CHARACTERS)] | None = None  # of a message; blank is an empty message
    channelId: str | None = None  # for a message and a call the current channel where it is left out
    messageId: str | None = None  # one of the window
    reaction: Annotated[str, *name_among(EMOJI)] | None = None


class Action(Record, revalidate_instances="always"):
    """What to do next: `{"type": "send_message", "payload": {"content": "Hello!"}}`."""

    type: Annotated[str, *name_among(FIELDS)]
    payload: Payload = Payload()

    @model_validator(mode="after")
    def _has_its_fields(self) -> "Action":
        """Refuses a payload that does not fit the type."""
        needed, allowed = FIELDS[self.type]
        given = {name for name in Payload.model_fields if self.payload[name] is not None}
        missing = [name for name in needed if name not in given]
        odd = sorted(given - {*needed, *allowed})
        if missing or odd:
            fields = ", ".join([*needed, *(f"{name} (optional)" for name in allowed)]) or "nothing"
            details = {"type": self.type, "fields": fields}
            raise PydanticCustomError("payload", "expected for {type} a payload of {fields}.", details)
        return self


def names(workspace: Workspace, documents: Sequence[Workspace] = ()) -> dict[str, Any]:
    """The fields of `jaxenv.envs.teamsclone.view.Names` that a document gives: names, otherwise ids.

    >>> import scenarios
    >>> workspace = scenarios.load("teamsclone/general").documents[0]
    >>> names(workspace)["channels"][:2]
    ('General', 'Random')

    Args:
        workspace: the document.
        documents: all those of its bank, which number their texts together; none for the document alone.
    """
    codes = codes_of(documents or [workspace])
    return {
        "workspace": workspace.id,
        "teams": tuple(team.name or team.id for team in workspace.teams),
        "channels": tuple(channel.name or channel.id for channel in workspace.channels),
        "team_of": workspace.team_of,
        "users": tuple(user.name or user.id for user in workspace.users),
        "texts": {codes[text]: text for text in workspace.all_texts()},
    }


def actions(moment: Moment) -> list[dict[str, Any]]:
    """Each entry of the catalogue as an action; parts that the workspace lacks get placeholders."""
    templates = [template(moment.document, kind) for kind in range(len(KINDS))]
    parts = templates, moment.document.channel_ids, window_ids(moment)
    return [_action(entry, *parts) for entry in moment.env.catalogue.table.tolist()]


def _action(entry: list[int], templates: list[str], channels: Sequence[str], window: list[str]) -> dict[str, Any]:
    """An entry of the catalogue; `window` has the ids of the messages that can be reacted to."""
    verb, channel, kind, slot, emoji = entry
    there = channels[channel] if channel < len(channels) else f"(no channel {channel + 1})"
    message = window[slot] if slot < len(window) else f"(no message {slot + 1})"
    forms = {
        engine.TEXT: (SEND, {"content": templates[kind]}),
        engine.ANSWER: (SEND, {"content": templates[kind], "channelId": there}),
        engine.SWITCH: (SWITCH, {"channelId": there}),
        engine.REACT: (REACT, {"messageId": message, "reaction": EMOJI[emoji]}),
        engine.JOIN: (JOIN, {"channelId": there}),
        engine.EMPTY_MESSAGE: (SEND, {"content": ""}),
        engine.UNKNOWN_CHANNEL: (SWITCH, {"channelId": UNKNOWN_CHANNEL}),
        engine.MALFORMED: (MALFORMED, {}),
    }
    type, payload = forms.get(verb, (IDLE, {}))
    return {"type": type, "payload": payload}


def normalize_action(action: Action, moment: Moment) -> dict[str, Any]:
    """The action in the catalogue's form: any message is one of the templates there, or empty."""
    payload = action.payload.model_dump(exclude_none=True)
    if action.type == SEND:
        payload = _payload(payload["content"], payload.get("channelId"), moment)
    elif action.type == JOIN:
        payload = {"channelId": current_channel(moment)} | payload
    return {"type": action.type, "payload": payload}


def template(document: Workspace, kind: int) -> str:
    """The text that an agent sends in a message of a kind."""
    return document.texts[KINDS[kind]][0]


def _payload(content: str, channel: str | None, moment: Moment) -> dict[str, str]:
    """The payload of the entry that a message becomes: without a template, a reply if a mention waits, or chatter."""
    document, state = moment.document, moment.state
    if not content.strip():
        return {"content": ""}
    if channel not in (None, current_channel(moment)):
        return {"content": template(document, REPLY), "channelId": channel}
    if content in [template(document, kind) for kind in TEMPLATES]:
        return {"content": content}
    words = messages.by_channel(state.messages.words)[state.channel[moment.agent]]
    waits = np.any(messages.is_pending(words) & messages.is_seen(words, moment.agent))
    return {"content": template(document, REPLY if waits else CHATTER)}


def observation(moment: Moment) -> dict[str, Any]:
    """The agent's observation; of other channels only the number of unread messages.

    Messages are listed oldest first. A message that mentions an agent has `@agent` in its content.
    """
    document, agent, id = moment.document, moment.agent, current_channel(moment)
    _, (chat,) = shown(moment.env, [moment.state], moment.params, moment.names, agent)
    teams, users = _teams(document, moment.state.unread[agent].tolist()), _users(document, chat)
    channel = next(channel for team in teams for channel in team["channels"] if channel["id"] == id)
    authors = {person.number: user["id"] for person, user in zip(chat.people, users, strict=True)}
    window = zip(chat.messages, reversed(window_ids(moment)), strict=True)
    return {
        "agentState": {
            "currentTeamId": channel["teamId"],
            "currentChannelId": id,
            "userId": chat.names.agents[agent],
        },
        "currentChannel": dict(channel),
        "recentMessages": [_message(each, name, authors[each.author_number], moment) for each, name in window],
        "teams": teams,
        "users": users,
        "episodeStats": episode_stats(moment),
        "timestamp": document.start_time + STEP * int(moment.state.clock),
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
    teams, counts = [], iter(unread)
    for team in document.teams:
        channels = [
            {"id": channel.id, "name": channel.name or channel.id, "teamId": team.id, "unread": next(counts)}
            for channel in team.channels
        ]
        teams.append({"id": team.id, "name": team.name or team.id, "channels": channels})
    return teams


def _users(document: Workspace, chat: Chat) -> list[dict[str, Any]]:
    """The teammates, then the agents."""
    users = [*((user.id, user.avatar) for user in document.users), *((id, AVATAR) for id in chat.names.agents)]
    return [
        {"id": id, "name": person.name, "status": person.presence, "avatar": avatar}
        for (id, avatar), person in zip(users, chat.people, strict=True)
    ]


def _message(message: Message, id: str, author: str, moment: Moment) -> dict[str, Any]:
    """A message of the window, with its id and that of who wrote it."""
    return {
        "id": id,
        "channelId": current_channel(moment),
        "userId": author,
        "content": message.content,
        "timestamp": moment.document.start_time + STEP * (message.step - 1),
        "reactions": list(message.reactions),
    }
