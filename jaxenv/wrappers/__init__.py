"""A `Wrapper` is an environment itself, and so is what `FromGymnax` makes of gymnax's.

The adapters `Vectorize`, `Gymnax` and `JaxMARL` have other signatures; `register_gymnax` and `register_jaxmarl` make
the registered environments known to the programs of those suites.
"""

from jaxenv.wrappers.episode_statistics import EpisodeStatistics as EpisodeStatistics
from jaxenv.wrappers.episode_statistics import EpisodeSummary as EpisodeSummary
from jaxenv.wrappers.episode_statistics import summarize as summarize
from jaxenv.wrappers.flatten_observation import FlatObservation as FlatObservation
from jaxenv.wrappers.flatten_observation import FlattenObservation as FlattenObservation
from jaxenv.wrappers.from_gymnax import FromGymnax as FromGymnax
from jaxenv.wrappers.gymnax import Gymnax as Gymnax
from jaxenv.wrappers.jaxmarl import JaxMARL as JaxMARL
from jaxenv.wrappers.legacy_step import LegacyStep as LegacyStep
from jaxenv.wrappers.legal_actions import LegalActions as LegalActions
from jaxenv.wrappers.registration import register_gymnax as register_gymnax
from jaxenv.wrappers.registration import register_jaxmarl as register_jaxmarl
from jaxenv.wrappers.vectorize import Vectorize as Vectorize
from jaxenv.wrappers.wrapper import Wrapper as Wrapper
