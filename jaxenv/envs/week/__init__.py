"""Week: five days of meetings, projects, errands and questions on one clock: `Week-v0` (docs/rules/week.md)."""

from jaxenv.core.environment import Family
from jaxenv.envs.week import baseline
from jaxenv.envs.week.env import Week as Week
from jaxenv.envs.week.types import Limits as Limits
from jaxenv.envs.week.types import Observation as Observation
from jaxenv.envs.week.types import Params as Params
from jaxenv.envs.week.types import Scenario as Scenario
from jaxenv.envs.week.types import State as State


def remembered(limits: Limits = Limits()) -> Week:
    """`Week-v0`: the notebook has one line, so an agent has to remember what else it was told."""
    return Week(limits=limits)


def noted(limits: Limits = Limits()) -> Week:
    """`Week-Notes-v0`: the notebook keeps whatever was told."""
    return Week("Week-Notes-v0", notebook=limits.facts, limits=limits)


def seen(limits: Limits = Limits()) -> Week:
    """`Week-Open-v0`: what is true at present is observed, for planners and ablations."""
    return Week("Week-Open-v0", sees_truth=True, limits=limits)


FAMILY = Family("week", Week, {"Week-v0": remembered, "Week-Notes-v0": noted, "Week-Open-v0": seen}, baseline.baselines)
