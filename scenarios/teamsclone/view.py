"""The catalogue of TeamsClone as the actions of the specification."""

from typing import Any, NamedTuple

import jax
import numpy as np

from jaxenv.envs.teamsclone import Params, State, TeamsClone, actions, messages
from jaxenv.envs.teamsclone.types import CHATTER, EMOJI, KINDS, REPLY, TEMPLATES
from scenarios.teamsclone.action import IDLE, JOIN, REACT, SEND, SWITCH, Action
from scenarios.teamsclone.agent_view import AgentView, current_channel, snapshot, window_ids
from scenarios.teamsclone.document import Workspace

UNKNOWN_CHANNEL, MALFORMED = "(unknown channel)", "(malformed)"


class Moves(NamedTuple):
    """The meaning of the entries of the catalogue, each [A]."""

    verb: np.ndarray
    channel: np.ndarray
    kind: np.ndarray
    slot: np.ndarray
    emoji: np.ndarray


def legal_and_moves(
    env: TeamsClone, state: State, params: Params, view: AgentView
) -> tuple[jax.Array, jax.Array, Moves]:
    """(legal [A] bool; feasible [A] bool, here the same; meaning of each entry)."""
    legal = snapshot(view, state).mask
    return legal, legal, Moves(*env.catalogue.table.T)


def has_ended(document: Workspace, state: State, view: AgentView) -> bool:
    """Whether the goal of the variant has been decided, or the time limit is reached."""
    return bool(snapshot(view, state).is_over)


def action_dicts(document: Workspace, state: State, moves: Moves, view: AgentView) -> list[dict[str, Any]]:
    """Each entry of the catalogue as an action; parts that the workspace lacks get placeholders."""
    ids, window = document.channel_ids, window_ids(document, state, view)
    found = []
    for verb, channel, kind, slot, emoji in zip(*(column.tolist() for column in moves), strict=True):
        there = {"channelId": ids[channel] if channel < len(ids) else f"(no channel {channel + 1})"}
        message = {"messageId": window[slot] if slot < len(window) else f"(no message {slot + 1})"}
        content = {"content": template(document, kind)}
        type, payload = {
            actions.TEXT: (SEND, content),
            actions.ANSWER: (SEND, content | there),
            actions.SWITCH: (SWITCH, there),
            actions.REACT: (REACT, message | {"reaction": EMOJI[emoji]}),
            actions.JOIN: (JOIN, there),
            actions.IDLE: (IDLE, {}),
            actions.EMPTY_MESSAGE: (SEND, {"content": ""}),
            actions.UNKNOWN_CHANNEL: (SWITCH, {"channelId": UNKNOWN_CHANNEL}),
            actions.MALFORMED: (MALFORMED, {}),
        }[verb]
        found.append({"type": type, "payload": payload})
    return found


def normalize_action(action: Action, document: Workspace, state: State, view: AgentView) -> dict[str, Any]:
    """The action in the catalogue's form: any message is one of the templates there, or empty."""
    payload = action.payload.model_dump(exclude_none=True)
    if action.type == SEND:
        payload = _message(payload["content"], payload.get("channelId"), document, state, view)
    elif action.type == JOIN:
        payload = {"channelId": current_channel(document, state, view)} | payload
    return {"type": action.type, "payload": payload}


def template(document: Workspace, kind: int) -> str:
    """The text that an agent sends in a message of a kind."""
    return document.texts[KINDS[kind]][0]


def _message(content: str, channel: str | None, document: Workspace, state: State, view: AgentView) -> dict[str, str]:
    """The payload of the entry that a message becomes: without a template, a reply if a mention waits, or chatter."""
    if not content.strip():
        return {"content": ""}
    if channel not in (None, current_channel(document, state, view)):
        return {"content": template(document, REPLY), "channelId": channel}
    if content in [template(document, kind) for kind in TEMPLATES]:
        return {"content": content}
    words = state.messages.words[:, state.channel[view.agent]]
    waits = np.any(messages.is_pending(words) & messages.is_seen(words, view.agent))
    return {"content": template(document, REPLY if waits else CHATTER)}
