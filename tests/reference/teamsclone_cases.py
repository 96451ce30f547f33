"""A small TeamsClone workspace for the tests of the reference engine, and draws that bring about what a test wants.

Three channels in two teams; Ann posts in half of all steps, Ben in a quarter, both always available unless a test
says otherwise; every channel and every kind is as likely, and each channel has a call in a quarter of all steps.
"""

from __future__ import annotations

import copy
from typing import Any

from reference.teamsclone import Draws, Episode, Step
from reference.teamsclone_rules import KINDS, POSTED_KINDS, PRESENCES, TEMPLATES, UNIT, Entry, Record

ANN, BEN = 0, 1
IDLE = Entry("idle")
REPLY = Entry("text", TEMPLATES.index("reply"))
CHAT = Entry("text", TEMPLATES.index("chatter"))
NEVER = UNIT - 1  # a draw that brings about no call and no post here
STAYS = {presence: [float(presence == other) for other in PRESENCES] for presence in PRESENCES}
CHANNEL_IDS = ("a", "b", "c")

SMALL: Record = {
    "environment": "teamsclone",
    "id": "small",
    "teams": [
        {
            "id": "one",
            "name": "One",
            "channels": [{"id": each, "name": each, "call_rate": 0.25} for each in CHANNEL_IDS[:2]],
        },
        {"id": "two", "name": "Two", "channels": [{"id": "c", "name": "c", "call_rate": 0.25}]},
    ],
    "users": [
        {
            "id": name,
            "name": name.title(),
            "avatar": "🙂",
            "status": "available",
            "post_rate": rate,
            "channel_preference": dict.fromkeys(CHANNEL_IDS, 1),
            "kind_mix": dict.fromkeys(POSTED_KINDS, 1),
            "presence_transition": STAYS,
        }
        for name, rate in (("ann", 0.5), ("ben", 0.25))
    ],
    "messages": [],
    "start_channel": "a",
    "mention_window": 5,
    "call_length": 3,
    "texts": {kind: [f"{kind} {number}" for number in range(2)] for kind in KINDS},
    "start_time": 0,
}


def small(**changes: Any) -> Record:
    """A copy of the small document with some of its entries changed."""
    return {**copy.deepcopy(SMALL), **changes}


def initial(channel: str = "a", user: str = "ann", kind: str = "chatter", **more: Any) -> Record:
    """An initial message."""
    return {"channel": channel, "user": user, "kind": kind, "text": "from before", **more}


def game(document: Record | None = None, **arguments: Any) -> Episode:
    """An episode of the small document, or of another."""
    return Episode(small() if document is None else document, **arguments)


def draws(presence: int = 0, call: int = NEVER, author: int = NEVER, **more: int) -> Draws:
    """Draws with no call and no post, unless they are given."""
    rest = {"channel": 0, "kind": 0, "text": 0, "mention": 0, **more}
    return Draws([presence] * 7, call, author, **rest)


def says(channel: int = 0, kind: str = "chatter", author: int = ANN, text: int = 0, mention: int = 0) -> Draws:
    """Draws by which a teammate posts (`text` of two, `mention` a draw)."""
    return draws(
        author=(0, UNIT // 2)[author],
        channel=-(-channel * UNIT // 3),
        kind=-(-POSTED_KINDS.index(kind) * UNIT // 5),
        text=text * UNIT // 2,
        mention=mention,
    )


def calls(channel: int = 0, author: int = ANN) -> Draws:
    """Draws by which a call starts."""
    return draws(call=channel * UNIT // 4, author=author * UNIT // 2)


def play(episode: Episode, *entries: Entry, world: Draws | None = None) -> Step:
    """One step with an entry for each agent, idle where none is given."""
    every = [*entries, *[IDLE] * (len(episode.agents) - len(entries))]
    return episode.step([episode.entries.index(entry) for entry in every], world or draws())


def wait(episode: Episode, steps: int, world: Draws | None = None) -> None:
    """Idle steps of all agents."""
    for _ in range(steps):
        play(episode, world=world)


def nonzero(step: Step, agent: int = 0) -> dict[str, float]:
    """The parts of an agent's reward that are not zero."""
    return {part: amount for part, amount in step.parts[agent].items() if amount != 0}


def legal(episode: Episode, entry: Entry, agent: int = 0) -> bool:
    """Whether an entry is legal for an agent."""
    return episode.entries.index(entry) in episode.legal(agent)


def texts(episode: Episode, channel: int = 0) -> list[str]:
    """The texts that a channel keeps, oldest first."""
    return [message.text for message in episode.channels[channel].messages]
