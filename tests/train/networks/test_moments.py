"""Running moments against NumPy over everything that was seen."""

import jax
import jax.numpy as jnp
import numpy as np

from train.lanes import LANE, Lanes
from train.networks.normalization import EPSILON, LIMIT, Moments


def rows(seed, *shape):
    return np.random.default_rng(seed).normal(3.0, 2.0, shape).astype(np.float32)


def assert_moments(found, seen):
    np.testing.assert_array_equal(found.count, len(seen))
    np.testing.assert_allclose(found.mean, seen.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(found.variance, seen.var(axis=0), rtol=1e-4)


def test_batches_of_any_size_are_merged():
    batches = [rows(n, size, 4) for n, size in enumerate([1, 7, 2, 100])]
    found = Moments.none(4)
    for batch in batches:
        found = found.merge(Moments.of(jnp.asarray(batch)))
    assert_moments(found, np.concatenate(batches))


def test_far_from_zero_nothing_cancels():
    far = rows(0, 2, 512, 1) + np.float32(1e4)
    found = Moments.of(jnp.asarray(far[0])).merge(Moments.of(jnp.asarray(far[1])))
    np.testing.assert_allclose(found.variance, far.astype(np.float64).var(), rtol=1e-2)


def test_only_rows_that_exist_count():
    batch, exists = rows(0, 3, 5, 4), np.random.default_rng(1).random((3, 5)) < 0.5
    assert_moments(Moments.of(jnp.asarray(batch), jnp.asarray(exists)), batch[exists])
    none = Moments.of(jnp.asarray(batch), jnp.zeros((3, 5), bool))
    before = Moments.of(jnp.asarray(batch))
    jax.tree.map(np.testing.assert_array_equal, before.merge(none), before)


def test_lanes_have_the_moments_of_all():
    """Also where they count different numbers of rows."""
    batch, exists = rows(0, 2, 9, 4), np.arange(18).reshape(2, 9) < 12
    together = jax.vmap(lambda rows, exists: Moments.of(rows, exists).over(Lanes(2)), axis_name=LANE)
    found = together(jnp.asarray(batch), jnp.asarray(exists))
    for lane in range(2):
        assert_moments(jax.tree.map(lambda x, lane=lane: x[lane], found), batch[exists])


def test_rows_are_standardized():
    batch = rows(0, 1000, 4)
    found = np.asarray(Moments.of(jnp.asarray(batch)).standardize(jnp.asarray(batch.reshape(10, 100, 4))))
    np.testing.assert_allclose(found.mean(axis=(0, 1)), 0.0, atol=1e-4)
    np.testing.assert_allclose(found.std(axis=(0, 1)), 1.0, atol=1e-4)
    np.testing.assert_allclose(Moments.none(4).standardize(jnp.asarray(batch)), np.clip(batch, -LIMIT, LIMIT))
    constant = Moments.of(jnp.ones((5, 1)))
    np.testing.assert_allclose(constant.standardize(jnp.array([[1.0], [2.0], [-1.0]])), [[0.0], [LIMIT], [-LIMIT]])
    np.testing.assert_allclose(constant.deviation(), EPSILON**0.5)
