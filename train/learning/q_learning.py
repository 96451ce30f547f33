"""Parts that PQN and DQN share: values of actions, exploration, and metrics.

The network is that of PPO, an actor-critic, read as a dueling network (Wang et al. 2016, eq. 8): its value is that of
the best legal action, and its logits are advantages up to a constant,

    Q(s, a) = V(s) + l(s, a) - max_{a' legal} l(s, a').

So every encoder, and every custom network, has values of actions; V(s) is the maximum over the legal ones, the
mode of the policy is the greedy action, and a trained policy is saved, loaded and scored like any other.
"""

from collections.abc import Mapping

import jax
import jax.numpy as jnp
from flax import struct

from train.experience import rollout
from train.learning.updates import linear, not_finite_terms
from train.networks.network import PureNetwork, make_network
from train.networks.outputs import Critic, MaskedCategorical
from train.settings.config import Config
from train.settings.groups import QLearning


class Losses(struct.PyTreeNode):
    """The metrics of a gradient step, each [] float32, a mean over its samples."""

    td_loss: jax.Array  # of the distance to the targets
    q_value: jax.Array  # of the actions that were taken


class Metrics(struct.PyTreeNode):
    """Metrics of one update, or of several with a leading axis."""

    totals: rollout.EpisodeTotals
    losses: Losses  # means over the minibatches
    grad_norm: jax.Array  # [] float32, before clipping, mean over the minibatches
    not_finite: Mapping[str, jax.Array]  # term -> [] bool, NaN or infinite; if any is, the update was not made
    learning_rate: jax.Array  # [] float32
    epsilon: jax.Array  # [] float32

    @classmethod
    def of(cls, terms: tuple[Losses, jax.Array], totals: rollout.EpisodeTotals, **schedules: jax.Array) -> "Metrics":
        """Those of an update: the terms and gradient norms of its gradient steps, and the episodes of all lanes."""
        losses, grad_norm = jax.tree.map(jnp.mean, terms)
        bad = not_finite_terms({**vars(terms[0]), "grad_norm": terms[1]})
        return cls(totals=totals, losses=losses, grad_norm=grad_norm, not_finite=bad, **schedules)

    def means(self) -> dict[str, jax.Array]:
        """Name -> the metrics that a run averages over updates."""
        own = ("grad_norm", "learning_rate", "epsilon")
        return {**vars(self.losses), **{name: getattr(self, name) for name in own}}


def value_of(policy: MaskedCategorical, critic: Critic, action: jax.Array) -> jax.Array:
    """[...] float32: Q of one legal action for each value, both [...]; that of the mode is the value itself."""
    return critic.value + policy.log_prob(action) - jnp.max(policy.log_probs, axis=-1)


def epsilon_of(settings: QLearning, progress: jax.Array | float) -> jax.Array:
    """[] float32: the probability of a random action when this share of the run, within 0..1, is done."""
    decayed = jnp.minimum(progress / settings.epsilon_fraction, 1.0) if settings.epsilon_fraction else 1.0
    return linear(settings.epsilon_start, settings.epsilon_end, decayed)


def exploring(epsilon: jax.Array | float) -> rollout.Explore:
    """(policy, masks) -> the epsilon-greedy distribution that acts in its place."""
    return lambda policy, mask: policy.or_uniform(mask, epsilon)


def network_of(config: Config, num_actions: int) -> PureNetwork:
    """The network of the settings, which must be without memory.

    Raises:
        ValueError: for one with a recurrent core.
    """
    network = make_network(config.network, num_actions)
    if network.carry_size:
        raise ValueError("only ppo trains a network with memory: expected core none, got gru")
    return network
