"""A TeamsClone document as the engine reads it: names become indices, rates odds, weights edges."""

from __future__ import annotations

import math
from collections import Counter
from typing import NamedTuple

from reference.teamsclone_rules import KINDS, POSTED_KINDS, PRESENCES, TEAMMATES, TEAMS, WINDOW, Record, edges, odds


class Teammate(NamedTuple):
    """How a teammate behaves."""

    id: str
    presence: int  # at reset
    post_odds: int
    channels: list[int]  # edges
    kinds: list[int]  # edges
    presences: list[list[int]]  # edges, a row for each current presence


class Initial(NamedTuple):
    """A message that stands in a channel at reset."""

    channel: int
    teammate: int
    kind: str
    text: str
    agent: int | None  # whom it mentions


class Workspace:
    """A document in its complete form, checked against the capacities of the rules."""

    def __init__(self, document: Record, num_agents: int, capacity: int) -> None:
        channels = [(team, record) for team, each in enumerate(document["teams"]) for record in each["channels"]]
        self.team_of = [team for team, _ in channels]
        self.channel_ids: list[str] = [record["id"] for _, record in channels]
        rates = [record["call_rate"] for _, record in channels]
        self.call_odds = [odds(rate) for rate in rates]
        self.teammates = [self._teammate(user) for user in document["users"]]
        self.initial = [self._initial(message, document) for message in document["messages"]]
        self.start = self.channel_ids.index(document["start_channel"])
        self.mention_window: int = document["mention_window"]
        self.call_length: int = document["call_length"]
        self.texts: dict[str, list[str]] = {kind: list(document["texts"][kind]) for kind in KINDS}

        most = max(Counter(message.channel for message in self.initial).values(), default=0)
        refusals = {
            "too many teams": len(document["teams"]) > TEAMS,
            "too many channels": len(channels) > capacity,
            "too many users": len(self.teammates) > TEAMMATES,
            "more initial messages in a channel than its window holds": most > WINDOW,
            "call rates sum to more than 1": math.fsum(rates) > 1 + 1e-9,
            "a kind has no text": not all(self.texts.values()),
            "a message mentions an agent that is not there": any(
                message.agent is not None and not 0 <= message.agent < num_agents for message in self.initial
            ),
        }
        for reason, refused in refusals.items():
            if refused:
                raise ValueError(f"document refused: {reason}")

    def _teammate(self, user: Record) -> Teammate:
        rows = user["presence_transition"]
        return Teammate(
            id=user["id"],
            presence=PRESENCES.index(user["status"]),
            post_odds=odds(user["post_rate"]),
            channels=edges(user["channel_preference"].get(channel, 0) for channel in self.channel_ids),
            kinds=edges(user["kind_mix"].get(kind, 0) for kind in POSTED_KINDS),
            presences=[edges(rows[presence]) for presence in PRESENCES],
        )

    def _initial(self, message: Record, document: Record) -> Initial:
        users = [user["id"] for user in document["users"]]
        return Initial(
            channel=self.channel_ids.index(message["channel"]),
            teammate=users.index(message["user"]),
            kind=message["kind"],
            text=message["text"],
            agent=message.get("agent", 0) if message["kind"] == "mention" else None,
        )
