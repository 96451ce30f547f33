"""A gradient step of PQN: values of actions move towards returns."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import struct

from train.lanes import Lanes
from train.learning.gradients import Learner, descend, mean_gradient
from train.learning.q_learning import Losses, value_of
from train.networks.reader import Reader
from train.settings.groups import Hyper


class Batch(struct.PyTreeNode):
    """Training samples, with leading axes [T, B] as collected, and as shuffled [N]."""

    observation: Any  # the record in which the action was taken, its mask included
    action: jax.Array  # [...] int32
    target: jax.Array  # [...] float32, the return that Q(observation, action) is to be


def squared_error(weights: Any, batch: Batch, *, reader: Reader) -> tuple[jax.Array, Losses]:
    """(0.5 mean (Q(s, a) - G)^2, its terms), each [] float32."""
    found = value_of(*reader(weights, batch.observation), batch.action)
    loss = 0.5 * jnp.mean(jnp.square(found - batch.target))
    return loss, Losses(td_loss=loss, q_value=jnp.mean(found))


def gradient_step(
    learner: Learner,
    batch: Batch,
    *,
    reader: Reader,
    hyper: Hyper,
    microbatch_size: int,
    lanes: Lanes,
) -> tuple[Learner, tuple[Losses, jax.Array]]:
    """One optimizer step on a minibatch, of which each lane has [N]: (learner, (terms of the loss, gradient norm))."""
    loss = functools.partial(squared_error, reader=reader)
    gradients, losses = lanes.mean(mean_gradient(loss, learner[0], batch, microbatch_size))
    learner = descend(learner, gradients, make_optimizer(hyper.max_grad_norm), hyper.learning_rate)
    return learner, (losses, optax.tree.norm(gradients))


def make_optimizer(max_grad_norm: jax.Array | float) -> optax.GradientTransformation:
    """The direction of rectified Adam (Liu et al. 2020) for gradients clipped to a global norm."""
    return optax.chain(optax.clip_by_global_norm(max_grad_norm), optax.scale_by_radam())
