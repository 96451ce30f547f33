"""Stopping an update early: no more gradient steps once the policy is too far from the one that acted.

The usual rule (`target_kl` of Stable-Baselines3, without its factor of 1.5): the minibatch in which the approximate KL
divergence exceeds the target is not learned from, and nor is any after it. Shapes stay: steps are counted.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxenv.core.environment import select
from jaxenv.core.types import Key
from train.ppo import learner
from train.ppo.losses import Batch, Losses
from train.settings.groups import Rollout

Terms = tuple[Losses, jax.Array]  # of the loss, and the norm of the gradient
Step = Callable[[Any, Batch], tuple[Any, Terms]]


class Learned(NamedTuple):
    """The result of learning from one batch."""

    learner: learner.Learner
    terms: Terms  # each [epochs, minibatches], zeros where nothing was computed
    means: Terms  # each [], over the minibatches for which they were computed
    steps_made: jax.Array | None  # [] float32, the share of the gradient steps that were made; None if none can stop


def learn(
    key: Key, before: learner.Learner, batch: Batch, step: Step, sizes: Rollout, target_kl: jax.Array | float | None
) -> Learned:
    """`learner.learn`, stopped by a target KL divergence in nats, or without one never."""
    if target_kl is None:
        after, terms = learner.learn(key, before, batch, step, sizes)
        return Learned(after, terms, jax.tree.map(jnp.mean, terms), None)
    first = (before, jnp.bool_(False))
    found: Any = learner.learn(key, first, batch, stopping(step, target_kl), sizes)
    (after, _), (terms, is_computed, is_made) = found
    return Learned(after, terms, mean_where(is_computed, terms), jnp.mean(is_made, dtype=jnp.float32))


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
        stops = is_stopped | (terms[0].approx_kl > target_kl)
        return (select(stops, learner, following), stops), (terms, ~is_stopped, ~stops)

    return guarded


def mean_where(wanted: jax.Array, terms: Terms) -> Terms:
    """The mean of each term over the minibatches that are wanted; all arrays are [epochs, minibatches]."""
    return jax.tree.map(lambda x: jnp.mean(x, where=wanted), terms)
