"""Policy and critic over an overview of the observation, which here is the flat observation itself."""

from typing import Any, Self

import jax
import jax.numpy as jnp
from flax import linen as nn

from jaxenv.core import Environment
from jaxenv.core.types import ActionMask
from train.networks.layers import CORES, MLP, Carry, Dense, Sequences, orthogonal
from train.networks.outputs import Critic, MaskedCategorical, critic_named
from train.settings.groups import Network


class ActorCritic(nn.Module, kw_only=True):
    """A policy and a critic; the heads start at gains 0.01 and 1 (Huang et al. 2022, detail 2).

    With a core the hidden layers read the overview, and what is remembered of the steps before.
    """

    num_actions: int
    critic: type[Critic]
    hidden: tuple[int, ...]
    activation: str
    shared_trunk: bool
    core_type: type[nn.Module] | None = None  # what is remembered, if anything is
    carry_size: int = 0  # H, the units of the core; without one, 0
    dtype: str = "float32"
    layer_norm: bool = False

    @classmethod
    def from_settings(cls, settings: Network, num_actions: int, **own: Any) -> Self:
        """The network that the settings describe, with the fields that a subclass has of its own."""
        return cls(
            num_actions=num_actions,
            critic=critic_named(settings.critic),
            hidden=settings.hidden,
            activation=settings.activation,
            shared_trunk=settings.shared_trunk,
            core_type=CORES.get(settings.core),
            carry_size=settings.core_units if settings.core in CORES else 0,
            dtype=settings.dtype,
            layer_norm=settings.layer_norm,
            **own,
        )

    def setup(self) -> None:
        """Creates two trunks, or one under two names, and the heads."""
        layers = (self.hidden, self.activation, self.dtype, self.layer_norm)
        self.actor_trunk = MLP(*layers)
        self.critic_trunk = self.actor_trunk if self.shared_trunk else MLP(*layers)
        self.policy_head = Dense(self.num_actions, kernel_init=orthogonal(0.01))
        self.value_head = Dense(self.critic.OUTPUTS, kernel_init=orthogonal(1.0))
        if self.core_type:
            self.core = self.core_type(self.carry_size)

    def read(self, env: Environment, observation: Any, params: Any) -> Any:
        """The features of one observation: here [F] float32, the flat vector."""
        return env.flatten(observation, params)

    def __call__(
        self, features: Any, mask: ActionMask, sequences: Sequences | None = None
    ) -> tuple[MaskedCategorical, Critic, Carry]:
        """(features with leading axes [...], [..., A] bool) -> (distribution over A, critic [...], no carry).

        With a core, of sequences of steps: leading axes [N, T], and the carry after them is [N, H].
        """
        seen, carry = self.see(features), None
        if sequences is not None:
            remembered, carry = self.core(seen, sequences)
            seen = jnp.concatenate([seen, remembered], axis=-1)
        return self.policy_of(seen, features, mask), self.critic_of(seen), carry

    def see(self, features: Any) -> jax.Array:
        """The overview, [..., F] float32."""
        return features

    def policy_of(self, seen: jax.Array, features: Any, mask: ActionMask) -> MaskedCategorical:
        """(input of the hidden layers [..., F], features, [..., A] bool) -> distribution over A."""
        return MaskedCategorical.of(self.policy_head(self.actor_trunk(seen)), mask)

    def critic_of(self, seen: jax.Array) -> Critic:
        """Input of the hidden layers, [..., F] -> critic [...]."""
        return self.critic.of(self.value_head(self.critic_trunk(seen)))
