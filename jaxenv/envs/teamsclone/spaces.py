"""What values the observations and states of TeamsClone take."""

import dataclasses
from typing import Any

import numpy as np

from jaxenv.core import spaces
from jaxenv.envs.teamsclone.begin import MOST_MENTIONS
from jaxenv.envs.teamsclone.dynamics import MEMORY_OF_ACTS, MEMORY_OF_SENDS, MOST_RUN, MOST_UNREAD
from jaxenv.envs.teamsclone.messages import SEEN
from jaxenv.envs.teamsclone.types import (
    EMOJI,
    KINDS,
    MOST_STEPS,
    MOST_TEXTS,
    NEVER,
    NO_REACTION,
    PRESENCE,
    WINDOW,
    Counts,
    Limits,
    Messages,
    Observation,
    ObservedMessages,
    Schedule,
    State,
)

_MOST = 2**31 - 2


def observation_space(limits: Limits, num_actions: int, num_agents: int) -> spaces.Record:
    """The space of `Observation`, with a leading axis N in every field for several agents."""
    axis = (num_agents,) if num_agents > 1 else ()
    C, U, W = limits.channels, limits.users, WINDOW
    messages = {
        "present": _flags(W),
        "author": spaces.Box(-1, U + num_agents - 1, (W,), np.int8),
        "kind": spaces.Box(-1, len(KINDS) - 1, (W,), np.int8),
        "mentions_me": _flags(W),
        "pending": _flags(W),
        "age": spaces.Box(0, MOST_STEPS + 1, (W,), np.int16),
        "reaction": spaces.Box(NO_REACTION, len(EMOJI) - 1, (W,), np.int8),
        "text": spaces.Box(0, MOST_TEXTS - 1, (W,), np.int16),
    }
    fields = {
        "team": spaces.Box(0, limits.teams - 1, (), np.int8),
        "channel": spaces.Box(0, C - 1, (), np.int8),
        "exists": _flags(C),
        "unread": spaces.Box(0, MOST_UNREAD, (C,), np.uint8),
        "running": _flags(C),
        "joined": _flags(C),
        "present": _flags(U),
        "away": _flags(),
        "clock": spaces.Box(0, MOST_STEPS, (), np.int16),
        "time_limit": spaces.Box(0, MOST_STEPS, (), np.int16),
        "sends": spaces.Box(0, MEMORY_OF_SENDS.bit_length(), (), np.int8),
        "run": spaces.Box(0, MOST_RUN, (C,), np.int8),
        "action_mask": _flags(num_actions),
    }

    def of_agents(boxes: dict[str, spaces.Box]) -> dict[str, spaces.Space]:
        return {name: dataclasses.replace(box, shape=axis + box.shape) for name, box in boxes.items()}

    record = spaces.Record.of(ObservedMessages, of_agents(messages))
    return spaces.Record.of(Observation, {"messages": record, **of_agents(fields)})


def state_space(limits: Limits, num_agents: int, has_schedule: bool = False) -> spaces.Record:
    """The space of `State`."""
    C, U, N = limits.channels, limits.users, num_agents
    S = MOST_MENTIONS if has_schedule else 0
    clock = (NEVER, MOST_STEPS)
    rings = {
        "words": _bits(SEEN + N, WINDOW, C),
        "posted": spaces.Box(-1, MOST_STEPS, (WINDOW, C), np.int16),
        "reactions": _bits(4 * N, WINDOW, C),
        "count": spaces.Box(0, _MOST, (C,), np.int32),
    }
    schedule = {
        "step": spaces.Box(*clock, (S,), np.int16),
        "channel": spaces.Box(0, C - 1, (S,), np.int8),
        "author": spaces.Box(0, U - 1, (S,), np.int8),
    }
    small = ("sent", "switched", "joined", "reacted", "valid", "received", "answered", "missed")
    most = float(np.finfo(np.float32).max)
    counts = {
        **{name: spaces.Box(0, np.iinfo(np.int16).max, (N,), np.int16) for name in small},
        "total_reward": spaces.Box(-most, most, (N,)),
        "waited": spaces.Box(0, _MOST, (N,), np.int32),
    }
    return spaces.Record.of(
        State,
        {
            "scenario": spaces.Box(0, _MOST, (), np.int32),
            "clock": spaces.Box(0, MOST_STEPS, (), np.int16),
            "presence": spaces.Box(0, len(PRESENCE) - 1, (U,), np.int8),
            "messages": spaces.Record.of(Messages, rings),
            "last_post": spaces.Box(0, MOST_STEPS, (C,), np.int16),
            "run": spaces.Box(0, MOST_RUN, (C,), np.int8),
            "call_end": spaces.Box(NEVER, np.iinfo(np.int16).max, (C,), np.int16),
            "by_teammates": spaces.Box(0, np.iinfo(np.int16).max, (), np.int16),
            "channel": spaces.Box(0, C - 1, (N,), np.int8),
            "unread": spaces.Box(0, MOST_UNREAD, (N, C), np.uint8),
            "news": _flags(N, C),
            "paid": spaces.Box(*clock, (N, C), np.int16),
            "visited": _flags(N, C),
            "in_call": _flags(N, C),
            "sends": spaces.Box(0, MEMORY_OF_SENDS, (N,), np.int16),
            "acts": spaces.Box(0, MEMORY_OF_ACTS, (N,), np.int8),
            "waiting": spaces.Box(0, C * WINDOW, (N,), np.int16),
            "counts": spaces.Record.of(Counts, counts),
            "schedule": spaces.Record.of(Schedule, schedule),
        },
    )


def _bits(number: int, *shape: int) -> spaces.Box:
    """Unsigned numbers of so many bits; the bound has the dtype, because a Python int of 32 bits does not fit."""
    most: Any = np.uint32(2**number - 1)
    return spaces.Box(0, most, shape, np.uint32)


def _flags(*shape: int) -> spaces.Box:
    return spaces.Box(0, 1, shape, bool)
