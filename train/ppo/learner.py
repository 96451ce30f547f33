"""Learning from one batch: passes over it in minibatches, until the policy is too far from the one that acted.

It stops early by the usual rule (`target_kl` of Stable-Baselines3, without its factor of 1.5): the minibatch in which
the approximate KL divergence exceeds the target is not learned from, nor is any after it. Shapes stay: steps are
counted.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax import lax

from jaxenv.core.environment import select
from jaxenv.core.types import Key
from train.lanes import Lanes
from train.learning.updates import Learner, Terms, descend, moments, passes
from train.networks.policy import Reader
from train.ppo.losses import Batch, ppo_loss
from train.settings.groups import Hyper, Rollout

DIRECTION = optax.scale_by_adam(eps=1e-5)
Step = Callable[[Any, Batch], tuple[Any, Terms]]


def learn(
    key: Key, before: Learner, batch: Batch, step: Step, sizes: Rollout, target_kl: jax.Array | float | None
) -> tuple[Learner, Terms, Terms]:
    """The epochs of an update, stopped by a target KL divergence in nats, or without one never.

    Returns:
        (learner; terms, each [epochs, minibatches], zeros where nothing was computed; their means, each [], over the
        minibatches for which they were computed). With a target `steps_made` among the means is the share of the
        gradient steps that were made.
    """
    if target_kl is None:
        after, terms = in_epochs(key, before, batch, step, sizes)
        return after, terms, jax.tree.map(jnp.mean, terms)
    first = (before, jnp.bool_(False))
    (after, _), (terms, is_computed, is_made) = in_epochs(key, first, batch, stopping(step, target_kl), sizes)
    means = jax.tree.map(lambda x: jnp.mean(x, where=is_computed), terms)
    return after, terms, means | {"steps_made": jnp.mean(is_made, dtype=jnp.float32)}


def in_epochs(key: Key, learner: Any, batch: Batch, step: Callable[..., Any], sizes: Rollout) -> tuple[Any, Any]:
    """Several epochs over a batch ([T, B]), each in a new order: (learner, terms [epochs, minibatches])."""
    rows = samples(batch)
    size = rows.action.shape[0]
    minibatch_size = sizes.minibatch_size * size // batch.action.size  # sequences, where these are shuffled
    return passes(key, learner, rows, step, epochs=sizes.epochs, minibatch_size=minibatch_size)


def samples(batch: Batch) -> Batch:
    """A batch [T, B] as items to shuffle: single steps [T * B], or with memory whole sequences [B, T]."""
    if batch.sequences is None:
        return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), batch)
    sequences = jax.tree.map(lambda x: jnp.swapaxes(x, 0, 1), batch.replace(sequences=None))
    return sequences.replace(sequences=batch.sequences)


def gradient_step(
    learner: Learner, batch: Batch, *, reader: Reader, hyper: Hyper, microbatch_size: int, lanes: Lanes
) -> tuple[Learner, Terms]:
    """One optimizer step on a minibatch, of which each lane has [N]: (learner, terms of the loss)."""
    batch = batch.replace(advantage=normalize(batch.advantage, lanes))
    loss = functools.partial(ppo_loss, reader=reader, hyper=hyper)
    return descend(
        learner, batch, loss=loss, direction=DIRECTION, hyper=hyper, microbatch_size=microbatch_size, lanes=lanes
    )


def normalize(advantage: jax.Array, lanes: Lanes) -> jax.Array:
    """[N] with mean 0 and standard deviation 1, over the minibatch of all lanes (Huang et al. 2022, detail 7)."""
    mean, variance = moments(advantage, lanes)
    return (advantage - mean) / (jnp.sqrt(variance) + 1e-8)


def explained_variance(value: jax.Array, target: jax.Array, lanes: Lanes) -> jax.Array:
    """[]: 1 - Var(target - value) / Var(target): 1 for a perfect critic, 0 for one that predicts the mean."""
    (_, unexplained), (_, variance) = moments(target - value, lanes), moments(target, lanes)
    return 1.0 - unexplained / jnp.maximum(variance, 1e-8)


def stopping(step: Step, target_kl: jax.Array | float) -> Callable[..., Any]:
    """A gradient step that is skipped once a minibatch had a greater KL divergence.

    That divergence is a mean over lanes, so all of them stop together.

    Args:
        step: (learner, minibatch) -> (learner, terms).
        target_kl: [] float32, nats; `inf` never stops.

    Returns:
        The function ((learner, is stopped), minibatch) -> ((learner, is stopped), (terms, is computed, is made)).
    """

    def guarded(before: tuple[Any, jax.Array], batch: Batch) -> Any:
        learner, is_stopped = before

        def compute(learner: Any) -> tuple[Any, Terms]:
            return step(learner, batch)

        def skip(learner: Any) -> tuple[Any, Terms]:
            _, terms = jax.eval_shape(compute, learner)
            return learner, jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), terms)

        following, terms = lax.cond(is_stopped, skip, compute, learner)
        stops = is_stopped | (terms["approx_kl"] > target_kl)
        return (select(stops, learner, following), stops), (terms, ~is_stopped, ~stops)

    return guarded
