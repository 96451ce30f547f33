"""What values the observations and states of LifeStack take."""

import numpy as np

from jaxenv.core import spaces
from jaxenv.envs.lifestack.actions import NUM_VERBS
from jaxenv.envs.lifestack.metrics import HIGHEST
from jaxenv.envs.lifestack.types import (
    MOST_AMOUNT,
    MOST_ENERGY,
    MOST_REWARD,
    NEVER,
    NOT_KNOWN,
    NUM_METRICS,
    OUTCOMES,
    UNKNOWN,
    Limits,
    Observation,
    ObservedBounds,
    ObservedKeys,
    ObservedMilestones,
    ObservedRoutes,
    State,
)


def observation_space(limits: Limits, num_actions: int) -> spaces.Record:
    """The space of `Observation`."""
    return spaces.Record.of(
        Observation,
        {
            "keys": _keys_space(limits),
            "routes": _routes_space(limits),
            "milestones": spaces.Record.of(
                ObservedMilestones,
                {
                    **{name: _flags(limits.milestones) for name in ("exists", "open", "reached", "in_sight")},
                    "reward": spaces.Box(-MOST_REWARD, MOST_REWARD, (limits.milestones,)),
                },
            ),
            "bounds": _bounds_space(limits),
            "fired": _flags(limits.events),
            **_resources(),
            "clock": spaces.Box(0, NEVER, (), np.int16),
            "horizon": spaces.Box(0, NEVER, (), np.int16),
            "deadline": spaces.Box(0, NEVER, (), np.int16),
            "action_mask": _flags(num_actions),
        },
    )


def state_space(limits: Limits) -> spaces.Record:
    """The space of `State`."""
    return spaces.Record.of(
        State,
        {
            "scenario": spaces.Box(0, 2**31 - 1, (), np.int32),
            "clock": spaces.Box(0, NEVER, (), np.int16),
            "outcome": spaces.Box(0, len(OUTCOMES) - 1, (), np.int8),
            "facts": spaces.Box(0, limits.codes - 1, (limits.keys,), np.int8),
            "known": _codes(limits),
            "marks": spaces.Box(0, 2**NUM_VERBS - 1, (limits.routes,), np.int16),
            "completed": _flags(limits.routes),
            "closed": _flags(limits.routes),
            "reached": _flags(limits.milestones),
            "fired": _flags(limits.events),
            **_resources(),
        },
    )


def _keys_space(limits: Limits) -> spaces.Record:
    flags = ("exists", "shown", "inspectable", "in_success", "in_failure", "in_milestone", "in_precondition", "wanted")
    return spaces.Record.of(ObservedKeys, {**{name: _flags(limits.keys) for name in flags}, "code": _codes(limits)})


def _routes_space(limits: Limits) -> spaces.Record:
    R = limits.routes
    return spaces.Record.of(
        ObservedRoutes,
        {
            **{name: _flags(R) for name in ("exists", "open", "completed", "serves")},
            **{name: _flags(R, R) for name in ("breaks", "closes")},
            **{name: spaces.Box(0, MOST_AMOUNT, (R,), np.int32) for name in ("time", "energy", "money")},
            "enables": spaces.Box(0, 2**limits.keys - 1, (R, R), np.uint32),
            "outstanding": _flags(R, NUM_VERBS),
            "reward": spaces.Box(-MOST_REWARD, MOST_REWARD, (R,)),
            "relation": spaces.Box(0, NOT_KNOWN, (R, limits.keys), np.int8),
            "needs_bound": _flags(R, limits.bounds),
        },
    )


def _bounds_space(limits: Limits) -> spaces.Record:
    flags = ("exists", "holds", "in_success", "in_failure", "in_milestone", "in_precondition")
    edge = spaces.Box(-MOST_AMOUNT, MOST_AMOUNT, (limits.bounds,), np.int32)  # beyond the metrics: never, or always
    return spaces.Record.of(
        ObservedBounds,
        {
            **{name: _flags(limits.bounds) for name in flags},
            "metric": spaces.Box(0, NUM_METRICS - 1, (limits.bounds,), np.int8),
            "low": edge,
            "high": edge,
        },
    )


def _resources() -> dict[str, spaces.Space]:
    """Metrics and what is left of time, money and energy."""
    return {
        "metrics": spaces.Box(0, HIGHEST, (NUM_METRICS,), np.int32),
        "time": spaces.Box(0, MOST_AMOUNT, (), np.int32),
        "money": spaces.Box(0, MOST_AMOUNT, (), np.int32),
        "energy": spaces.Box(0, MOST_ENERGY, (), np.int32),
    }


def _codes(limits: Limits) -> spaces.Box:
    return spaces.Box(UNKNOWN, limits.codes - 1, (limits.keys,), np.int8)


def _flags(*shape: int) -> spaces.Box:
    return spaces.Box(0, 1, shape, bool)
