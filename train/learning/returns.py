"""Returns and advantages that treat termination and truncation separately, and the scale of rewards."""

import jax
import jax.numpy as jnp
from jax import lax

from train.experience.rollout import Transition
from train.lanes import Lanes
from train.networks.normalization import LIMIT, Moments
from train.settings.groups import Hyper


def estimated(steps: Transition, last_value: jax.Array, hyper: Hyper) -> tuple[jax.Array, jax.Array]:
    """Advantages and value targets of a rollout, both [T, B] float32, in scaled reward.

    They are generalized advantages (Schulman et al. 2016, eq. 16; Pardo et al. 2018). A terminated episode's future is
    worth 0, a truncated one's V(its last observation); where truncated episodes were not valued, the time limit counts
    as termination.

    delta_t = r_t + gamma (1 - terminated_t) V(true next observation_t) - V(s_t)
    A_t     = delta_t + gamma lambda (1 - (terminated_t or truncated_t)) A_{t+1}

    With V(s) = max_a Q(s, a) over the legal actions the targets are Q(lambda) returns (Peng and Williams 1996; Gallici
    et al. 2024, section 4).

    Args:
        steps: of the rollout, [T, B].
        last_value: [B] float32, V(observation after the last step).
        hyper: the hyperparameters.
    """
    next_values = jnp.concatenate([steps.value[1:], last_value[None]])
    is_final = steps.ended
    if steps.final_value is not None:  # the next observation that is stored belongs to the next episode
        next_values, is_final = jnp.where(steps.truncated, steps.final_value, next_values), steps.terminated
    rewards = steps.reward * hyper.reward_scale
    deltas = rewards + hyper.gamma * jnp.where(is_final, 0.0, next_values) - steps.value
    decays = hyper.gamma * hyper.gae_lambda * jnp.where(steps.ended, 0.0, 1.0)

    def backward(following: jax.Array, step: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        delta, decay = step
        advantage = delta + decay * following
        return advantage, advantage

    _, advantages = lax.scan(backward, jnp.zeros_like(deltas[0]), (deltas, decays), reverse=True)
    return advantages, advantages + steps.value


def scaled(rewards: jax.Array, returns: Moments | None) -> jax.Array:
    """[T, B] float32: rewards in units of the standard deviation of the discounted return, clipped.

    The return that an agent has collected so far, discounted step by step, is a number for each row of the batch; its
    variance is estimated over all that were seen (Engstrom et al. 2020, "Implementation matters", appendix A.2).

    Args:
        rewards: [T, B] float32.
        returns: of one number, as they were before this update; of none before the first one, by which rewards stay.
            None where they are not scaled.
    """
    return rewards if returns is None else jnp.clip(rewards / returns.deviation()[0], -LIMIT, LIMIT)


def counted(
    so_far: jax.Array | None, returns: Moments | None, steps: Transition, gamma: jax.Array | float, lanes: Lanes
) -> tuple[jax.Array | None, Moments | None]:
    """(the discounted return of each row's episode up to now [B], the moments of them) with a rollout counted.

    Args:
        so_far: [B] float32, before the rollout, of a lane. Like `returns` it is None where rewards are not scaled.
        returns: the moments before it, over all lanes.
        steps: of the rollout, [T, B], with unscaled rewards.
        gamma: discount.
        lanes: whose returns count alike.
    """
    if so_far is None or returns is None:
        return so_far, returns
    so_far, seen = discounted(so_far, steps.reward, steps.ended, gamma)
    return so_far, returns.merge(Moments.of(seen[..., None]).over(lanes))


def discounted(
    so_far: jax.Array, rewards: jax.Array, ended: jax.Array, gamma: jax.Array | float
) -> tuple[jax.Array, jax.Array]:
    """(after the rollout [B], at each step [T, B]): R_t = gamma R_{t-1} + r_t, and 0 when an episode begins."""

    def step(before: jax.Array, now: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        reward, ends = now
        found = gamma * before + reward
        return jnp.where(ends, 0.0, found), found

    return lax.scan(step, so_far, (rewards, ended))
