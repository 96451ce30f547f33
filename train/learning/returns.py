"""Returns and advantages that treat termination and truncation separately, and the scale of rewards."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from train.experience.rollout import Transition
from train.lanes import Lanes
from train.networks.normalization import LIMIT, Moments
from train.settings.groups import Hyper


def true_next_values(
    values: jax.Array, last_value: jax.Array, final_values: jax.Array | None, truncated: jax.Array
) -> jax.Array:
    """[T, B]: V of the observation that actually followed each step.

    Args:
        values: [T, B], V of the observation in which each action was taken.
        last_value: [B], V of the observation after the last step.
        final_values: [T, B], V of the last observation of an episode; read only where `truncated`. None if a truncated
            step counts as terminated, so that nothing follows it.
        truncated: [T, B] bool; there the next stored observation already belongs to the next episode.
    """
    following = jnp.concatenate([values[1:], last_value[None]])
    return following if final_values is None else jnp.where(truncated, final_values, following)


def generalized_advantages(
    *,
    rewards: jax.Array,
    values: jax.Array,
    next_values: jax.Array,
    terminated: jax.Array,
    truncated: jax.Array,
    gamma: jax.Array | float,
    gae_lambda: jax.Array | float,
) -> tuple[jax.Array, jax.Array]:
    """Advantages and value targets, both [T, B] float32 (Schulman et al. 2016, eq. 16; Pardo et al. 2018).

    delta_t = r_t + gamma (1 - terminated_t) V(true next observation_t) - V(s_t)
    A_t     = delta_t + gamma lambda (1 - (terminated_t or truncated_t)) A_{t+1}

    Args:
        rewards: [T, B] float32.
        values: [T, B] float32, V(s_t).
        next_values: [T, B] float32, see `true_next_values`.
        terminated: [T, B] bool, the episode ended: its future is worth 0.
        truncated: [T, B] bool, the episode was cut: its future is worth V(next observation).
        gamma: discount.
        gae_lambda: weight of longer returns, 0 for one-step and 1 for Monte Carlo.
    """
    deltas = rewards + gamma * jnp.where(terminated, 0.0, next_values) - values
    decays = gamma * gae_lambda * jnp.where(terminated | truncated, 0.0, 1.0)

    def backward(following: jax.Array, step: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        delta, decay = step
        advantage = delta + decay * following
        return advantage, advantage

    _, advantages = lax.scan(backward, jnp.zeros_like(deltas[0]), (deltas, decays), reverse=True)
    return advantages, advantages + values


def estimated(steps: Transition, last_value: jax.Array, hyper: Hyper) -> tuple[jax.Array, jax.Array]:
    """Advantages and value targets of a rollout, both [T, B] float32, in scaled reward.

    Where truncated episodes were not valued, the time limit counts as termination. With V(s) = max_a Q(s, a) over the
    legal actions the targets are Q(lambda) returns (Peng and Williams 1996; Gallici et al. 2024, section 4).

    Args:
        steps: of the rollout, [T, B].
        last_value: [B] float32, V(observation after the last step).
        hyper: the hyperparameters.
    """
    return generalized_advantages(
        rewards=steps.reward * hyper.reward_scale,
        values=steps.value,
        next_values=true_next_values(steps.value, last_value, steps.final_value, steps.truncated),
        terminated=steps.ended if steps.final_value is None else steps.terminated,
        truncated=steps.truncated,
        gamma=hyper.gamma,
        gae_lambda=hyper.gae_lambda,
    )


class RewardScale(NamedTuple):
    """Rewards in units of the standard deviation of the discounted return, as it was before this update.

    The return that an agent has collected so far, discounted step by step, is a number for each row of the batch; its
    variance is estimated over all that were seen (Engstrom et al. 2020, "Implementation matters", appendix A.2). Each
    part is None where rewards are not scaled.
    """

    so_far: jax.Array | None  # [B] float32, the discounted return of each row's episode up to now; of a lane
    moments: Moments | None  # of one number; over all lanes

    def apply(self, rewards: jax.Array) -> jax.Array:
        """[T, B] float32: rewards in standard deviations, clipped; before the first update as they are."""
        if self.moments is None:
            return rewards
        return jnp.clip(rewards / self.moments.deviation()[0], -LIMIT, LIMIT)

    def after(self, rewards: jax.Array, ended: jax.Array, gamma: jax.Array | float, lanes: Lanes) -> "RewardScale":
        """The same with a rollout counted.

        Args:
            rewards: [T, B] float32, unscaled.
            ended: [T, B] bool, the episode ended with this step.
            gamma: discount.
            lanes: whose returns count alike.
        """
        if self.so_far is None or self.moments is None:
            return self
        so_far, seen = discounted(self.so_far, rewards, ended, gamma)
        return RewardScale(so_far, self.moments.merge(Moments.of(seen[..., None]).over(lanes)))


def discounted(
    so_far: jax.Array, rewards: jax.Array, ended: jax.Array, gamma: jax.Array | float
) -> tuple[jax.Array, jax.Array]:
    """(after the rollout [B], at each step [T, B]): R_t = gamma R_{t-1} + r_t, and 0 when an episode begins."""

    def step(before: jax.Array, now: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        reward, ends = now
        found = gamma * before + reward
        return jnp.where(ends, 0.0, found), found

    return lax.scan(step, so_far, (rewards, ended))
