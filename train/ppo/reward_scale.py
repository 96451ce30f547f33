"""Rewards in units of the standard deviation of the discounted return, as it was before this update.

The return that an agent has collected so far, discounted step by step, is a number for each row of the batch; its
variance is estimated over all that were seen (Engstrom et al. 2020, "Implementation matters", appendix A.2).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from train.lanes import Lanes
from train.networks.moments import LIMIT, Moments


class Returns(NamedTuple):
    """The scale of the rewards; each part is None where rewards are not scaled."""

    so_far: jax.Array | None  # [B] float32, the discounted return of each row's episode up to now; of a lane
    moments: Moments | None  # of one number; over all lanes


def scale(rewards: jax.Array, returns: Returns) -> jax.Array:
    """[T, B] float32: rewards in standard deviations of the return, clipped; before the first update as they are."""
    if returns.moments is None:
        return rewards
    return jnp.clip(rewards / returns.moments.deviation()[0], -LIMIT, LIMIT)


def after(returns: Returns, rewards: jax.Array, ended: jax.Array, gamma: jax.Array | float, lanes: Lanes) -> Returns:
    """The same with a rollout counted.

    Args:
        returns: before it.
        rewards: [T, B] float32, unscaled.
        ended: [T, B] bool, the episode ended with this step.
        gamma: discount.
        lanes: whose returns count alike.
    """
    if returns.so_far is None or returns.moments is None:
        return returns
    so_far, seen = discounted(returns.so_far, rewards, ended, gamma)
    return Returns(so_far, returns.moments.merge(Moments.of(seen[..., None]).over(lanes)))


def discounted(
    so_far: jax.Array, rewards: jax.Array, ended: jax.Array, gamma: jax.Array | float
) -> tuple[jax.Array, jax.Array]:
    """(after the rollout [B], at each step [T, B]): R_t = gamma R_{t-1} + r_t, and 0 when an episode begins."""

    def step(before: jax.Array, now: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        reward, ends = now
        found = gamma * before + reward
        return jnp.where(ends, 0.0, found), found

    return lax.scan(step, so_far, (rewards, ended))
