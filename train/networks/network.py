"""What a network is, and which ones there are."""

from collections.abc import Callable
from typing import Any, Protocol

from jaxenv.core import Environment
from jaxenv.core.types import Key
from train.networks.actor_critic import ActorCritic
from train.networks.entities import EntityActorCritic
from train.networks.normalized import NormalizedNetwork
from train.networks.own import own_network
from train.settings.groups import Network


class PureNetwork(Protocol):
    """Pure functions of weights, with the names of a linen module's methods.

    `apply(weights, features, mask)` returns (distribution, value); with `method="policy"` only the distribution, with
    `method="value"` and no mask only the value. A network with memory has `method="replay"` in their place, see
    `ActorCritic.replay`.
    """

    @property
    def memory(self) -> int:
        """H, the units of a carry; 0 without memory."""
        ...

    def read(self, env: Environment, observation: Any, params: Any) -> Any:
        """The features of one observation: an array or a tree of them."""
        ...

    def init(self, rngs: Key, features: Any, mask: Any, *args: Any, method: str | None = None) -> Any:
        """The initial weights."""
        ...

    def apply(self, variables: Any, features: Any, *args: Any, method: str | None = None) -> Any:
        """The network's outputs for features."""
        ...


ENCODERS: dict[str, Callable[[Network, int], PureNetwork]] = {
    "flat": ActorCritic.from_settings,
    "entities": EntityActorCritic.from_settings,
}


def make_network(settings: Network, num_actions: int) -> PureNetwork:
    """The network that the settings describe."""
    network = own_network(settings) if settings.module else ENCODERS[settings.encoder](settings, num_actions)
    return NormalizedNetwork(network) if settings.normalize_observations else network
