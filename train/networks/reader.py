"""A network that reads observations: it computes their features where they are used, and keeps none."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from jaxenv.core import Environment
from jaxenv.core.types import Key
from train.networks.critic import Critic
from train.networks.distributions import MaskedCategorical
from train.networks.memory import Sequences
from train.networks.network import PureNetwork

Carry = Any
"""[B, H] float32, a network's memory of B episodes, zeros at their start; None without memory."""


@dataclasses.dataclass(frozen=True, eq=False)
class Reader:
    """Policy and critic of a batch of observations, each a record with a leading axis B.

    >>> import jax.numpy as jnp, jaxenv
    >>> from train.networks.network import make_network
    >>> from train.settings.config import Network
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> reader = Reader(make_network(Network(hidden=(8,)), env.num_actions), env, params)
    >>> observation, _ = jaxenv.wrappers.Vectorize(env, 4).reset(jax.random.key(0), params)
    >>> weights = reader.init(jax.random.key(1), observation)
    >>> policy, critic = reader(weights, observation)
    >>> policy.log_probs.shape, critic.value.shape
    ((4, 16), (4,))
    """

    network: PureNetwork
    env: Environment
    params: Any  # of the environment

    def init(self, key: Key, observation: Any) -> Any:
        """The initial weights; of the observation only the shapes count."""
        features, mask = self.features(observation), observation.action_mask
        if not self.network.memory:
            return self.network.init(key, features, mask)
        features, mask = jax.tree.map(lambda x: jnp.expand_dims(x, 1), (features, mask))
        return self.network.init(key, features, mask, _one_step(self.initial_carry(mask.shape[0])))

    def __call__(
        self, weights: Any, observation: Any, memory: Sequences | None = None
    ) -> tuple[MaskedCategorical, Critic]:
        """(distribution over actions, critic [B]); with memory, of sequences: axes [N, T] in the place of B."""
        mask = observation.action_mask
        if memory is None:
            return self.network(weights, self.features(observation), mask)
        features = jax.vmap(self.features)(observation)
        return self.network.replay(weights, features, mask, memory)[:2]

    def act(self, weights: Any, observation: Any, carry: Carry) -> tuple[MaskedCategorical, Critic, Carry]:
        """(distribution, critic [B], carry after this step)."""
        if carry is None:
            return *self(weights, observation), None
        now = self.features(observation), observation.action_mask
        features, mask = jax.tree.map(lambda x: jnp.expand_dims(x, 1), now)
        policy, critic, carry = self.network.replay(weights, features, mask, _one_step(carry))
        return *jax.tree.map(lambda x: jnp.squeeze(x, 1), (policy, critic)), carry

    def value(self, weights: Any, observation: Any, carry: Carry = None) -> jax.Array:
        """[B] float32; no policy is computed."""
        if carry is None:
            return self.network.critic(weights, self.features(observation)).value
        return self.act(weights, observation, carry)[1].value

    def initial_carry(self, rows: int) -> Carry:
        """The memory at the start of an episode."""
        return jnp.zeros((rows, self.network.memory), jnp.float32) if self.network.memory else None

    def features(self, observation: Any) -> Any:
        """The input of the network's layers: an array or a tree of them, each with a leading axis B."""
        return jax.vmap(lambda one: self.network.read(self.env, one, self.params))(observation)


def _one_step(carry: jax.Array) -> Sequences:
    """Sequences of one step within an episode."""
    return Sequences(carry, jnp.zeros((carry.shape[0], 1), bool))
