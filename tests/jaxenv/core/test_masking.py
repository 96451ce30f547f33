"""Choosing among legal actions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxenv.core import masking


def test_a_masked_draw_is_uniform_over_the_legal_entries():
    mask = jnp.array([False, True, False, True, True, False])
    draws = jax.vmap(masking.sample_uniform, in_axes=(0, None))(jax.random.split(jax.random.key(0), 30_000), mask)
    shares = np.bincount(draws, minlength=6) / len(draws)
    assert shares[~np.asarray(mask)].sum() == 0
    assert shares[np.asarray(mask)] == pytest.approx(1 / 3, abs=0.01)


def test_each_row_of_a_batch_draws_for_itself():
    mask = jnp.array([[[True, False], [True, True]], [[False, True], [True, True]]])
    draws = np.stack([masking.sample_uniform(jax.random.key(seed), mask) for seed in range(40)])
    assert draws.shape == (40, 2, 2)
    assert (draws[:, :, 0] == [0, 1]).all()
    assert 0.2 < draws[:, :, 1].mean() < 0.8
    assert (draws[:, 0, 1] != draws[:, 1, 1]).any()


def test_a_draw_without_legal_entries_is_an_index():
    assert masking.sample_uniform(jax.random.key(0), jnp.zeros(4, bool)) == 0


def test_masked_logits_are_finite_and_never_win():
    logits = masking.mask_logits(jnp.array([5.0, 1.0]), jnp.array([False, True]))
    assert np.isfinite(logits).all()
    assert jax.nn.softmax(logits).tolist() == [0.0, 1.0]


def test_the_first_of_the_lowest_is_chosen():
    mask = jnp.array([False, True, True, True])
    first, second = jnp.array([0, 2, 1, 1]), jnp.array([0, 0, 3, 3])
    assert masking.lexicographic_argmin(mask, first, second) == 2
    assert masking.lexicographic_argmin(mask, first.astype(jnp.float32), -second) == 2
    assert masking.lexicographic_argmin(jnp.zeros(4, bool), first) == 0
    assert masking.lexicographic_argmin(mask, jnp.array([0, jnp.inf, jnp.inf, jnp.inf]), second) == 1


@pytest.mark.parametrize("size", [1, 31, 32, 46, 114])
def test_both_ways_to_pack_a_mask_are_the_same(size):
    masks = np.random.default_rng(size).random((50, size)) < 0.5
    words = jax.jit(jax.vmap(masking._packed_by_shifts))(masks)
    np.testing.assert_array_equal(words, jax.jit(jax.vmap(masking._packed_by_product))(masks))
    bits = (np.asarray(words)[:, :, None] >> np.arange(32, dtype=np.uint32)) & 1
    np.testing.assert_array_equal(bits.reshape(50, -1)[:, :size], masks)


@pytest.mark.parametrize("platform", ["cpu", "cuda", "tpu"])
def test_masks_one_after_the_other(platform):
    parts = (np.array([True, False]), np.zeros(0, bool), np.array([False, True, True]))
    np.testing.assert_array_equal(masking.concatenate_masks(*parts), np.concatenate(parts))
    np.testing.assert_array_equal(masking._joined_by_pads(*parts), np.concatenate(parts))
    text = jax.jit(masking.concatenate_masks).trace(*parts).lower(lowering_platforms=(platform,)).as_text()
    assert ("stablehlo.concatenate" in text) == (platform == "cpu")
