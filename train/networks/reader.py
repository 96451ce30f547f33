"""A network that reads observations: it computes their features where they are used, and keeps none."""

import dataclasses
from typing import Any

import jax

from jaxenv.core import Environment
from jaxenv.core.types import Key
from train.networks.distributions import MaskedCategorical
from train.networks.network import PureNetwork


@dataclasses.dataclass(frozen=True, eq=False)
class Reader:
    """Policy and value of a batch of observations, each a record with a leading axis B.

    >>> import jax.numpy as jnp, jaxenv
    >>> from train.networks.network import make_network
    >>> from train.settings.config import Network
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> reader = Reader(make_network(Network(hidden=(8,)), env.num_actions), env, params)
    >>> observation, _ = jaxenv.wrappers.Vectorize(env, 4).reset(jax.random.key(0), params)
    >>> weights = reader.init(jax.random.key(1), observation)
    >>> policy, value = reader(weights, observation)
    >>> policy.log_probs.shape, value.shape
    ((4, 16), (4,))
    """

    network: PureNetwork
    env: Environment
    params: Any  # of the environment

    def init(self, key: Key, observation: Any) -> Any:
        """The initial weights; of the observation only the shapes count."""
        return self.network.init(key, self.features(observation), observation.action_mask)

    def __call__(self, weights: Any, observation: Any) -> tuple[MaskedCategorical, jax.Array]:
        """(distribution over actions, value [B] float32)."""
        return self.network.apply(weights, self.features(observation), observation.action_mask)

    def value(self, weights: Any, observation: Any) -> jax.Array:
        """[B] float32; no policy is computed."""
        return self.network.apply(weights, self.features(observation), method="value")

    def features(self, observation: Any) -> Any:
        """What the network's layers are given: an array or a tree of them, each with a leading axis B."""
        return jax.vmap(lambda one: self.network.read(self.env, one, self.params))(observation)
