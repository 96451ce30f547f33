"""The masked distribution, in closed form."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from train.networks.outputs import MaskedCategorical

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


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_epsilon_greedy(policy, epsilon):
    """The best legal action, or one of the two legal ones; never the third, whose logit is greatest."""
    found = policy.or_uniform(MASK, epsilon)
    np.testing.assert_allclose(jnp.exp(found.log_probs), [epsilon / 2, 0, 1 - epsilon / 2, 0], atol=1e-6)
    assert jnp.isfinite(found.log_probs).all()
    drawn = jax.vmap(found.sample)(jax.random.split(jax.random.key(0), 2000))
    np.testing.assert_allclose(jnp.bincount(drawn, length=4) / 2000, jnp.exp(found.log_probs), atol=0.04)
    assert set(drawn.tolist()) <= {0, 2}


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


ACTIONS = 118  # as many as the largest catalogue has


@pytest.fixture(scope="module")
def wide():
    """Distributions over many actions, most of them illegal: [1000, A]."""
    logits_key, mask_key = jax.random.split(jax.random.key(1))
    mask = jax.random.uniform(mask_key, (1000, ACTIONS)) < 0.2
    return MaskedCategorical.of(5.0 * jax.random.normal(logits_key, mask.shape), mask.at[:, -1].set(True)), mask


def test_no_row_ever_draws_an_illegal_action(wide):
    policy, mask = wide
    draws = jax.vmap(policy.sample)(jax.random.split(jax.random.key(2), 500))
    assert jnp.take_along_axis(mask.at[:, -1].set(True)[None], draws[..., None], axis=-1).all()


def test_the_drawn_distribution_is_that_of_the_log_probabilities(wide):
    """A chi-square test of each row, over the actions that are expected five times or more."""
    policy, _ = wide
    number, rows = 20_000, 20
    few = MaskedCategorical(policy.log_probs[:rows])
    draws = np.asarray(jax.vmap(few.sample)(jax.random.split(jax.random.key(3), number)))
    statistics = []
    for row in range(rows):
        expected = number * np.exp(np.asarray(few.log_probs[row], np.float64))
        counts = np.bincount(draws[:, row], minlength=ACTIONS)
        frequent = expected >= 5
        cells = np.append(expected[frequent], expected[~frequent].sum() + 1e-9)
        found = np.append(counts[frequent], counts[~frequent].sum())
        degrees = max(1, len(cells) - 1)
        statistics.append((np.square(found - cells) / np.maximum(cells, 1.0)).sum() / degrees)
    assert 0.7 < np.mean(statistics) < 1.3
    assert max(statistics) < 3.5


@pytest.mark.parametrize("uniform", [0.0, 0.5, 1.0 - 2.0**-24])
def test_the_ends_of_the_unit_interval_draw_a_legal_action(monkeypatch, uniform):
    """Also where the last action with a probability is not the last of all."""
    monkeypatch.setattr(jax.random, "uniform", lambda key, shape: jnp.full(shape, uniform, jnp.float32))
    policy = MaskedCategorical.of(jnp.zeros((1, 5)), jnp.array([[False, True, False, True, False]]))
    expected = 1 if uniform < 0.5 else 3
    assert policy.sample(jax.random.key(0)).tolist() == [expected]
