"""Policy and critic over an overview of the observation, which here is the flat observation itself."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

from jaxenv.core import Environment
from jaxenv.core.types import ActionMask
from train.networks.layers import CORES, MLP, Carry, Dense, Sequences, orthogonal
from train.networks.outputs import Critic, MaskedCategorical
from train.settings.groups import Network


class ActorCritic(nn.Module):
    """A policy and a critic; the heads start at gains 0.01 and 1 (Huang et al. 2022, detail 2).

    With a core the hidden layers read the overview, and what is remembered of the steps before.
    """

    settings: Network
    num_actions: int
    critic: type[Critic]

    @property
    def carry_size(self) -> int:
        """H, the units of the core; without one, 0."""
        return self.settings.core_units if self.settings.core in CORES else 0

    def setup(self) -> None:
        """Creates two trunks, or one under two names, and the heads."""
        self.actor_trunk = MLP(self.settings)
        self.critic_trunk = self.actor_trunk if self.settings.shared_trunk else MLP(self.settings)
        self.policy_head = Dense(self.num_actions, kernel_init=orthogonal(0.01))
        self.value_head = Dense(self.critic.OUTPUTS, kernel_init=orthogonal(1.0))
        if self.carry_size:
            self.core = CORES[self.settings.core](self.carry_size)

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
