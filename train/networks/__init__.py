"""The networks: from what they read of an observation, and its mask, to a distribution over actions and a value."""

from typing import Any, Protocol

from jaxenv.core import Environment
from jaxenv.core.types import Key
from train.config import Network
from train.networks.entities import EntityActorCritic
from train.networks.mlp import ActorCritic


class PureNetwork(Protocol):
    """What is asked of a network: pure functions of its weights, named as those of a linen module are.

    `apply(weights, features, mask)` gives (distribution, value); `method="policy"` the distribution alone,
    `method="value"` and no mask the value alone.
    """

    def read(self, env: Environment, observation: Any, params: Any) -> Any:
        """The features of one observation that the network takes: an array or a tree of them."""
        ...

    def init(self, rngs: Key, *args: Any) -> Any:
        """The first weights."""
        ...

    def apply(self, variables: Any, *args: Any, method: str | None = None) -> Any:
        """What the weights make of an observation."""
        ...


def make_network(config: Network, num_actions: int) -> PureNetwork:
    """The network that a run is told to train."""
    hidden = tuple(config.hidden)
    if config.encoder == "entities":
        return EntityActorCritic(
            num_actions, config.embedding, hidden, config.activation, config.shared_trunk, config.sees_actions
        )
    return ActorCritic(num_actions, hidden, config.activation, config.shared_trunk)
