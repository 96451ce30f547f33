"""The contract that every environment keeps, and the parts that it is made of."""

from jaxenv.core import masking as masking
from jaxenv.core import spaces as spaces
from jaxenv.core.bank import ScenarioBank as ScenarioBank
from jaxenv.core.environment import Environment as Environment
from jaxenv.core.environment import LibraryEnvironment as LibraryEnvironment
