"""LifeStack: find the way out of a crisis of hidden facts, routes, milestones and events. `LifeStack-v0`."""

from jaxenv.core.environment import Family
from jaxenv.envs.lifestack import baseline
from jaxenv.envs.lifestack.env import LifeStack as LifeStack
from jaxenv.envs.lifestack.types import Limits as Limits
from jaxenv.envs.lifestack.types import Observation as Observation
from jaxenv.envs.lifestack.types import Params as Params
from jaxenv.envs.lifestack.types import Scenario as Scenario
from jaxenv.envs.lifestack.types import State as State

FAMILY = Family("lifestack", LifeStack, {"LifeStack-v0": LifeStack}, baseline.baselines)
