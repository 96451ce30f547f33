"""A `Wrapper` is an environment itself, and so is what `FromGymnax` makes of gymnax's.

The adapters `Vectorize`, `Gymnax` and `JaxMARL` have other signatures. `Brax`, `DmEnv` and `Jumanji` are subclasses of
other packages' environments, so they are imported when they are asked for.
"""

import importlib
from typing import TYPE_CHECKING, Any

from jaxenv.wrappers.episode_statistics import EpisodeStatistics as EpisodeStatistics
from jaxenv.wrappers.episode_statistics import EpisodeSummary as EpisodeSummary
from jaxenv.wrappers.episode_statistics import summarize as summarize
from jaxenv.wrappers.flatten_observation import FlatObservation as FlatObservation
from jaxenv.wrappers.flatten_observation import FlattenObservation as FlattenObservation
from jaxenv.wrappers.from_gymnax import FromGymnax as FromGymnax
from jaxenv.wrappers.gymnax import Gymnax as Gymnax
from jaxenv.wrappers.jaxmarl import JaxMARL as JaxMARL
from jaxenv.wrappers.legacy_step import LegacyStep as LegacyStep
from jaxenv.wrappers.vectorize import Vectorize as Vectorize
from jaxenv.wrappers.wrapper import Wrapper as Wrapper

if TYPE_CHECKING:
    from jaxenv.wrappers.brax_adapter import Brax as Brax
    from jaxenv.wrappers.dm_env_adapter import DmEnv as DmEnv
    from jaxenv.wrappers.jumanji_adapter import Jumanji as Jumanji

_ADAPTERS = {
    "Brax": "brax_adapter",
    "DmEnv": "dm_env_adapter",
    "Jumanji": "jumanji_adapter",
}


def __getattr__(name: str) -> Any:
    """Imports an adapter whose base class is another package's."""
    if name not in _ADAPTERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_ADAPTERS[name]}"), name)


def __dir__() -> list[str]:
    """The names of the module, with those that are not imported yet."""
    return sorted({*globals(), *_ADAPTERS})
