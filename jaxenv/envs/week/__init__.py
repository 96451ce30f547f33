"""Week: five days of meetings, projects, errands and questions on one clock (docs/rules/week.md).

A draft: no id is registered yet, so params are made with `env.params_for(bank)` of a bank that `scenarios.week`
compiles or `env.generate` draws.
"""

from jaxenv.envs.week.env import Week as Week
from jaxenv.envs.week.types import Limits as Limits
from jaxenv.envs.week.types import Observation as Observation
from jaxenv.envs.week.types import Params as Params
from jaxenv.envs.week.types import Scenario as Scenario
from jaxenv.envs.week.types import State as State
