"""Learning from samples: passes over them in minibatches, and a step along the mean gradient of each."""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax import lax

from jaxenv.core.types import Key
from train.lanes import Lanes

Learner = tuple[Any, optax.OptState]
"""Weights, and the state of the optimizer."""


def passes(
    key: Key, learner: Any, rows: Any, step: Callable[..., Any], *, epochs: int, minibatch_size: int
) -> tuple[Any, Any]:
    """Several epochs over samples, each in a new order: (learner, outputs of the steps [epochs, minibatches]).

    Args:
        key: random key.
        learner: the state that a step changes.
        rows: a tree of samples, each array with a leading axis N.
        step: (learner, minibatch) -> (learner, outputs).
        epochs: passes over the samples.
        minibatch_size: samples of a step, which divide N.
    """
    size = jax.tree.leaves(rows)[0].shape[0]

    def minibatch(learner: Any, indices: jax.Array) -> Any:
        return step(learner, jax.tree.map(lambda x: x[indices], rows))

    def epoch(learner: Any, key: Key) -> Any:
        return lax.scan(minibatch, learner, shuffled(key, size, minibatch_size))

    return lax.scan(epoch, learner, jax.random.split(key, epochs))


def shuffled(key: Key, size: int, minibatch_size: int) -> jax.Array:
    """[M, size / M] int32: the indices 0 .. size - 1 in random order, split into M minibatches."""
    return jax.random.permutation(key, size).reshape(-1, minibatch_size)


def mean_gradient(loss: Callable[..., Any], weights: Any, batch: Any, microbatch_size: int) -> tuple[Any, Any]:
    """The gradient of a loss that is a mean over samples, and its terms, accumulated over parts of a size.

    Args:
        loss: (weights, batch) -> (loss, its terms).
        weights: of the network.
        batch: of samples, with an `action` for each.
        microbatch_size: the samples of a part.
    """
    gradient = jax.grad(loss, has_aux=True)
    parts = batch.action.size // microbatch_size
    if parts == 1:
        return gradient(weights, batch)
    split = jax.tree.map(lambda x: x.reshape(parts, -1, *x.shape[1:]), batch)

    def add(total: Any, part: Any) -> tuple[Any, None]:
        return jax.tree.map(jnp.add, total, gradient(weights, part)), None

    nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(gradient, weights, batch))
    total, _ = lax.scan(add, nothing, split)
    return jax.tree.map(lambda x: x / parts, total)


def descend(
    learner: Learner,
    loss: Callable[..., Any],
    batch: Any,
    optimizer: optax.GradientTransformation,
    learning_rate: jax.Array | float,
    *,
    microbatch_size: int,
    lanes: Lanes,
) -> tuple[Learner, tuple[Any, jax.Array]]:
    """One step along the optimizer's direction for the gradient of all lanes: (learner, (terms, gradient norm)).

    Args:
        learner: the weights, and the state of the optimizer.
        loss: see `mean_gradient`.
        batch: of samples, of which each lane has as many.
        optimizer: gives a direction; the learning rate is applied here.
        learning_rate: the length of the step.
        microbatch_size: see `mean_gradient`.
        lanes: over which the gradient is averaged.
    """
    weights, state = learner
    gradients, terms = lanes.mean(mean_gradient(loss, weights, batch, microbatch_size))
    directions, state = optimizer.update(gradients, state)
    changes = jax.tree.map(lambda direction: -learning_rate * direction, directions)
    return (optax.apply_updates(weights, changes), state), (terms, optax.tree.norm(gradients))


def moments(x: jax.Array, lanes: Lanes) -> tuple[jax.Array, jax.Array]:
    """Mean and variance over all samples of all lanes, both []."""
    mean = lanes.mean(x.mean())
    return mean, lanes.mean(jnp.square(x - mean).mean())


def not_finite_terms(terms: Mapping[str, jax.Array]) -> dict[str, jax.Array]:
    """Term -> [] bool: whether it is NaN or infinite in the first gradient step in which any term is.

    Args:
        terms: name -> its values in all gradient steps, arrays of one shape.
    """
    is_bad = {name: ~jnp.isfinite(term.ravel()) for name, term in terms.items()}
    first = jnp.argmax(jnp.any(jnp.stack(list(is_bad.values())), axis=0))
    return {name: bad[first] for name, bad in is_bad.items()}
