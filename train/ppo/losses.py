"""The objective of PPO (Schulman et al. 2017) on one minibatch."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

from train.learning.updates import Terms
from train.networks.layers import Sequences
from train.networks.policy import Reader
from train.settings.groups import Hyper


class Batch(struct.PyTreeNode):
    """Training samples, with leading axes [T, B] as collected, and as shuffled [N], or with memory [N, T]."""

    observation: Any  # the record in which the action was taken, its mask included
    action: jax.Array  # [...] int32
    log_prob: jax.Array  # [...] float32, under the policy that acted
    value: jax.Array  # [...] float32, of the critic at that time
    advantage: jax.Array  # [...] float32; normalized where the loss is computed
    target: jax.Array  # [...] float32, target of the value
    taught: jax.Array | None = None  # [...] int32, the teacher's action; None without one
    sequences: Sequences | None = None  # of N = B sequences, for a network with memory


def ppo_loss(weights: Any, batch: Batch, *, reader: Reader, hyper: Hyper) -> tuple[jax.Array, Terms]:
    """The loss of shuffled samples and its terms, each [] float32; entropies and KL divergence in nats."""
    policy, critic = reader(weights, batch.observation, batch.sequences)
    log_ratio = policy.log_prob(batch.action) - batch.log_prob
    policy_loss = clipped_surrogate(log_ratio, batch.advantage, hyper.clip)
    value_loss = critic.loss(batch.target, batch.value, hyper)
    entropy = policy.entropy().mean()
    ratio = jnp.exp(log_ratio)
    terms = {
        "policy_loss": policy_loss,
        "value_loss": value_loss,
        "entropy": entropy,
        "approx_kl": jnp.mean(ratio - 1.0 - log_ratio),  # k3 of Schulman, "Approximating KL divergence", 2020
        "clip_fraction": jnp.mean(jnp.abs(ratio - 1.0) > hyper.clip, dtype=jnp.float32),
    }
    loss = policy_loss + hyper.value_coef * value_loss - hyper.entropy_coef * entropy
    if batch.taught is None:
        return loss, terms
    teacher_loss = -policy.log_prob(batch.taught).mean()
    return loss + hyper.teacher_coef * teacher_loss, {**terms, "teacher_loss": teacher_loss}


def clipped_surrogate(log_ratio: jax.Array, advantage: jax.Array, clip: jax.Array | float) -> jax.Array:
    """[]: -mean min(r A, clip(r, 1 - clip, 1 + clip) A), eq. 7."""
    ratio = jnp.exp(log_ratio)
    clipped = jnp.clip(ratio, 1.0 - clip, 1.0 + clip)
    return -jnp.mean(jnp.minimum(ratio * advantage, clipped * advantage))
