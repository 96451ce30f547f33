"""PQN's targets: Q(lambda) returns of a rollout, in scaled reward, with and without values at a time limit."""

import jax.numpy as jnp
import numpy as np
import pytest

from train.experience.rollout import Transition
from train.pqn.algorithm import estimate
from train.settings import presets
from train.settings.groups import Hyper

HYPER = Hyper(gamma=0.9, gae_lambda=0.5, reward_scale=0.1)
VALUES = jnp.array([[1.0], [2.0], [3.0]])


def steps(final_value, truncated=(False, True, False)):
    """Three steps of one environment, cut after the second."""
    flags = jnp.array(truncated)[:, None]
    return Transition(
        observation=None,
        action=jnp.zeros((3, 1), jnp.int32),
        log_prob=VALUES,
        value=VALUES,
        reward=jnp.full((3, 1), 10.0),
        terminated=jnp.zeros((3, 1), bool),
        truncated=flags,
        final_value=final_value,
    )


def test_a_time_limit_is_bootstrapped_from_the_final_observation():
    batch = estimate(steps(jnp.array([[0.0], [20.0], [0.0]])), jnp.array([4.0]), HYPER)
    last, cut = 1.0 + 0.9 * 4.0, 1.0 + 0.9 * 20.0
    np.testing.assert_allclose(batch.target[:, 0], [1.0 + 0.9 * (0.5 * 2.0 + 0.5 * cut), cut, last], rtol=1e-6)


def test_a_time_limit_is_an_end_unless_it_was_valued():
    batch = estimate(steps(None), jnp.array([4.0]), HYPER)
    last, cut = 1.0 + 0.9 * 4.0, 1.0
    np.testing.assert_allclose(batch.target[:, 0], [1.0 + 0.9 * (0.5 * 2.0 + 0.5 * cut), cut, last], rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", presets.PRESETS)
def test_no_target_of_a_preset_holds_what_is_explored_later(name):
    """A later reward, such as a random action costs, changes the target of its own step alone."""
    hyper = presets.for_algorithm("pqn", presets.preset(name)).hyper
    before = steps(None, truncated=(False, False, False))
    after = before.replace(reward=before.reward.at[1].add(-30.0))
    target, changed = (estimate(each, jnp.array([4.0]), hyper).target[:, 0] for each in (before, after))
    np.testing.assert_allclose(changed - target, [0.0, -30.0 * hyper.reward_scale, 0.0], rtol=1e-5)


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_lambda_goes_from_one_step_to_monte_carlo(weight):
    hyper = Hyper(gamma=0.5, gae_lambda=weight, reward_scale=0.1)
    found = estimate(steps(None, truncated=(False, False, False)), jnp.array([4.0]), hyper).target
    expected = [1 + 0.5 * 2, 1 + 0.5 * 3, 1 + 0.5 * 4]
    if weight:
        expected[1] = 1 + 0.5 * expected[2]
        expected[0] = 1 + 0.5 * expected[1]
    np.testing.assert_allclose(found[:, 0], expected)
