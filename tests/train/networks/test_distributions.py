"""The masked distribution, in closed form."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from train.networks.distributions import MaskedCategorical

LOGITS = jnp.array([1.0, 2.0, 3.0, 50.0])
MASK = jnp.array([True, False, True, False])
PROBS = np.exp([1.0, 3.0]) / np.exp([1.0, 3.0]).sum()  # of actions 0 and 2


@pytest.fixture
def policy() -> MaskedCategorical:
    return MaskedCategorical.of(LOGITS, MASK)


def test_probabilities(policy):
    expected = [PROBS[0], 0.0, PROBS[1], 0.0]
    np.testing.assert_allclose(jnp.exp(policy.log_probs), expected, rtol=1e-6)
    assert jnp.exp(policy.log_probs)[1] == 0.0
    np.testing.assert_allclose(policy.log_prob(jnp.int32(2)), np.log(PROBS[1]), rtol=1e-6)
    assert policy.mode() == 2


def test_entropy(policy):
    np.testing.assert_allclose(policy.entropy(), -np.sum(PROBS * np.log(PROBS)), rtol=1e-6)


def test_a_single_legal_action_is_certain():
    policy = MaskedCategorical.of(LOGITS, jnp.array([False, True, False, False]))
    assert policy.log_prob(jnp.int32(1)) == 0.0
    assert policy.entropy() == 0.0
    assert policy.mode() == policy.sample(jax.random.key(0)) == 1


@pytest.mark.parametrize("mask", [MASK, jnp.array([False, True, False, False]), jnp.ones(4, bool)])
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_gradients_are_finite_and_zero_for_illegal_logits(mask, scale):
    def objective(logits):
        policy = MaskedCategorical.of(logits, mask)
        return policy.entropy() + policy.log_prob(jnp.argmax(mask))

    gradient = jax.grad(objective)(LOGITS * scale)
    assert jnp.isfinite(gradient).all()
    assert (gradient[~mask] == 0.0).all()


def test_samples_are_legal_and_follow_the_probabilities(policy):
    draws = jax.vmap(policy.sample)(jax.random.split(jax.random.key(0), 100_000))
    counts = np.bincount(draws, minlength=4)
    assert counts[1] == counts[3] == 0
    np.testing.assert_allclose(counts[[0, 2]] / len(draws), PROBS, atol=0.005)
