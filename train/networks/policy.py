"""A network as a reader of observations, which computes their features where they are used, and as a policy."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

from jaxenv.core import Environment
from jaxenv.core.types import Key
from train.networks.layers import Carry, Sequences
from train.networks.network import PureNetwork
from train.networks.outputs import Critic, MaskedCategorical


@dataclasses.dataclass(frozen=True, eq=False)
class Reader:
    """Policy and critic of a batch of observations, each a record with a leading axis B.

    >>> import jax.numpy as jnp, jaxenv
    >>> from train.networks.network import make_network
    >>> from train.settings.groups import Network
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
        carry = self.initial_carry(observation.action_mask.shape[0])
        return self.network.init(key, *self._of_one_step(observation, carry))

    def __call__(
        self, weights: Any, observation: Any, sequences: Sequences | None = None
    ) -> tuple[MaskedCategorical, Critic]:
        """(distribution over actions, critic [B]); with memory, of sequences: axes [N, T] instead of B."""
        read = self.features if sequences is None else jax.vmap(self.features)
        outputs: Any = self.network.apply(weights, read(observation), observation.action_mask, sequences)
        return outputs[:2]

    def act(self, weights: Any, observation: Any, carry: Carry) -> tuple[MaskedCategorical, Critic, Carry]:
        """(distribution, critic [B], carry after this step)."""
        outputs: Any = self.network.apply(weights, *self._of_one_step(observation, carry))
        if carry is None:
            return outputs
        policy, critic, carry = outputs
        return *jax.tree.map(lambda x: jnp.squeeze(x, 1), (policy, critic)), carry

    def value(self, weights: Any, observation: Any, carry: Carry = None) -> jax.Array:
        """[B] float32, of the critic."""
        return self.act(weights, observation, carry)[1].value

    def initial_carry(self, rows: int) -> Carry:
        """The memory at the start of an episode."""
        return jnp.zeros((rows, self.network.carry_size), jnp.float32) if self.network.carry_size else None

    def features(self, observation: Any) -> Any:
        """The input of the network's layers: an array or a tree of them, each with a leading axis B."""
        return jax.vmap(lambda one: self.network.read(self.env, one, self.params))(observation)

    def _of_one_step(self, observation: Any, carry: Carry) -> tuple[Any, ...]:
        """The network's inputs; with memory they are sequences of one step within an episode."""
        inputs = self.features(observation), observation.action_mask
        if carry is None:
            return inputs
        sequences = Sequences(carry, jnp.zeros((carry.shape[0], 1), bool))
        return *jax.tree.map(lambda x: jnp.expand_dims(x, 1), inputs), sequences


class _OfNetwork(struct.PyTreeNode):
    """What a policy consists of, with memory or without."""

    weights: Any  # of the network; the only part that is traced
    network: PureNetwork = struct.field(pytree_node=False)  # features -> policy and value
    env: Environment = struct.field(pytree_node=False)  # whose observations it reads
    greedy: bool = struct.field(pytree_node=False, default=True)  # the most probable action, or a sample
    # Its logits are values of actions, as those of PQN and DQN: they are for acting greedily, and no probabilities.
    of_values: bool = struct.field(pytree_node=False, default=False)


class NetworkPolicy(_OfNetwork):
    """(key, observation, params) -> action: the most probable one, or a sample.

    A run returns one, and `train.load_policy` reads one from its folder or a file; `jaxenv.evaluate` scores it like a
    baseline.

    >>> import functools, jax, jaxenv, train
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> config = train.preset("LifeOps-v0")
    >>> state = jax.eval_shape(functools.partial(train.init, config=config, env=env), jax.random.key(0), params)
    >>> policy = train.ppo.policy_of(state, config=config, env=env)
    >>> observation, _ = jax.eval_shape(env.reset, jax.random.key(1), params)
    >>> act = lambda policy, observation: policy(jax.random.key(2), observation, params)
    >>> jax.eval_shape(act, policy, observation)
    ShapeDtypeStruct(shape=(), dtype=int32)
    """

    def __call__(self, key: Key, observation: Any, params: Any) -> jax.Array:
        """[] int32, for one observation of the environment."""
        features = self.network.read(self.env, observation, params)
        policy, *_ = self.network.apply(self.weights, features, observation.action_mask)
        return policy.mode() if self.greedy else policy.sample(key)


class RecurrentPolicy(_OfNetwork):
    """The same for a network with memory: a `jaxenv.core.types.StatefulPolicy`."""

    def initial_carry(self) -> jax.Array:
        """[H] float32: nothing is remembered."""
        return jnp.zeros(self.network.carry_size, jnp.float32)

    def act(self, key: Key, observation: Any, params: Any, carry: jax.Array) -> tuple[jax.Array, jax.Array]:
        """([] int32, [H] float32): the action for one observation, and the memory after it."""
        row, carry = jax.tree.map(lambda x: jnp.expand_dims(x, 0), (observation, carry))
        policy, _, carry = Reader(self.network, self.env, params).act(self.weights, row, carry)
        policy, carry = jax.tree.map(lambda x: jnp.squeeze(x, 0), (policy, carry))
        return policy.mode() if self.greedy else policy.sample(key), carry


LearnedPolicy = NetworkPolicy | RecurrentPolicy


def make_policy(weights: Any, network: PureNetwork, env: Environment) -> LearnedPolicy:
    """The policy of a network, with memory or without."""
    return (RecurrentPolicy if network.carry_size else NetworkPolicy)(weights, network, env)
