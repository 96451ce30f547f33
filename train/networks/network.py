"""Networks as pure functions of weights, and the networks of the settings."""

from jaxenv.host.names import require_one_of
from train.networks.actor_critic import ActorCritic
from train.networks.custom import CustomNetwork, custom_network
from train.networks.entities import EntityActorCritic
from train.networks.normalization import NormalizedNetwork
from train.networks.outputs import CRITICS
from train.settings.groups import Network

PureNetwork = ActorCritic | CustomNetwork | NormalizedNetwork
"""A network as pure functions: `read` gives the features of an observation, `init` weights, and `apply` with weights a
distribution, a critic, and the carry after the sequences; `carry_size` is H, the units of a carry, 0 without memory.

Features and masks ([..., A] bool) have any leading axes [...], sequences [N, T]. A compiled program that uses the
distribution or the critic alone computes no more than that.
"""


ENCODERS: dict[str, type[ActorCritic]] = {"flat": ActorCritic, "entities": EntityActorCritic}


def make_network(settings: Network, num_actions: int) -> PureNetwork:
    """The network that the settings describe; a ValueError for a critic that is no row of `CRITICS`."""
    if settings.module:
        network = custom_network(settings)
    else:
        require_one_of(settings.critic, CRITICS, f"no critic {settings.critic!r}")
        network = ENCODERS[settings.encoder](settings, num_actions, CRITICS[settings.critic])
    return NormalizedNetwork(network) if settings.normalize_observations else network
