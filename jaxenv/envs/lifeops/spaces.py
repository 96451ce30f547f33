"""What values the observations and states of LifeOps take."""

import numpy as np

from jaxenv.core import spaces
from jaxenv.envs.lifeops.types import (
    ABSENT,
    DAY_END,
    KINDS,
    MOST_MINUTES,
    MOST_TRAVEL,
    MOST_WEIGHT,
    NO_LIMIT,
    UNSET,
    VISIBLE_REQUESTS,
    WEEKDAYS,
    Event,
    Limits,
    Observation,
    Persona,
    State,
    Tasks,
)


def observation_space(limits: Limits, num_actions: int) -> spaces.Record:
    """The space of `Observation`."""
    visible = VISIBLE_REQUESTS
    return spaces.Record.of(
        Observation,
        {
            "calendar": _event_space(limits, limits.events, DAY_END),
            "is_event": spaces.Box(0, 1, (limits.events,), bool),
            "requests": _event_space(limits, visible, DAY_END),
            "flexible": spaces.Box(0, 1, (visible,), bool),
            "is_request": spaces.Box(0, 1, (visible,), bool),
            "requests_left": spaces.Box(0, limits.requests, (), np.int8),
            "tasks": spaces.Record.of(
                Tasks,
                {
                    "minutes": spaces.Box(0, MOST_MINUTES, (limits.tasks,), np.int32),
                    "priority": spaces.Box(0, 3, (limits.tasks,), np.int8),
                    "due_days": spaces.Box(-NO_LIMIT, NO_LIMIT, (limits.tasks,), np.int16),
                },
            ),
            "persona": spaces.Record.of(
                Persona,
                {
                    "home": spaces.Box(0, limits.places - 1, (), np.int8),
                    "work_place": spaces.Box(0, limits.places - 1, (), np.int8),
                    "window_start": spaces.Box(0, DAY_END, (), np.int16),
                    "window_end": spaces.Box(0, DAY_END, (), np.int16),
                    "avoid_before": spaces.Box(UNSET, DAY_END, (), np.int16),
                    "avoid_after": spaces.Box(0, NO_LIMIT, (), np.int16),
                    "preference_weight": spaces.Box(0, MOST_WEIGHT, ()),
                    "travel_weight": spaces.Box(0, MOST_WEIGHT, ()),
                    "focus_weight": spaces.Box(0, MOST_WEIGHT, ()),
                },
            ),
            "travel": spaces.Box(0, MOST_TRAVEL, (limits.places, limits.places), np.int16),
            "overlaps": _pairs_space(limits),
            "tight_legs": spaces.Box(0, limits.events, (), np.int16),
            "clock": spaces.Box(0, limits.events, (), np.int16),
            "max_steps": spaces.Box(1, limits.events, (), np.int16),
            "weekday": spaces.Box(UNSET, len(WEEKDAYS) - 1, (), np.int8),
            "action_mask": spaces.Box(0, 1, (num_actions,), bool),
        },
    )


def state_space(limits: Limits) -> spaces.Record:
    """The space of `State`."""
    return spaces.Record.of(
        State,
        {
            "scenario": spaces.Box(0, np.iinfo(np.int32).max - 1, (), np.int32),
            "clock": spaces.Box(0, limits.events, (), np.int16),
            "handled": spaces.Box(0, limits.requests, (), np.int8),
            "calendar": _event_space(limits, limits.events, ABSENT),
            "source": spaces.Box(0, np.iinfo(np.int16).max - 1, (limits.events,), np.int16),
            "overlaps": _pairs_space(limits),
            "tight_legs": spaces.Box(0, limits.events, (), np.int16),
            "minutes_left": spaces.Box(0, MOST_MINUTES, (limits.tasks,), np.int32),
        },
    )


def _pairs_space(limits: Limits) -> spaces.Box:
    """Counts of pairs of events."""
    return spaces.Box(0, limits.events * (limits.events - 1) // 2, (), np.int16)


def _event_space(limits: Limits, size: int, latest_start: int) -> spaces.Record:
    """Tables of `size` events."""
    return spaces.Record.of(
        Event,
        {
            "start": spaces.Box(0, latest_start, (size,), np.int16),
            "end": spaces.Box(0, DAY_END, (size,), np.int16),
            "place": spaces.Box(0, limits.places - 1, (size,), np.int8),
            "kind": spaces.Box(0, len(KINDS) - 1, (size,), np.int8),
            "importance": spaces.Box(0, 3, (size,), np.int8),
        },
    )
