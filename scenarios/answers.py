"""Parses an agent's answer as an action: a number, a mapping, or text that ends in one of them."""

import json
import numbers
import operator
import re
from collections.abc import Mapping
from typing import Any

from scenarios.text.errors import ScenarioError, class_of
from scenarios.text.input_budget import RefusedInput, plain_action
from scenarios.text.records import Record

MAX_CHARACTERS = 20_000  # of an answer, reasoning included
EXPECTED = "a number of the list, or an action as a JSON object"
NUMBER = re.compile(r"[^-0-9]{0,20}([0-9]{1,6})\W*")  # `3`, `3.`, `Action: **3**`


def read(answer: Any) -> int | Mapping[str, Any]:
    """The number or the mapping that an answer is or holds.

    Of text it is the last JSON object; without one, the number in its last line, which holds little else.

    >>> from scenarios import answers
    >>> answers.read('It collides with e1, so: {"action_type": "reject_event", "request_id": "r1"}')
    {'action_type': 'reject_event', 'request_id': 'r1'}
    >>> answers.read("The meeting comes first." + chr(10) + "Action: 3")
    3

    Raises:
        ScenarioError: where it is neither.
    """
    answer = _builtin(answer)
    if not isinstance(answer, str):
        return answer
    if len(answer) > MAX_CHARACTERS:
        raise ScenarioError(f"the answer has {len(answer)} characters, expected at most {MAX_CHARACTERS}.")
    action = _last_object(answer)
    if action is not None:
        return _plain(action)
    number = NUMBER.fullmatch((answer.strip().splitlines() or [""])[-1])
    if number is None:
        raise ScenarioError(f"found no action in the answer, expected {EXPECTED}.")
    return int(number[1])


def _builtin(answer: Any) -> Any:
    """A text, number, mapping or record, stripped of its own class."""
    try:
        if isinstance(answer, Record):
            return answer  # which reads like a mapping
        if isinstance(answer, Mapping):
            return _plain(answer)
        if isinstance(answer, str):
            return str.__str__(answer)
        if isinstance(answer, int) and not isinstance(answer, bool):
            return int.__int__(answer)
        if isinstance(answer, numbers.Integral) and not isinstance(answer, bool):
            return operator.index(answer)  # pyright: ignore[reportArgumentType]  # of NumPy, say
    except ScenarioError:
        raise
    except Exception as error:  # of a user's class
        raise ScenarioError(f"the answer cannot be read: {class_of(error)}.") from None
    raise ScenarioError(f"found {class_of(answer)} for an action, expected {EXPECTED}.")


def _plain(action: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same as JSON would hold it."""
    try:
        return plain_action(action)
    except RefusedInput as refused:
        raise ScenarioError(f"not an action: {refused}") from None


def _last_object(text: str) -> dict[str, Any] | None:
    """The last JSON object of a text that lies in no other, or None."""
    decoder, found, start = json.JSONDecoder(), None, text.find("{")
    while start >= 0:
        try:
            found, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        start = text.find("{", end)
    return found
