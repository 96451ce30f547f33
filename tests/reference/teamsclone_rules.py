"""The tables of docs/rules/teamsclone.md, sections 1, 2 and 3, the catalogue, and how a draw of sixteen bits picks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

Record = dict[str, Any]

KINDS = ("chatter", "question", "greeting", "announcement", "mention", "invitation", "reply", "status", "thanks")
POSTED_KINDS = KINDS[:5]  # what teammates post of themselves
PRESENCES = ("available", "busy", "away", "offline")
PRESENT = (0, 1)  # who posts and starts calls: available and busy
EMOJI = ("👍", "❤️", "😂", "😮", "😢", "🎉", "🙏", "👀")
TEMPLATES = ("greeting", "reply", "question", "status", "thanks", "chatter")  # the kinds of the six text entries

TEAMS, TEAMMATES, WINDOW = 4, 7, 10
UNREAD_TOP = 255

RUN_LIMIT = 2  # agents' messages in a row after which the next is spam
SEND_LIMIT, SEND_STEPS = 3, 9  # an agent's messages in the steps before, after which the next is spam
TIMELY_AGE = 2
QUIET_STEPS = 10
ACTS_NEEDED, ACT_STEPS = 2, 5
ENTRY_STEPS = 20

WEIGHTS = {
    "send": 0.1,
    "mention_response": 0.5,
    "switch": 0.05,
    "react": 0.05,
    "join_call": 0.3,
    "empty_message": -0.2,
    "invalid_channel": -0.3,
    "invalid_action": -0.1,
    "spam": -0.5,
    "timely_response": 0.2,
    "channel_engagement": 0.1,
    "presence": 0.05,
    "quota": 0.0,
}
PARTS = tuple(WEIGHTS)
PENALTIES = ("empty_message", "invalid_channel", "invalid_action", "spam")
VARIANTS = ("classic", "mentions", "multi_task", "multi_agent", "multi_agent_v1")
TASKS = (("mention_response", "timely_response"), ("join_call",), ("switch", "react", "channel_engagement"))


def amounts(variant: str, weights: dict[str, float] | None, task_weights: Sequence[float]) -> dict[str, Fraction]:
    """What each part pays in a variant, exactly as its decimals say."""
    table: dict[str, float] = dict(WEIGHTS)
    if variant == "mentions":
        table = {part: WEIGHTS[part] if part in PENALTIES else 0.0 for part in PARTS} | {"mention_response": 1.0}
    if variant == "multi_agent_v1":
        table["quota"] = 0.2
    table.update(weights or {})
    if set(table) != set(PARTS):
        raise ValueError(f"no parts of the reward: {sorted(set(table) - set(PARTS))}")
    exact = {part: Fraction(str(table[part])) for part in PARTS}
    if variant != "multi_task":
        return exact
    factor = {part: Fraction(part in PENALTIES) for part in PARTS}
    for task, weight in zip(TASKS, task_weights, strict=True):
        factor.update(dict.fromkeys(task, Fraction(str(weight))))
    return {part: exact[part] * factor[part] for part in PARTS}


# ---------------------------------------------------------------------------------------------- draws

UNIT = 65536  # draws are integers 0 <= draw < UNIT


class Draws(NamedTuple):
    """The chance of one step: integers below 65536, `presence` one for each teammate."""

    presence: Sequence[int]
    call: int
    author: int
    channel: int
    kind: int
    text: int
    mention: int


def odds(probability: float) -> int:
    """A probability in units of 1/65536."""
    return math.floor(probability * UNIT + 0.5)


def edges(weights: Iterable[float]) -> list[int]:
    """The cumulative edges of a distribution given by weights."""
    sums: list[float] = []
    for weight in weights:
        sums.append((sums[-1] if sums else 0.0) + weight)
    if not sums or sums[-1] <= 0:
        raise ValueError("a distribution needs a weight above 0")
    return [math.floor(each / sums[-1] * UNIT + 0.5) for each in sums]


def pick(cumulative: Sequence[int], draw: int) -> int:
    """The first place whose edge lies above the draw."""
    return next(place for place, edge in enumerate(cumulative) if draw < edge)


def uniform(count: int, draw: int) -> int:
    """A place among `count`, all with the same chance."""
    return draw * count // UNIT


# ------------------------------------------------------------------------------------------ catalogue


class Entry(NamedTuple):
    """An entry of the catalogue: the target is a template, channel or slot of the window."""

    verb: str  # text, answer, switch, react, join, idle, or the part that an invalid one costs
    target: int = -1
    emoji: int = -1


def catalogue(channels: int) -> list[Entry]:
    """All entries in order, for a capacity of channels."""
    return [
        *(Entry("text", template) for template in range(len(TEMPLATES))),
        *(Entry("answer", channel) for channel in range(channels)),
        *(Entry("switch", channel) for channel in range(channels)),
        *(Entry("react", slot, emoji) for slot in range(WINDOW) for emoji in range(len(EMOJI))),
        *(Entry("join", channel) for channel in range(channels)),
        Entry("idle"),
        Entry("empty_message"),
        Entry("invalid_channel"),
        Entry("invalid_action"),
    ]
