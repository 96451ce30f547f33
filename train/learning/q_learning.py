"""Parts that PQN and DQN share: values of actions, exploration, and metrics.

The network is that of PPO, an actor-critic, read as a dueling network (Wang et al. 2016, eq. 8): its value is that of
the best legal action, and its logits are advantages up to a constant,

    Q(s, a) = V(s) + l(s, a) - max_{a' legal} l(s, a').

So every encoder, and every custom network, has values of actions; V(s) is the maximum over the legal ones, the
mode of the policy is the greedy action, and a trained policy is saved, loaded and scored like any other.
"""

import jax
import jax.numpy as jnp

from train.experience import rollout
from train.learning.algorithm import Metrics
from train.learning.updates import Terms, linear, not_finite_terms
from train.networks.outputs import Critic, MaskedCategorical
from train.settings.groups import Hyper, QLearning


def metrics_of(terms: Terms, totals: rollout.EpisodeTotals, hyper: Hyper, epsilon: jax.Array) -> Metrics:
    """Those of an update: the terms of its gradient steps, and the episodes of all lanes."""
    schedules = {"learning_rate": jnp.asarray(hyper.learning_rate), "epsilon": epsilon}
    return Metrics(totals, {**jax.tree.map(jnp.mean, terms), **schedules}, not_finite_terms(terms))


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
