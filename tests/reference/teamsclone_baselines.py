"""The baselines of TeamsClone, Random, Masked random and Rule-based, and how they fare on a document.

They follow docs/rules/teamsclone.md, section 7. Rule-based

- joins the first running call in the order of channels;
- is in a channel since the clock at which it was first shown it, and at reset since 0;
- goes to the first of the channels with most unread;
- counts all its idle steps from the reset, and makes every eighth a status message.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable
from typing import NamedTuple, Protocol

from reference.teamsclone import Draws, Episode
from reference.teamsclone_rules import TEAMMATES, TEMPLATES, UNIT, Entry, Record

LONG_ENOUGH = 5  # steps in a channel before the next
WORTH_GOING = 2  # unread messages
IDLE_STEPS = 8  # of which the last is a status message


class Policy(Protocol):
    """Chooses an entry for agent 0 from what it is shown."""

    def __call__(self, episode: Episode) -> int: ...


class Random:
    """An entry of the whole catalogue, all with the same chance."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def __call__(self, episode: Episode) -> int:
        return self.rng.randrange(len(episode.entries))


class MaskedRandom(Random):
    """A legal entry, all with the same chance."""

    def __call__(self, episode: Episode) -> int:
        return self.rng.choice(episode.legal(0))


class RuleBased:
    """Answers what it sees, joins calls, goes where unread messages are, and says now and then how it is."""

    def __init__(self, rng: random.Random) -> None:
        self.place, self.since, self.idle_steps = -1, 0, 0

    def __call__(self, episode: Episode) -> int:
        return episode.entries.index(self._entry(episode))

    def _entry(self, episode: Episode) -> Entry:
        shown = episode.observation(0)
        if shown.channel != self.place:
            self.place, self.since = shown.channel, shown.clock
        if any(message.mentions_me and message.pending for message in shown.window):
            return Entry("text", TEMPLATES.index("reply"))
        for channel, (running, joined) in enumerate(zip(shown.running, shown.joined, strict=True)):
            if running and not joined:
                return Entry("join", channel)
        most = max(shown.unread)
        if shown.clock - self.since >= LONG_ENOUGH and most >= WORTH_GOING:
            return Entry("switch", shown.unread.index(most))
        self.idle_steps += 1
        if self.idle_steps % IDLE_STEPS == 0:
            return Entry("text", TEMPLATES.index("status"))
        return Entry("idle")


class Figures(NamedTuple):
    """What a policy reached: mean and spread over episodes; the response rate is pooled."""

    reward: tuple[float, float]
    messages: tuple[float, float]
    response_rate: float


def random_draws(rng: random.Random) -> Draws:
    """The chance of one step."""
    presence, rest = [rng.randrange(UNIT) for _ in range(TEAMMATES)], [rng.randrange(UNIT) for _ in range(6)]
    return Draws(presence, *rest)


def play(episode: Episode, policy: Policy, rng: random.Random) -> dict[str, float]:
    """Play an episode of one agent to its end; its statistics."""
    while not episode.over:
        episode.step([policy(episode)], random_draws(rng))
    return episode.statistics(0)


def figures(document: Record, baseline: Callable[[random.Random], Policy], episodes: int, seed: int = 0) -> Figures:
    """Play episodes of a document with a fresh policy each."""
    rng = random.Random(seed)
    played = [play(Episode(document), baseline(rng), rng) for _ in range(episodes)]

    def total(name: str) -> float:
        return sum(each[name] for each in played)

    def spread(name: str) -> tuple[float, float]:
        values = [each[name] for each in played]
        return statistics.fmean(values), statistics.pstdev(values)

    decided = total("mentions_answered") + total("mentions_missed")
    rate = total("mentions_answered") / decided if decided else 0.0
    return Figures(spread("total_reward"), spread("messages_sent"), rate)
