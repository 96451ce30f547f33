"""The interface of networks, and the networks of the settings."""

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol

import jax

from jaxenv.core import Environment
from jaxenv.core.types import ActionMask, Key
from train.networks.actor_critic import ActorCritic
from train.networks.critic import Critic
from train.networks.distributions import MaskedCategorical
from train.networks.entities import EntityActorCritic
from train.networks.memory import Sequences
from train.networks.normalized import NormalizedNetwork
from train.networks.own import own_network
from train.settings.groups import Network


class PureNetwork(Protocol):
    """Pure functions of weights. Features and masks ([..., A] bool) have any leading axes [...], sequences [N, T]."""

    @property
    def memory(self) -> int:
        """H, the units of a carry; 0 without memory."""
        ...

    def read(self, env: Environment, observation: Any, params: Any) -> Any:
        """The features of one observation: an array or a tree of them."""
        ...

    def init(self, key: Key, features: Any, mask: ActionMask, memory: Sequences | None = None) -> Any:
        """The initial weights; of the features only the shapes count."""
        ...

    def __call__(self, weights: Any, features: Any, mask: ActionMask) -> tuple[MaskedCategorical, Critic]:
        """(distribution over A, critic); of a network without memory."""
        ...

    def policy(self, weights: Any, features: Any, mask: ActionMask) -> MaskedCategorical:
        """The distribution alone."""
        ...

    def critic(self, weights: Any, features: Any) -> Critic:
        """The critic alone."""
        ...

    def replay(
        self, weights: Any, features: Any, mask: ActionMask, memory: Sequences
    ) -> tuple[MaskedCategorical, Critic, jax.Array]:
        """(distribution, critic, carry after the sequences [N, H]); of a network with memory."""
        ...


@dataclasses.dataclass(frozen=True)
class FlaxNetwork:
    """An actor-critic module as pure functions of its weights."""

    module: ActorCritic

    @property
    def memory(self) -> int:
        """H, the units of a carry; 0 without memory."""
        return self.module.memory

    def read(self, env: Environment, observation: Any, params: Any) -> Any:
        """The features of one observation."""
        return self.module.read(env, observation, params)

    def init(self, key: Key, features: Any, mask: ActionMask, memory: Sequences | None = None) -> Any:
        """The initial weights."""
        if memory is None:
            return self.module.init(key, features, mask)
        return self.module.init(key, features, mask, memory, method=ActorCritic.replay)

    def __call__(self, weights: Any, features: Any, mask: ActionMask) -> tuple[MaskedCategorical, Critic]:
        """(distribution over A, critic)."""
        found: Any = self.module.apply(weights, features, mask)
        return found

    def policy(self, weights: Any, features: Any, mask: ActionMask) -> MaskedCategorical:
        """The distribution alone."""
        found: Any = self.module.apply(weights, features, mask, method=ActorCritic.policy)
        return found

    def critic(self, weights: Any, features: Any) -> Critic:
        """The critic alone."""
        found: Any = self.module.apply(weights, features, method=ActorCritic.criticize)
        return found

    def replay(
        self, weights: Any, features: Any, mask: ActionMask, memory: Sequences
    ) -> tuple[MaskedCategorical, Critic, jax.Array]:
        """(distribution, critic, carry after the sequences)."""
        found: Any = self.module.apply(weights, features, mask, memory, method=ActorCritic.replay)
        return found


ENCODERS: dict[str, Callable[[Network, int], ActorCritic]] = {
    "flat": ActorCritic.from_settings,
    "entities": EntityActorCritic.from_settings,
}


def make_network(settings: Network, num_actions: int) -> PureNetwork:
    """The network that the settings describe."""
    if settings.module:
        network = own_network(settings)
    else:
        network = FlaxNetwork(ENCODERS[settings.encoder](settings, num_actions))
    return NormalizedNetwork(network) if settings.normalize_observations else network
