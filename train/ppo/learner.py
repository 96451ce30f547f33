"""Learning from one batch: passes over it in minibatches, a gradient step each."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax

from jaxenv.core.types import Key
from train.lanes import Lanes
from train.learning.gradients import Learner, descend, mean_gradient, moments, passes
from train.networks.reader import Reader
from train.ppo.losses import Batch, Losses, ppo_loss
from train.settings.groups import Hyper, Rollout


def learn(
    key: Key, learner: Learner, batch: Batch, step: Callable[..., Any], sizes: Rollout
) -> tuple[Learner, tuple[Losses, jax.Array]]:
    """Several epochs over a batch ([T, B]), each in a new order: (learner, terms [epochs, minibatches])."""
    rows = samples(batch)
    size = rows.action.shape[0]
    minibatch_size = sizes.minibatch_size * size // batch.action.size  # sequences, where these are shuffled
    return passes(key, learner, rows, step, epochs=sizes.epochs, minibatch_size=minibatch_size)


def samples(batch: Batch) -> Batch:
    """A batch [T, B] as items to shuffle: single steps [T * B], or with memory whole sequences [B, T]."""
    if batch.memory is None:
        return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), batch)
    sequences = jax.tree.map(lambda x: jnp.swapaxes(x, 0, 1), batch.replace(memory=None))
    return sequences.replace(memory=batch.memory)


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
    batch = batch.replace(advantage=normalize(batch.advantage, lanes))
    loss = functools.partial(ppo_loss, reader=reader, hyper=hyper)
    gradients, losses = lanes.mean(mean_gradient(loss, learner[0], batch, microbatch_size))
    learner = descend(learner, gradients, make_optimizer(hyper.max_grad_norm), hyper.learning_rate)
    return learner, (losses, optax.tree.norm(gradients))


def normalize(advantage: jax.Array, lanes: Lanes) -> jax.Array:
    """[N] with mean 0 and standard deviation 1, over the minibatch of all lanes (Huang et al. 2022, detail 7)."""
    mean, variance = moments(advantage, lanes)
    return (advantage - mean) / (jnp.sqrt(variance) + 1e-8)


def make_optimizer(max_grad_norm: jax.Array | float) -> optax.GradientTransformation:
    """Adam's direction for gradients clipped to a global norm; the learning rate is applied outside."""
    return optax.chain(optax.clip_by_global_norm(max_grad_norm), optax.scale_by_adam(eps=1e-5))


def explained_variance(value: jax.Array, target: jax.Array, lanes: Lanes) -> jax.Array:
    """[]: 1 - Var(target - value) / Var(target): 1 for a perfect critic, 0 for one that predicts the mean."""
    (_, unexplained), (_, variance) = moments(target - value, lanes), moments(target, lanes)
    return 1.0 - unexplained / jnp.maximum(variance, 1e-8)
