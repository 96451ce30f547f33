"""Returns and advantages against loops in float64, over every mix of ends."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest

from train.experience.rollout import Transition
from train.learning.returns import estimated, generalized_advantages, true_next_values
from train.settings.groups import Hyper

ENDS = list(itertools.product([False, True], repeat=2))  # (terminated, truncated) of one step


def loop(rewards, values, next_values, terminated, truncated, gamma, gae_lambda):
    advantages, following = np.zeros_like(rewards), 0.0
    for t in reversed(range(len(rewards))):
        future = 0.0 if terminated[t] else gamma * next_values[t]
        following = (
            rewards[t] + future - values[t] + (0.0 if terminated[t] or truncated[t] else gamma * gae_lambda * following)
        )
        advantages[t] = following
    return advantages


@pytest.mark.parametrize("steps", [1, 2, 4])
@pytest.mark.parametrize(("gamma", "gae_lambda"), [(1.0, 0.95), (0.9, 1.0), (0.97, 0.0)])
def test_every_mix_of_ends(steps, gamma, gae_lambda):
    """All 4^T mixes side by side: back to back, at T - 1, none at all."""
    mixes = np.array(list(itertools.product(ENDS, repeat=steps)))  # [B, T, 2]
    terminated, truncated = mixes[..., 0].T, mixes[..., 1].T
    rewards, values, next_values = np.random.default_rng(steps).normal(size=(3, steps, len(mixes)))
    advantages, targets = generalized_advantages(
        rewards=jnp.float32(rewards),
        values=jnp.float32(values),
        next_values=jnp.float32(next_values),
        terminated=jnp.asarray(terminated),
        truncated=jnp.asarray(truncated),
        gamma=gamma,
        gae_lambda=gae_lambda,
    )
    columns = zip(rewards.T, values.T, next_values.T, terminated.T, truncated.T, strict=True)
    expected = np.stack([loop(*column, gamma, gae_lambda) for column in columns], axis=1)
    np.testing.assert_allclose(advantages, expected, atol=1e-5)
    np.testing.assert_allclose(targets, expected + values, atol=1e-5)


def test_a_truncated_step_is_followed_by_its_final_observation():
    found = true_next_values(
        values=jnp.array([[1.0], [2.0], [3.0]]),
        last_value=jnp.array([4.0]),
        final_values=jnp.array([[10.0], [20.0], [30.0]]),
        truncated=jnp.array([[False], [True], [False]]),
    )
    np.testing.assert_array_equal(found, [[2.0], [20.0], [4.0]])


def forward_view(rewards, next_values, terminated, truncated, gamma, weight):
    """Means of n-step returns, each to its end or to that of the rollout (Sutton and Barto 2018, eq. 12.3)."""
    found = []
    for t in range(len(rewards)):
        total, mean, left = 0.0, 0.0, 1.0
        for n in range(t, len(rewards)):
            total += gamma ** (n - t) * rewards[n]
            n_step = total + (0.0 if terminated[n] else gamma ** (n - t + 1) * next_values[n])
            if terminated[n] or truncated[n] or n + 1 == len(rewards):
                mean += left * n_step
                break
            mean += left * (1.0 - weight) * n_step
            left *= weight
        found.append(mean)
    return np.array(found)


@pytest.mark.parametrize("steps", [1, 2, 4])
@pytest.mark.parametrize(("gamma", "weight"), [(1.0, 0.65), (0.9, 1.0), (0.97, 0.0)])
def test_lambda_returns_of_every_mix_of_ends(steps, gamma, weight):
    """Value targets of PPO are Q(lambda) returns: the values in between cancel."""
    mixes = np.array(list(itertools.product(ENDS, repeat=steps)))  # [B, T, 2]
    terminated, truncated = mixes[..., 0].T, mixes[..., 1].T
    rewards, values, final = np.random.default_rng(steps).normal(size=(3, steps, len(mixes)))
    last = np.linspace(-1.0, 1.0, len(mixes))
    played = Transition(
        observation=None,
        action=None,
        log_prob=None,
        value=jnp.float32(values),
        reward=jnp.float32(rewards),
        terminated=jnp.asarray(terminated),
        truncated=jnp.asarray(truncated),
        final_value=jnp.float32(final),
    )
    _, found = estimated(played, jnp.float32(last), Hyper(gamma=gamma, gae_lambda=weight))
    next_values = np.where(truncated, final, np.concatenate([values[1:], last[None]]))
    columns = zip(rewards.T, next_values.T, terminated.T, truncated.T, strict=True)
    expected = np.stack([forward_view(*column, gamma, weight) for column in columns], axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-5)
