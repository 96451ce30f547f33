"""A trained policy as a value, callable like a baseline."""

from typing import Any

import jax
from flax import struct

from jaxenv.core import Environment
from jaxenv.core.types import Key
from train.networks.network import PureNetwork


class NetworkPolicy(struct.PyTreeNode):
    """(key, observation, params) -> action: the most probable one, or a sample.

    A run returns one and `train.load_policy` reads one from its folder; `jaxenv.evaluate` scores it like a baseline.

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

    weights: Any
    network: PureNetwork = struct.field(pytree_node=False)
    env: Environment = struct.field(pytree_node=False)
    greedy: bool = struct.field(pytree_node=False, default=True)

    def __call__(self, key: Key, observation: Any, params: Any) -> jax.Array:
        """[] int32, for one observation of the environment."""
        features = self.network.read(self.env, observation, params)
        policy = self.network.apply(self.weights, features, observation.action_mask, method="policy")
        return policy.mode() if self.greedy else policy.sample(key)
