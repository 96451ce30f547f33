"""Networks as pure functions of weights, and the networks of the settings."""

import dataclasses
from collections.abc import Callable
from typing import Any

from jaxenv.core import Environment
from jaxenv.core.types import ActionMask, Key
from train.networks.actor_critic import ActorCritic
from train.networks.custom import CustomNetwork, custom_network
from train.networks.entities import EntityActorCritic
from train.networks.layers import Carry, Sequences
from train.networks.normalization import NormalizedNetwork
from train.networks.outputs import Critic, MaskedCategorical
from train.settings.groups import Network


@dataclasses.dataclass(frozen=True)
class FlaxNetwork:
    """An actor-critic module as pure functions of its weights."""

    module: ActorCritic

    @property
    def carry_size(self) -> int:
        """H, the units of a carry; 0 without memory."""
        return self.module.carry_size

    def read(self, env: Environment, observation: Any, params: Any) -> Any:
        """The features of one observation: an array or a tree of them."""
        return self.module.read(env, observation, params)

    def init(self, key: Key, features: Any, mask: ActionMask, sequences: Sequences | None = None) -> Any:
        """The initial weights; of the features only the shapes count."""
        return self.module.init(key, features, mask, sequences)

    def __call__(
        self, weights: Any, features: Any, mask: ActionMask, sequences: Sequences | None = None
    ) -> tuple[MaskedCategorical, Critic, Carry]:
        """(distribution over A, critic, carry after the sequences [N, H]); without memory there are none of either."""
        found: Any = self.module.apply(weights, features, mask, sequences)
        return found


PureNetwork = FlaxNetwork | CustomNetwork | NormalizedNetwork
"""A network as pure functions of weights: `read` the features of an observation, `init` weights, and call.

Features and masks ([..., A] bool) have any leading axes [...], sequences [N, T]. A compiled program that uses the
distribution or the critic alone computes no more than that.
"""


ENCODERS: dict[str, Callable[[Network, int], ActorCritic]] = {
    "flat": ActorCritic.from_settings,
    "entities": EntityActorCritic.from_settings,
}


def make_network(settings: Network, num_actions: int) -> PureNetwork:
    """The network that the settings describe."""
    if settings.module:
        network = custom_network(settings)
    else:
        network = FlaxNetwork(ENCODERS[settings.encoder](settings, num_actions))
    return NormalizedNetwork(network) if settings.normalize_observations else network
