"""A trained policy as a value, callable like a baseline."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

from jaxenv.core import Environment
from jaxenv.core.types import Key
from train.networks.network import PureNetwork
from train.networks.reader import Reader


class NetworkPolicy(struct.PyTreeNode):
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

    weights: Any  # of the network; the only part that is traced
    network: PureNetwork = struct.field(pytree_node=False)  # features -> policy and value
    env: Environment = struct.field(pytree_node=False)  # whose observations it reads
    greedy: bool = struct.field(pytree_node=False, default=True)  # the most probable action, or a sample

    def __call__(self, key: Key, observation: Any, params: Any) -> jax.Array:
        """[] int32, for one observation of the environment."""
        features = self.network.read(self.env, observation, params)
        policy = self.network.policy(self.weights, features, observation.action_mask)
        return policy.mode() if self.greedy else policy.sample(key)


class RecurrentPolicy(struct.PyTreeNode):
    """The same for a network with memory: a `jaxenv.core.types.StatefulPolicy`."""

    weights: Any  # of the network; the only part that is traced
    network: PureNetwork = struct.field(pytree_node=False)  # features -> policy and value
    env: Environment = struct.field(pytree_node=False)  # whose observations it reads
    greedy: bool = struct.field(pytree_node=False, default=True)  # the most probable action, or a sample

    def initial_carry(self) -> jax.Array:
        """[H] float32: nothing is remembered."""
        return jnp.zeros(self.network.memory, jnp.float32)

    def act(self, key: Key, observation: Any, params: Any, carry: jax.Array) -> tuple[jax.Array, jax.Array]:
        """([] int32, [H] float32): the action for one observation, and the memory after it."""
        row, carry = jax.tree.map(lambda x: jnp.expand_dims(x, 0), (observation, carry))
        policy, _, carry = Reader(self.network, self.env, params).act(self.weights, row, carry)
        policy, carry = jax.tree.map(lambda x: jnp.squeeze(x, 0), (policy, carry))
        return policy.mode() if self.greedy else policy.sample(key), carry


LearnedPolicy = NetworkPolicy | RecurrentPolicy


def make_policy(weights: Any, network: PureNetwork, env: Environment) -> LearnedPolicy:
    """The policy of a network, with memory or without."""
    return (RecurrentPolicy if network.memory else NetworkPolicy)(weights, network, env)
