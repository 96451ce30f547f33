"""Returns and advantages against loops in float64, over every mix of ends."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest

from train.experience.rollout import Transition
from train.learning.returns import estimated
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


def drawn(steps):
    """All 4^T mixes of ends side by side: back to back, at T - 1, none; and V of what truly follows each step."""
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
    next_values = np.where(truncated, final, np.concatenate([values[1:], last[None]]))
    return played, jnp.float32(last), (rewards, values, next_values, terminated, truncated)


@pytest.mark.parametrize("steps", [1, 2, 4])
@pytest.mark.parametrize(("gamma", "gae_lambda"), [(1.0, 0.95), (0.9, 1.0), (0.97, 0.0)])
def test_every_mix_of_ends(steps, gamma, gae_lambda):
    played, last, arrays = drawn(steps)
    advantages, targets = estimated(played, last, Hyper(gamma=gamma, gae_lambda=gae_lambda))
    columns = zip(*(each.T for each in arrays), strict=True)
    expected = np.stack([loop(*column, gamma, gae_lambda) for column in columns], axis=1)
    np.testing.assert_allclose(advantages, expected, atol=1e-5)
    np.testing.assert_allclose(targets, expected + arrays[1], atol=1e-5)


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
    played, last, (rewards, _, *others) = drawn(steps)
    _, found = estimated(played, last, Hyper(gamma=gamma, gae_lambda=weight))
    columns = zip(*(each.T for each in (rewards, *others)), strict=True)
    expected = np.stack([forward_view(*column, gamma, weight) for column in columns], axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-5)
