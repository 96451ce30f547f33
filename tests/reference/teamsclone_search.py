"""The best return of an agent that knows all draws of an episode of TeamsClone, by trying every course of actions.

Of entries that do the same one is tried: the texts differ in words, and emoji in looks. Entries that are not legal are
left out, as they do what idling does, and cost. States that share what decides the future are followed once.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from reference.teamsclone import Draws, Episode
from reference.teamsclone_rules import ACT_STEPS, ENTRY_STEPS, RUN_LIMIT, SEND_STEPS, Record


def best_return(document: Record, world: Sequence[Draws], weights: Mapping[str, float] | None = None) -> Fraction:
    """The most that one agent earns in an episode with these draws, with some of the weights changed."""
    layer = {(): Episode(document, time_limit=len(world), weights=dict(weights or {}))}
    for draws in world:
        later: dict[Any, Episode] = {}
        for episode in layer.values():
            for entry in _different(episode):
                after = _copy(episode)
                after.step([entry], draws)
                future = _future(after)
                if future not in later or later[future].returns[0] < after.returns[0]:
                    later[future] = after
        layer = later
    return max(episode.returns[0] for episode in layer.values())


def _different(episode: Episode) -> Iterator[int]:
    """Legal entries that differ in what they do."""
    for index, entry in enumerate(episode.entries):
        is_another = entry.emoji > 0 or (entry.verb == "text" and entry.target > 0)
        if not is_another and episode.allowed(0, entry):
            yield index


def _copy(episode: Episode) -> Episode:
    """Another episode in the same state."""
    after = copy.copy(episode)
    after.channels = [
        replace(
            channel,
            messages=[replace(each, seen=[*each.seen], reactions=[*each.reactions]) for each in channel.messages],
        )
        for channel in episode.channels
    ]
    after.agents = [
        replace(
            agent,
            unread=[*agent.unread],
            paid=[*agent.paid],
            joined=[*agent.joined],
            addressed=[*agent.addressed],
            visited={*agent.visited},
            acts=agent.acts[-ACT_STEPS:],
            sends=agent.sends[-SEND_STEPS:],
            answer_ages=[*agent.answer_ages],
        )
        for agent in episode.agents
    ]
    return after


def _future(episode: Episode) -> tuple[Any, ...]:
    """What decides what can be earned from now on; what the world does is the same for all."""
    agent, clock = episode.agents[0], episode.clock
    channels = [
        (
            [
                (each.serial, each.pending, each.pending and each.seen[0], each.reactions[0] is None)
                for each in channel.messages
                if each.by_teammate
            ],
            channel.posts,
            min(channel.run, RUN_LIMIT),
            episode.quiet(place),
        )
        for place, channel in enumerate(episode.channels)
    ]
    paid = [each if each is not None and clock - each < ENTRY_STEPS else None for each in agent.paid]
    acts = [each for each in agent.acts if clock - each <= ACT_STEPS]
    sends = [each for each in agent.sends if clock - each <= SEND_STEPS]
    return (agent.channel, repr((channels, paid, agent.joined, agent.addressed, acts, sends)))
