"""The `general` workspace of the rules as a document, with texts of its own."""

from __future__ import annotations

import copy

from reference.teamsclone_rules import PRESENCES, Record

CHANNELS = ("channel-1", "channel-2", "channel-3", "channel-4", "channel-5")
CALL_RATE = 0.0015
KIND_MIX = {"chatter": 0.5, "question": 0.2, "greeting": 0.1, "announcement": 0.155, "mention": 0.045}
TRANSITION = {
    "available": [0.96, 0.02, 0.02, 0],
    "busy": [0.06, 0.92, 0.02, 0],
    "away": [0.06, 0.02, 0.92, 0],
    "offline": [0.05, 0, 0, 0.95],
}

TEXTS = {
    "chatter": [
        "The coffee machine is working again.",
        "What a sunny morning!",
        "I found a nice podcast about bridges.",
        "My plant has grown a new leaf.",
        "Friday feels close today.",
    ],
    "question": [
        "Does anybody know where the slides are?",
        "Shall we move the review to Tuesday?",
        "Which version are we testing?",
    ],
    "greeting": ["Hello everyone!", "Good morning, team!", "Nice to see you all."],
    "announcement": [
        "The build is green again.",
        "The office closes at five tomorrow.",
        "Release notes are in the wiki.",
    ],
    "mention": [
        "@agent could you have a look at this?",
        "@agent do you have a minute?",
        "@agent what do you think?",
    ],
    "invitation": ["I have started a call, come in!", "Quick call about the plan, join us."],
    "reply": ["Sure, I will look at it now.", "Done, please check."],
    "status": ["I am working through the open tickets.", "Halfway through the report."],
    "thanks": ["Thank you, that helps!", "Thanks a lot!"],
}


def _user(number: int, name: str, avatar: str, status: str) -> Record:
    return {
        "id": f"user-{number}",
        "name": name,
        "avatar": avatar,
        "status": status,
        "post_rate": 0.30,
        "channel_preference": dict.fromkeys(CHANNELS, 1),
        "kind_mix": KIND_MIX,
        "presence_transition": {presence: TRANSITION[presence] for presence in PRESENCES},
    }


def _channel(number: int, name: str) -> Record:
    return {"id": f"channel-{number}", "name": name, "call_rate": CALL_RATE}


GENERAL: Record = {
    "environment": "teamsclone",
    "id": "general",
    "teams": [
        {
            "id": "team-1",
            "name": "General Team",
            "channels": [_channel(1, "General"), _channel(2, "Random"), _channel(3, "Announcements")],
        },
        {"id": "team-2", "name": "Project Alpha", "channels": [_channel(4, "Development"), _channel(5, "Design")]},
    ],
    "users": [
        _user(1, "Alice", "👩", "available"),
        _user(2, "Bob", "👨", "busy"),
        _user(3, "Charlie", "🧑", "away"),
    ],
    "messages": [
        {"channel": "channel-1", "user": "user-1", "kind": "greeting", "text": "Welcome to the team!"},
        {"channel": "channel-1", "user": "user-2", "kind": "greeting", "text": "Hello, good to have you here."},
        {"channel": "channel-2", "user": "user-3", "kind": "question", "text": "Who joins me for lunch?"},
    ],
    "start_channel": "channel-1",
    "mention_window": 12,
    "call_length": 8,
    "texts": TEXTS,
    "start_time": 1698765432000,
}


def general() -> Record:
    """A copy of the document, to be changed at will."""
    return copy.deepcopy(GENERAL)


def without_rates(document: Record) -> Record:
    """The document with nobody who posts or calls."""
    quiet = copy.deepcopy(document)
    for user in quiet["users"]:
        user["post_rate"] = 0
    for team in quiet["teams"]:
        for channel in team["channels"]:
            channel["call_rate"] = 0
    return quiet
