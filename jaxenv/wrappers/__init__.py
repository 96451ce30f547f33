"""A `Wrapper` is an environment itself, and so is what `FromGymnax` makes of gymnax's.

The adapters `Vectorize`, `Gymnax` and `JaxMARL` have other signatures. `Gymnasium`, `GymnasiumVector` and `SB3VecEnv`
are classes of other packages, which are imported where one of these is first asked for.
"""

import importlib

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

_ON_DEMAND = {  # name -> (module, command that installs what it imports)
    "Gymnasium": ("gymnasium", "pip install 'jaxenv[peers]'"),
    "GymnasiumVector": ("gymnasium_vector", "pip install 'jaxenv[peers]'"),
    "register_gymnasium": ("gymnasium_registration", "pip install 'jaxenv[peers]'"),
    "SB3VecEnv": ("stable_baselines3", "pip install stable-baselines3"),
}


def __getattr__(name: str):
    """An adapter whose base class belongs to a package that jaxenv does not depend on."""
    if name not in _ON_DEMAND:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, command = _ON_DEMAND[name]
    try:
        return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    except ModuleNotFoundError as error:
        raise ImportError(f"wrappers.{name} needs {error.name}: {command}") from error
