"""The actions of an agent: one of the specification's four, or none."""

from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from jaxenv.envs.teamsclone.types import EMOJI
from scenarios.teamsclone.fields import MAX_CHARACTERS
from scenarios.text.records import Record, any_of

SEND, SWITCH, REACT, JOIN, IDLE = "send_message", "switch_channel", "react_to_message", "join_call", "idle"

FIELDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    SEND: (("content",), ("channelId",)),
    SWITCH: (("channelId",), ()),
    REACT: (("messageId", "reaction"), ()),
    JOIN: ((), ("channelId",)),
    IDLE: ((), ()),
}
"""Type -> the fields that its payload must have, and those that it may have."""


class Payload(Record):
    """What an action is about; null is the same as leaving a field out."""

    content: Annotated[str, Field(max_length=MAX_CHARACTERS)] | None = None  # of a message; blank is an empty message
    channelId: str | None = None  # for a message and a call the current channel where it is left out
    messageId: str | None = None  # one of the window
    reaction: Annotated[str, *any_of(EMOJI)] | None = None


class Action(Record):
    """What to do next: `{"type": "send_message", "payload": {"content": "Hello!"}}`."""

    type: Annotated[str, *any_of(FIELDS)]
    payload: Payload = Payload()

    @model_validator(mode="after")
    def _has_its_fields(self) -> "Action":
        """Refuses a payload that does not fit the type."""
        needed, allowed = FIELDS[self.type]
        given = {name for name in Payload.model_fields if self.payload[name] is not None}
        missing = [name for name in needed if name not in given]
        odd = sorted(given - {*needed, *allowed})
        if missing or odd:
            details = {"type": self.type, "fields": _listing(needed, allowed)}
            raise PydanticCustomError("payload", "expected for {type} a payload of {fields}.", details)
        return self


def _listing(needed: tuple[str, ...], allowed: tuple[str, ...]) -> str:
    """The fields of a payload in words."""
    return ", ".join([*needed, *(f"{name} (optional)" for name in allowed)]) or "nothing"
