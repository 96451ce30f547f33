"""jaxenv: reinforcement-learning environments of days, crises and chats, pure JAX functions of fixed-shape arrays."""

from jaxenv import wrappers as wrappers
from jaxenv.core import Environment as Environment
from jaxenv.core import ScenarioBank as ScenarioBank
from jaxenv.core import masking as masking
from jaxenv.core import spaces as spaces
from jaxenv.core.exporting import register_records
from jaxenv.evaluation import Evaluation as Evaluation
from jaxenv.evaluation import evaluate as evaluate
from jaxenv.policies import load_policy as load_policy
from jaxenv.registry import make as make
from jaxenv.registry import register as register
from jaxenv.registry import registered as registered

__version__ = "0.1.0"

register_records(__name__)
