"""A `Wrapper` is an environment itself, and so is `FromGymnax` around an environment of gymnax.

The adapters `Vectorize`, `Gymnax` and `JaxMARL` have other signatures. `DmEnv`, `Gymnasium`, `GymnasiumVector`,
`Jumanji` and `SB3VecEnv` are classes of other packages, which are imported on first use.
`register_gymnasium`, `register_gymnax` and `register_jaxmarl` add the registered environments to the registries of
those suites.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from jaxenv.host.companions import optional
from jaxenv.wrappers.episode_statistics import EpisodeStatistics as EpisodeStatistics
from jaxenv.wrappers.episode_statistics import EpisodeSummary as EpisodeSummary
from jaxenv.wrappers.episode_statistics import summarize as summarize
from jaxenv.wrappers.gymnax import FromGymnax as FromGymnax
from jaxenv.wrappers.gymnax import Gymnax as Gymnax
from jaxenv.wrappers.gymnax import register_gymnax as register_gymnax
from jaxenv.wrappers.jaxmarl import JaxMARL as JaxMARL
from jaxenv.wrappers.jaxmarl import register_jaxmarl as register_jaxmarl
from jaxenv.wrappers.wrapper import FlatObservation as FlatObservation
from jaxenv.wrappers.wrapper import FlattenObservation as FlattenObservation
from jaxenv.wrappers.wrapper import LegacyStep as LegacyStep
from jaxenv.wrappers.wrapper import LegalActions as LegalActions
from jaxenv.wrappers.wrapper import Vectorize as Vectorize
from jaxenv.wrappers.wrapper import Wrapper as Wrapper

if TYPE_CHECKING:
    from jaxenv.wrappers.dm_env import DmEnv as DmEnv
    from jaxenv.wrappers.gymnasium import Gymnasium as Gymnasium
    from jaxenv.wrappers.gymnasium import GymnasiumVector as GymnasiumVector
    from jaxenv.wrappers.gymnasium import register_gymnasium as register_gymnasium
    from jaxenv.wrappers.jumanji import Jumanji as Jumanji
    from jaxenv.wrappers.stable_baselines3 import SB3VecEnv as SB3VecEnv

_ADAPTERS = {  # name -> (module, named like the package that it adapts; extra that installs its requirements)
    "DmEnv": ("dm_env", "peers"),
    "Gymnasium": ("gymnasium", "peers"),
    "GymnasiumVector": ("gymnasium", "peers"),
    "Jumanji": ("jumanji", "peers"),
    "SB3VecEnv": ("stable_baselines3", "sb3"),
    "register_gymnasium": ("gymnasium", "peers"),
}


def __getattr__(name: str) -> Any:
    """An adapter whose base class belongs to a package that jaxenv does not depend on."""
    if name not in _ADAPTERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, extra = _ADAPTERS[name]
    return getattr(optional(f"{__name__}.{module}", f"wrappers.{name}", extra), name)


def __dir__() -> list[str]:
    """The names of the module, with those that can be imported: `help` and completion read them all."""
    return sorted({*globals(), *(name for name, (module, _) in _ADAPTERS.items() if find_spec(module))})
