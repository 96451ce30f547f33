"""Learning from one batch: passes over it in minibatches, a gradient step each."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax import lax

from jaxenv.core.types import Key
from train.lanes import Lanes
from train.networks.reader import Reader
from train.ppo.losses import Batch, Losses, ppo_loss
from train.settings.config import Hyper, Rollout

Learner = tuple[Any, optax.OptState]  # weights, and the state of the optimizer


def learn(
    key: Key, learner: Learner, batch: Batch, step: Callable[..., Any], sizes: Rollout
) -> tuple[Learner, tuple[Losses, jax.Array]]:
    """Several epochs over a batch ([T, B]), each in a new order: (learner, terms [epochs, minibatches])."""
    rows = samples(batch)
    size = rows.action.shape[0]
    minibatch_size = sizes.minibatch_size * size // batch.action.size  # sequences, where these are shuffled

    def minibatch(learner: Any, indices: jax.Array) -> Any:
        return step(learner, jax.tree.map(lambda x: x[indices], rows))

    def epoch(learner: Any, key: Key) -> Any:
        return lax.scan(minibatch, learner, shuffled(key, size, minibatch_size))

    return lax.scan(epoch, learner, jax.random.split(key, sizes.epochs))


def samples(batch: Batch) -> Batch:
    """A batch [T, B] as what is shuffled: single steps [T * B], or with memory whole sequences [B, T]."""
    if batch.memory is None:
        return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), batch)
    sequences = jax.tree.map(lambda x: jnp.swapaxes(x, 0, 1), batch.replace(memory=None))
    return sequences.replace(memory=batch.memory)


def shuffled(key: Key, size: int, minibatch_size: int) -> jax.Array:
    """[M, size / M] int32: the indices 0 .. size - 1 in random order, split into M minibatches."""
    return jax.random.permutation(key, size).reshape(-1, minibatch_size)


def gradient_step(
    learner: Learner,
    batch: Batch,
    *,
    reader: Reader,
    hyper: Hyper,
    learning_rate: jax.Array | float,
    entropy_coef: jax.Array | float,
    microbatch_size: int,
    lanes: Lanes,
) -> tuple[Learner, tuple[Losses, jax.Array]]:
    """One optimizer step on a minibatch, of which each lane has [N]: (learner, (terms of the loss, gradient norm))."""
    weights, optimizer = learner
    batch = batch.replace(advantage=normalize(batch.advantage, lanes))
    loss = functools.partial(ppo_loss, reader=reader, hyper=hyper, entropy_coef=entropy_coef)
    gradients, losses = lanes.mean(mean_gradient(loss, weights, batch, microbatch_size))
    directions, optimizer = make_optimizer(hyper.max_grad_norm).update(gradients, optimizer)
    changes = jax.tree.map(lambda direction: -learning_rate * direction, directions)
    return (optax.apply_updates(weights, changes), optimizer), (losses, optax.tree.norm(gradients))


def mean_gradient(loss: Callable[..., Any], weights: Any, batch: Batch, microbatch_size: int) -> tuple[Any, Losses]:
    """The gradient of a loss that is a mean over samples, and its terms, accumulated over parts of a size."""
    gradient = jax.grad(loss, has_aux=True)
    parts = batch.action.size // microbatch_size
    if parts == 1:
        return gradient(weights, batch)
    split = jax.tree.map(lambda x: x.reshape(parts, -1, *x.shape[1:]), batch)

    def add(total: Any, part: Batch) -> tuple[Any, None]:
        return jax.tree.map(jnp.add, total, gradient(weights, part)), None

    nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(gradient, weights, batch))
    total, _ = lax.scan(add, nothing, split)
    return jax.tree.map(lambda x: x / parts, total)


def normalize(advantage: jax.Array, lanes: Lanes) -> jax.Array:
    """[N] with mean 0 and standard deviation 1, over the minibatch of all lanes (Huang et al. 2022, detail 7)."""
    mean, variance = moments(advantage, lanes)
    return (advantage - mean) / (jnp.sqrt(variance) + 1e-8)


def moments(x: jax.Array, lanes: Lanes) -> tuple[jax.Array, jax.Array]:
    """Mean and variance over all samples of all lanes, both []."""
    mean = lanes.mean(x.mean())
    return mean, lanes.mean(jnp.square(x - mean).mean())


def make_optimizer(max_grad_norm: jax.Array | float) -> optax.GradientTransformation:
    """Adam's direction for gradients clipped to a global norm; the learning rate is applied outside."""
    return optax.chain(optax.clip_by_global_norm(max_grad_norm), optax.scale_by_adam(eps=1e-5))


def not_finite_terms(losses: Losses, grad_norm: jax.Array) -> dict[str, jax.Array]:
    """Term -> [] bool: whether it is NaN or infinite in the first gradient step in which any term is.

    Args:
        losses: of all gradient steps, each [epochs, minibatches].
        grad_norm: likewise.
    """
    is_bad = {name: ~jnp.isfinite(term.ravel()) for name, term in {**vars(losses), "grad_norm": grad_norm}.items()}
    first = jnp.argmax(jnp.any(jnp.stack(list(is_bad.values())), axis=0))
    return {name: bad[first] for name, bad in is_bad.items()}


def explained_variance(value: jax.Array, target: jax.Array, lanes: Lanes) -> jax.Array:
    """[]: 1 - Var(target - value) / Var(target): 1 for a perfect critic, 0 for one that predicts the mean."""
    (_, unexplained), (_, variance) = moments(target - value, lanes), moments(target, lanes)
    return 1.0 - unexplained / jnp.maximum(variance, 1e-8)
