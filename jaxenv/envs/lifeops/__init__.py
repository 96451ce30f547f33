"""LifeOps: plan a day of meeting requests and unfinished work. `LifeOps-v0` (classic rules), `LifeOps-Shaped-v0`."""

from jaxenv.core.environment import Family
from jaxenv.envs.lifeops import actions, baseline, reward
from jaxenv.envs.lifeops.env import LifeOps as LifeOps
from jaxenv.envs.lifeops.types import Limits as Limits
from jaxenv.envs.lifeops.types import Observation as Observation
from jaxenv.envs.lifeops.types import Params as Params
from jaxenv.envs.lifeops.types import Scenario as Scenario
from jaxenv.envs.lifeops.types import State as State


def classic(limits: Limits = Limits()) -> LifeOps:
    """`LifeOps-v0`: 16 actions and the reward of the classic rules."""
    return LifeOps("LifeOps-v0", actions.CLASSIC, reward.CLASSIC, limits)


def shaped(limits: Limits = Limits()) -> LifeOps:
    """`LifeOps-Shaped-v0`: 46 actions and a reward with more shaping terms."""
    return LifeOps("LifeOps-Shaped-v0", actions.SHAPED, reward.SHAPED, limits)


FAMILY = Family("lifeops", LifeOps, {"LifeOps-v0": classic, "LifeOps-Shaped-v0": shaped}, baseline.baselines)
