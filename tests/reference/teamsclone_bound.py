"""The most that an agent can earn in TeamsClone where nobody posts and no call starts, by cases.

All rates are 0 and no initial message is a mention, so the teammates' messages are the initial ones for ever. Then
for one agent, whatever it and the other agents do:

- mention_response, timely_response and join_call pay nothing: no mention ever pends and no call ever runs.
- Each message raises its channel's run, which nothing lowers: at most two of the agent's are no spam in a channel.
- engagement wants a teammate's message since the agent's own last one: once in a channel with an initial message.
- react pays once for each initial message.
- switch pays once in each full or begun stretch of 20 steps for a channel, and not in the first for the start channel.
- Spam never helps: it costs 0.5 and as an act it adds to five steps' pay for presence at most 0.25; without it, no
  other message loses anything. So an agent at its best has two messages a channel and its reactions for acts, and
  the steps with two acts among the five before are counted by a search over when it does them, in which a fourth
  message within ten steps is left out, being spam. Penalties and idle steps earn nothing.

The parts are bounded one by one, as if each had the steps for itself. Only the one for switches grows with time.
A shared reward is a mean of what agents earn, so the bound holds for it as well.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from reference.teamsclone import Episode
from reference.teamsclone_rules import (
    ACT_STEPS,
    ACTS_NEEDED,
    EMOJI,
    ENTRY_STEPS,
    PARTS,
    RUN_LIMIT,
    SEND_LIMIT,
    SEND_STEPS,
    WEIGHTS,
    WINDOW,
    Entry,
    Record,
)


def counts(document: Record, time_limit: int) -> dict[str, int]:
    """How often each part can pay an agent at most; the penalties are left at 0."""
    episode = Episode(document, time_limit=time_limit)
    workspace = episode.workspace
    rates = [*workspace.call_odds, *(teammate.post_odds for teammate in workspace.teammates)]
    if any(rates) or episode.pending():
        raise ValueError("the argument is for a workspace without rates and without mentions")
    channels, reactions = len(episode.channels), len(workspace.initial)
    stretches = (time_limit - 1) // ENTRY_STEPS
    most = dict.fromkeys(PARTS, 0)
    most["send"] = RUN_LIMIT * channels
    most["react"] = reactions
    most["channel_engagement"] = sum(channel.posts > 0 for channel in episode.channels)
    most["switch"] = (channels - 1) * (stretches + 1) + stretches
    most["presence"] = presence_steps(most["send"], reactions)
    return most


def upper_bound(document: Record, time_limit: int = 100) -> Fraction:
    """What no policy of an agent exceeds."""
    return sum(
        (Fraction(str(WEIGHTS[part])) * most for part, most in counts(document, time_limit).items()), Fraction(0)
    )


@cache
def presence_steps(messages: int, reactions: int, sends: int = 0, acts: int = 0) -> int:
    """How many steps can be paid for presence, without an end in time.

    `sends` and `acts` are the last nine and the last five steps, a bit each, the newest lowest.
    """
    paid = int(acts.bit_count() >= ACTS_NEEDED)
    later_sends = sends << 1 & (1 << SEND_STEPS) - 1
    later_acts = acts << 1 & (1 << ACT_STEPS) - 1
    best = presence_steps(messages, reactions, later_sends, later_acts) if sends or acts else 0
    if messages and sends.bit_count() < SEND_LIMIT:
        best = max(best, presence_steps(messages - 1, reactions, later_sends | 1, later_acts | 1))
    if reactions:
        best = max(best, presence_steps(messages, reactions - 1, later_sends, later_acts | 1))
    return paid + best


# A course of `general` that reaches the bound in 100 steps: by clock, the channel of a message or of a switch.
MESSAGES = {10: 1, 11: 0, 15: 2, 20: 2, 21: 3, 25: 3, 30: 4, 31: 4, 35: 0, 40: 1}
REACTIONS = (16, 26, 36)
SWITCHES = dict(
    [(0, 2), (1, 3), (2, 4), (3, 1), (22, 2), (23, 3), (24, 0), (37, 4), (38, 1)]
    + [
        (clock + turn, channel)
        for turn in (42, 62, 82)
        for clock, channel in ((0, 2), (1, 3), (2, 0), (15, 4), (16, 1))
    ]
)


def best_course(episode: Episode) -> int:
    """The entry of the course that reaches the bound of `general`, for agent 0."""
    return episode.entries.index(_entry(episode))


def _entry(episode: Episode) -> Entry:
    clock = episode.clock
    if clock in MESSAGES:
        channel = MESSAGES[clock]
        return Entry("text", 0) if channel == episode.agents[0].channel else Entry("answer", channel)
    if clock in REACTIONS:
        slots = [Entry("react", slot, emoji) for slot in range(WINDOW) for emoji in range(len(EMOJI))]
        return next(entry for entry in slots if episode.allowed(0, entry))
    if clock in SWITCHES:
        return Entry("switch", SWITCHES[clock])
    return Entry("idle")
