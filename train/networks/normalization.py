"""Observations with about mean 0 and variance 1: a network whose features are standardized before it reads them.

The statistics, running means and variances, are a part of the weights, beside the parameters: whoever has the weights
acts on the same numbers, be it the rollout, the loss, a checkpoint or a policy file. No gradient reaches them. An
algorithm updates them once its gradient steps are made, so that an update acts and learns on the same statistics.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct
from jax import lax

from jaxenv.core import Environment
from jaxenv.core.types import ActionMask, Entities, EntityGroup, Key, dense
from train.lanes import Lanes
from train.networks.layers import Carry, Sequences
from train.networks.outputs import Critic, MaskedCategorical

STATISTICS = "statistics"  # their name in the weights: name of a part of the features -> moments

EPSILON = 1e-8  # added to a variance before a division
LIMIT = 10.0  # standard deviations, to which scaled values are clipped


class Moments(struct.PyTreeNode):
    """Mean and variance of F numbers, over the rows that were seen so far.

    >>> import jax.numpy as jnp
    >>> seen = Moments.of(jnp.array([[1.0], [3.0]])).merge(Moments.of(jnp.array([[8.0]])))
    >>> float(seen.count), seen.mean.tolist()
    (3.0, [4.0])
    """

    count: jax.Array  # [] float32, rows; in float32 its growth is exact enough far beyond 2**24
    mean: jax.Array  # [F] float32
    variance: jax.Array  # [F] float32, of the population; of no rows 1, so that `standardize` changes nothing

    @classmethod
    def none(cls, size: int) -> "Moments":
        """Of no rows."""
        return cls(jnp.float32(0), jnp.zeros(size, jnp.float32), jnp.ones(size, jnp.float32))

    @classmethod
    def of(cls, rows: jax.Array, exists: jax.Array | None = None) -> "Moments":
        """Of [..., F] float32, or of those rows that exist ([...] bool)."""
        exists = jnp.ones(rows.shape[:-1], bool) if exists is None else exists
        over = tuple(range(rows.ndim - 1))
        share = exists[..., None] / jnp.maximum(jnp.sum(exists), 1)
        mean = jnp.sum(share * rows, axis=over)
        off = rows - jnp.expand_dims(mean, over)
        return cls(jnp.sum(exists, dtype=jnp.float32), mean, jnp.sum(share * jnp.square(off), axis=over))

    def merge(self, other: "Moments") -> "Moments":
        """Of the rows of both (Chan, Golub and LeVeque 1979, eq. 2.1)."""
        count = self.count + other.count
        share = other.count / jnp.maximum(count, 1.0)
        off = other.mean - self.mean
        variance = (1.0 - share) * self.variance + share * other.variance + share * (1.0 - share) * jnp.square(off)
        return Moments(count, self.mean + share * off, variance)

    def over(self, lanes: Lanes) -> "Moments":
        """Of the rows of all lanes, the same in each."""
        count = lanes.sum(self.count)
        share = self.count / jnp.maximum(count, 1.0)
        mean = lanes.sum(share * self.mean)
        return Moments(count, mean, lanes.sum(share * (self.variance + jnp.square(self.mean - mean))))

    def standardize(self, rows: jax.Array) -> jax.Array:
        """[..., F] float32 with about mean 0 and variance 1, clipped to `LIMIT`."""
        before: Sequence[int] = range(rows.ndim - 1)
        mean, scale = (jnp.expand_dims(x, before) for x in (self.mean, self.deviation()))
        return jnp.clip((rows - mean) / scale, -LIMIT, LIMIT)

    def deviation(self) -> jax.Array:
        """[F] float32: the standard deviation, never 0."""
        return jnp.sqrt(self.variance + EPSILON)


@dataclasses.dataclass(frozen=True)
class NormalizedNetwork:
    """A network over standardized features.

    A part of the features is an array of floats, standardized along its last axis, or the entities of a group, all
    alike. Whole numbers and truth values stay.
    """

    network: Any  # a `train.networks.network.PureNetwork`

    @property
    def carry_size(self) -> int:
        """H, the units of a carry; 0 without memory."""
        return self.network.carry_size

    def read(self, env: Environment, observation: Any, params: Any) -> Any:
        """The features of one observation, as they are; those of each action in full."""
        features = self.network.read(env, observation, params)
        return features.replace(actions=dense(features.actions)) if isinstance(features, Entities) else features

    def init(self, key: Key, features: Any, mask: ActionMask, sequences: Sequences | None = None) -> Any:
        """The initial weights, with statistics of nothing."""
        leading = mask.ndim - 1  # axes of the batch; an array without more axes is one number
        sizes = {name: x.shape[-1] for name, (x, _) in _parts(features).items() if x.ndim > leading}
        weights = self.network.init(key, features, mask, sequences)
        return {**weights, STATISTICS: {name: Moments.none(size) for name, size in sizes.items()}}

    def apply(
        self, weights: Any, features: Any, mask: ActionMask, sequences: Sequences | None = None
    ) -> tuple[MaskedCategorical, Critic, Carry]:
        """(distribution over A, critic, carry after the sequences)."""
        inner = {name: part for name, part in weights.items() if name != STATISTICS}
        seen = standardize(features, lax.stop_gradient(weights[STATISTICS]))
        return self.network.apply(inner, seen, mask, sequences)


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
