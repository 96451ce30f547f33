"""The interface between a run and a learning algorithm; a run knows no algorithm by name."""

from collections.abc import Mapping
from typing import Any, Protocol

import jax
from flax import struct

from jaxenv.core import Environment, ScenarioBank
from jaxenv.core.types import Key
from train.experience.rollout import EpisodeTotals
from train.lanes import Lanes
from train.networks.policy import LearnedPolicy
from train.settings.config import Config


class Metrics(struct.PyTreeNode):
    """Metrics of one update, or of K updates with a leading axis."""

    totals: EpisodeTotals  # sums over the episodes that ended
    means: Mapping[str, jax.Array]  # name -> [] float32: what a run averages over updates and records
    not_finite: Mapping[str, jax.Array]  # term -> [] bool, NaN or infinite; if any is, the update was not made


class Algorithm(Protocol):
    """A learning algorithm: a module with a name and these pure functions, such as `train.ppo`.

    It may have `abilities` too: "normalizes" if it knows normalized observations and rewards, "scores scenarios" if it
    knows curricula, "remembers" if it trains networks with memory, "clips" if it clips the ratio of a policy to the one
    that acted, "imitates" if it knows teachers.
    """

    @property
    def name(self) -> str:
        """Its name on the command line; tables show it in capitals."""
        ...

    @property
    def SPECS(self) -> Any:
        """Where each part of the state lies, `lanes.BY_LANE` or `lanes.SHARED`: the upper part of its tree."""
        ...

    def init(self, key: Key, env_params: Any, *, config: Config, env: Environment, lanes: Lanes | None = None) -> Any:
        """The state before the first update: a pytree of all that changes, with `updates` ([] int32, done so far)."""
        ...

    def training_bank(self, key: Key, env_params: Any, *, config: Config, env: Environment) -> ScenarioBank | None:
        """The scenarios that `init` with the same key starts on, without the rest of the state; None where none are."""
        ...

    def make_superstep(self, config: Config, env: Environment, lanes: Lanes | None = None) -> Any:
        """The jitted function (state, env_params, hyper) -> (state, metrics of K updates), which consumes its state."""
        ...

    def policy_of(self, state: Any, *, config: Config, env: Environment) -> LearnedPolicy:
        """The policy that has been learned so far."""
        ...

    def with_weights(self, state: Any, weights: Any) -> Any:
        """The state of a new run that starts from the weights of a policy."""
        ...


def check_abilities(algorithm: Algorithm, config: Config) -> None:
    """A ValueError if the settings ask for a feature that the algorithm lacks."""
    wanted = {
        "--normalize-observations": (config.network.normalize_observations, "normalizes"),
        "--normalize-rewards": (config.rollout.normalize_rewards, "normalizes"),
        "--target-kl": (config.hyper.target_kl is not None, "clips"),
        f"--core {config.network.core}": (config.network.core != "none", "remembers"),
        "--teacher": (config.teacher is not None, "imitates"),
        "--clip-end": (config.hyper.clip_end is not None, "clips"),
        f"--curriculum {config.curriculum.curriculum}": (not config.curriculum.is_uniform, "scores scenarios"),
    }
    able = getattr(algorithm, "abilities", ())
    named = [option for option, (is_wanted, ability) in wanted.items() if is_wanted and ability not in able]
    if named:
        raise ValueError(f"{algorithm.name} has no {' and no '.join(named)}")
