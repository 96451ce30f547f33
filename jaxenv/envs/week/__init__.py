"""Week: five days of meetings, projects, errands and questions on one clock (docs/rules/week.md).

A draft: its ids are not registered and there is no library yet, so params are made with `env.params_for(bank)`.
"""

from jaxenv.core.environment import Family
from jaxenv.envs.week import baseline
from jaxenv.envs.week.env import Week as Week
from jaxenv.envs.week.types import Limits as Limits
from jaxenv.envs.week.types import Observation as Observation
from jaxenv.envs.week.types import Params as Params
from jaxenv.envs.week.types import Scenario as Scenario
from jaxenv.envs.week.types import State as State


def classic(notebook: int = 2, limits: Limits = Limits()) -> Week:
    """`Week-v0`: a notebook of the last facts that were told."""
    return Week("Week-v0", notebook, limits=limits)


def notes(limits: Limits = Limits()) -> Week:
    """`Week-Notes-v0`: a notebook of everything that was told."""
    return Week("Week-Notes-v0", limits.facts, limits=limits)


def opened(limits: Limits = Limits()) -> Week:
    """`Week-Open-v0`: the present value of every fact is seen."""
    return Week("Week-Open-v0", limits.facts, sees_truth=True, limits=limits)


FAMILY = Family("week", Week, {"Week-v0": classic, "Week-Notes-v0": notes, "Week-Open-v0": opened}, baseline.baselines)
