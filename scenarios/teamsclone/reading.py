"""A client's action as an entry of the catalogue, or why it is not a legal one."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from jaxenv.envs.teamsclone import actions as engine
from jaxenv.host.names import did_you_mean
from scenarios.codec import ActionError, Codec
from scenarios.document_format import Moment
from scenarios.teamsclone.fields import MAX_CHARACTERS
from scenarios.teamsclone.observation import current_channel, message_id, window_ids
from scenarios.teamsclone.view import JOIN, REACT, SEND, SWITCH, Action, normalize_action
from scenarios.text.errors import MAX_TOLD, quote
from scenarios.text.input_budget import RefusedInput, plain_action
from scenarios.text.records import problems_of

TOO_LONG = f"the content of a message has at most {MAX_CHARACTERS} characters."
EMPTY = "the content of a message is empty."
ILLEGAL = {
    SWITCH: "the agent is there already.",
    REACT: "the agent reacts once to a message, and to those of teammates.",
    JOIN: "no call runs there, or the agent is in it.",
}


class Reading(NamedTuple):
    """The catalogue entry of an action, or the error."""

    index: int | None  # the entry to be stepped, None for no step
    error: str | None = None  # the reason why it is not legal
    message: tuple[str, str] | None = None  # the id and the content of the message that it sends


def read(action: Mapping[str, Any] | Action, codec: Codec, state: Any) -> Reading:
    """Reads an action at a live state; whatever is not an action becomes the invalid entry that fits it."""
    moment = codec.moment(state)
    try:
        given = Action.model_validate(action if isinstance(action, Action) else plain_action(action))
    except RefusedInput as refused:
        return Reading(_first(engine.MALFORMED, moment), f"not an action: {refused}")
    except ValidationError as error:
        if any(found["type"] == "string_too_long" for found in error.errors(include_url=False)):
            return Reading(None, TOO_LONG)
        problems = " ".join(problem.text for problem in problems_of(error, Action)[:MAX_TOLD])
        return Reading(_first(engine.MALFORMED, moment), problems)
    if refusal := _refusal(given, moment):
        verb, error = refusal
        return Reading(_first(verb, moment), error)
    try:
        index = codec.encode(state, given)
    except ActionError as refused:
        wanted = normalize_action(given, moment)
        return Reading(refused.index, f"{quote(wanted)} is not legal now: {ILLEGAL[given.type]}")
    return Reading(index, message=_message(given, moment) if given.type == SEND else None)


def _refusal(action: Action, moment: Moment) -> tuple[int, str] | None:
    """The verb of the invalid entry, and why, where the action names something that does not exist."""
    payload, ids = action.payload, moment.document.channel_ids
    if payload.content is not None and not payload.content.strip():
        return engine.EMPTY_MESSAGE, EMPTY
    if payload.channelId is not None and payload.channelId not in ids:
        hint = did_you_mean(payload.channelId, ids)
        return engine.UNKNOWN_CHANNEL, f"no channel {quote(payload.channelId)}.{hint} Available: {', '.join(ids)}."
    window = window_ids(moment)
    if payload.messageId is not None and payload.messageId not in window:
        here = ", ".join(window) or "none"
        return engine.MALFORMED, f"no message {quote(payload.messageId)} among those seen, which are {here}."
    return None


def _message(action: Action, moment: Moment) -> tuple[str, str]:
    """The id that a message will have, and its content."""
    channel = action.payload.channelId or current_channel(moment)
    serial = int(moment.state.messages.count[moment.document.channel_ids.index(channel)]) + 1
    return message_id(channel, serial), action.payload.content or ""


def _first(verb: int, moment: Moment) -> int:
    """The index of a verb that has one entry."""
    return moment.env.catalogue.first(verb)
