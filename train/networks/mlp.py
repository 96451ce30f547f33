"""An MLP over the flat observation."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.linen import initializers
from jax import lax
from jax.custom_batching import sequential_vmap

from jaxenv.core import Environment
from jaxenv.core.types import ActionMask, Key
from train.networks.distributions import MaskedCategorical
from train.settings.config import Network

ACTIVATIONS = {"tanh": nn.tanh, "relu": nn.relu}

# For float32 matrix products. By default a TPU rounds the factors to bfloat16, whose 8 bits lose the probability ratio
# that PPO clips; at this precision it takes three passes, and a GPU uses TF32.
PRECISION = lax.Precision.HIGH
Dense = functools.partial(nn.Dense, precision=PRECISION)


def orthogonal(gain: float) -> initializers.Initializer:
    """Orthogonal weights of that gain, drawn one matrix at a time under `jax.vmap`.

    On a CPU, several batched decompositions in one program can deadlock.
    """
    draw = initializers.orthogonal(gain)

    def init(key: Key, shape: Sequence[int], dtype: Any = jnp.float32, out_sharding: Any = None) -> jax.Array:
        return sequential_vmap(lambda key: draw(key, shape, dtype, out_sharding))(key)

    return init


class MLP(nn.Module):
    """Hidden layers of the given sizes, with orthogonal weights of gain sqrt(2)."""

    hidden: tuple[int, ...]
    activation: str
    dtype: str = "float32"  # of the computation; the weights are float32

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """[..., F] -> [..., hidden[-1]] float32."""
        for size in self.hidden:
            x = ACTIVATIONS[self.activation](Dense(size, kernel_init=orthogonal(2**0.5), dtype=self.dtype)(x))
        return x.astype(jnp.float32)


class ActorCritic(nn.Module):
    """A policy and a value; the heads start at gains 0.01 and 1 (Huang et al. 2022, detail 2)."""

    num_actions: int
    hidden: tuple[int, ...]
    activation: str
    shared_trunk: bool
    dtype: str = "float32"

    @classmethod
    def from_settings(cls, settings: Network, num_actions: int) -> "ActorCritic":
        """The network that the settings describe."""
        return cls(num_actions, tuple(settings.hidden), settings.activation, settings.shared_trunk, settings.dtype)

    def setup(self) -> None:
        """Creates two trunks, or one under two names."""
        self.actor_trunk = MLP(self.hidden, self.activation, self.dtype)
        self.critic_trunk = self.actor_trunk if self.shared_trunk else MLP(self.hidden, self.activation, self.dtype)
        self.policy_head = Dense(self.num_actions, kernel_init=orthogonal(0.01))
        self.value_head = Dense(1, kernel_init=orthogonal(1.0))

    def read(self, env: Environment, observation: Any, params: Any) -> jax.Array:
        """[F] float32: the flat vector of one observation."""
        return env.flatten(observation, params)

    def __call__(self, observation: jax.Array, mask: ActionMask) -> tuple[MaskedCategorical, jax.Array]:
        """([..., F] float32, [..., A] bool) -> (distribution over A, value [...] float32)."""
        return self.policy(observation, mask), self.value(observation)

    def policy(self, observation: jax.Array, mask: ActionMask) -> MaskedCategorical:
        """([..., F] float32, [..., A] bool) -> distribution over A; no value is computed."""
        return MaskedCategorical.of(self.policy_head(self.actor_trunk(observation)), mask)

    def value(self, observation: jax.Array) -> jax.Array:
        """[..., F] float32 -> [...] float32; no policy is computed."""
        return jnp.squeeze(self.value_head(self.critic_trunk(observation)), axis=-1)
