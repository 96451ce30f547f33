"""jaxenv: reinforcement-learning environments of days, crises and chats, pure JAX functions of fixed-shape arrays."""

import importlib
from typing import Any

from jaxenv import wrappers as wrappers
from jaxenv.core import Environment as Environment
from jaxenv.core import ScenarioBank as ScenarioBank
from jaxenv.core import masking as masking
from jaxenv.core import spaces as spaces
from jaxenv.evaluation import Evaluation as Evaluation
from jaxenv.evaluation import evaluate as evaluate
from jaxenv.host import companions
from jaxenv.host.exporting import register_records
from jaxenv.host.names import did_you_mean
from jaxenv.policies import load_policy as load_policy
from jaxenv.registry import make as make
from jaxenv.registry import register as register
from jaxenv.registry import registered as registered

__version__ = "0.1.0"

_ON_DEMAND = ("baselines", "rendering", "testing")


def __getattr__(name: str) -> Any:
    """What loads on first access: submodules, such as `jaxenv.testing`, `jaxenv.train`, and `jaxenv.score`."""
    if name in _ON_DEMAND:
        return importlib.import_module(f"jaxenv.{name}")
    if name in companions.COMMANDS:
        return companions.companion(name)
    if name == "score":
        return companions.companion("train.protocol").score
    raise AttributeError(f"module 'jaxenv' has no attribute {name!r}.{did_you_mean(name, __dir__())}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_ON_DEMAND, *companions.COMMANDS, "score"})


register_records(__name__)
