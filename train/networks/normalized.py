"""Observations with about mean 0 and variance 1: a network whose features are standardized before it reads them.

The statistics are a part of the weights, beside the parameters: whoever has the weights acts on the same numbers, be it
the rollout, the loss, a checkpoint or a policy file. No gradient reaches them. An algorithm updates them once its
gradient steps are made, so that an update acts and learns on the same statistics.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxenv.core import Environment
from jaxenv.core.types import ActionMask, Entities, EntityGroup, Key, dense
from train.lanes import Lanes
from train.networks.critic import Critic
from train.networks.distributions import MaskedCategorical
from train.networks.memory import Sequences
from train.networks.moments import Moments

STATISTICS = "statistics"  # their name in the weights: name of a part of the features -> moments


@dataclasses.dataclass(frozen=True)
class NormalizedNetwork:
    """A network over standardized features.

    A part of the features is an array of floats, standardized along its last axis, or the entities of a group, all
    alike. Whole numbers and truth values stay.
    """

    network: Any  # a `train.networks.network.PureNetwork`

    @property
    def memory(self) -> int:
        """H, the units of a carry; 0 without memory."""
        return self.network.memory

    def __getattr__(self, name: str) -> Any:
        """All other attributes of the network."""
        if name == "network":  # while a copy is made, before it is there
            raise AttributeError(name)
        return getattr(self.network, name)

    def read(self, env: Environment, observation: Any, params: Any) -> Any:
        """The features of one observation, as they are; those of each action in full."""
        features = self.network.read(env, observation, params)
        return features.replace(actions=dense(features.actions)) if isinstance(features, Entities) else features

    def init(self, key: Key, features: Any, mask: ActionMask, memory: Sequences | None = None) -> Any:
        """The initial weights, with statistics of nothing."""
        leading = mask.ndim - 1  # axes of the batch; an array without more axes is one number
        sizes = {name: x.shape[-1] for name, (x, _) in _parts(features).items() if x.ndim > leading}
        weights = self.network.init(key, features, mask, memory)
        return {**weights, STATISTICS: {name: Moments.none(size) for name, size in sizes.items()}}

    def __call__(self, weights: Any, features: Any, mask: ActionMask) -> tuple[MaskedCategorical, Critic]:
        """(distribution over A, critic)."""
        return self.network(*_standardized(weights, features), mask)

    def policy(self, weights: Any, features: Any, mask: ActionMask) -> MaskedCategorical:
        """The distribution alone."""
        return self.network.policy(*_standardized(weights, features), mask)

    def critic(self, weights: Any, features: Any) -> Critic:
        """The critic alone."""
        return self.network.critic(*_standardized(weights, features))

    def replay(
        self, weights: Any, features: Any, mask: ActionMask, memory: Sequences
    ) -> tuple[MaskedCategorical, Critic, jax.Array]:
        """(distribution, critic, carry after the sequences)."""
        return self.network.replay(*_standardized(weights, features), mask, memory)


def _standardized(weights: Any, features: Any) -> tuple[Any, Any]:
    """(the weights of the inner network, its input)."""
    inner = {name: part for name, part in weights.items() if name != STATISTICS}
    return inner, standardize(features, lax.stop_gradient(weights[STATISTICS]))


def standardize(features: Any, statistics: dict[str, Moments]) -> Any:
    """The same features, with those parts that have statistics standardized; padding stays 0."""

    def part(path: Any, leaf: Any) -> Any:
        moments = statistics.get(_name(path))
        if moments is None:
            return leaf
        if not _is_group(leaf):
            return moments.standardize(leaf)
        return leaf.replace(features=jnp.where(leaf.mask[..., None], moments.standardize(leaf.features), 0.0))

    return jax.tree_util.tree_map_with_path(part, features, is_leaf=_is_group)


def with_new_statistics(weights: Any, features_of: Callable[[Any], Any], observations: Any, lanes: Lanes) -> Any:
    """The weights with statistics that count a rollout too; without statistics as they are.

    Args:
        weights: of a network, the same in each lane.
        features_of: observations [B] -> the network's features of them.
        observations: of this lane, leading axes [T, B]; features of one step are kept at a time.
        lanes: whose observations count alike.
    """
    if STATISTICS not in weights:
        return weights
    before = weights[STATISTICS]

    def count(seen: dict[str, Moments], observation: Any) -> tuple[dict[str, Moments], None]:
        parts = _parts(features_of(observation))
        return {name: moments.merge(Moments.of(*parts[name])) for name, moments in seen.items()}, None

    none = {name: Moments.none(moments.mean.size) for name, moments in before.items()}
    seen, _ = lax.scan(count, none, observations)
    return {**weights, STATISTICS: {name: before[name].merge(each.over(lanes)) for name, each in seen.items()}}


def _parts(features: Any) -> dict[str, tuple[jax.Array, jax.Array | None]]:
    """Name -> (numbers [..., F], rows that exist [...] bool, or None for all) of the parts to be standardized."""
    leaves = jax.tree_util.tree_leaves_with_path(features, is_leaf=_is_group)
    parts = {_name(path): (leaf.features, leaf.mask) if _is_group(leaf) else (leaf, None) for path, leaf in leaves}
    return {name: part for name, part in parts.items() if jnp.issubdtype(part[0].dtype, jnp.floating)}


def _is_group(part: Any) -> bool:
    return isinstance(part, EntityGroup)


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".") or "features"
