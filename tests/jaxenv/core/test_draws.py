"""Draws have the bits of `jax.random`, for every kind of key, in a batch and out of it."""

import jax
import numpy as np
import pytest

from jaxenv.lowering import draws

KEYS = {
    "threefry": lambda: jax.random.key(3),
    "rbg": lambda: jax.random.key(3, impl="rbg"),
    "legacy": lambda: jax.random.PRNGKey(3),
}


def data_of(key):
    """The words of typed and legacy keys."""
    return np.asarray(jax.random.key_data(key))


@pytest.mark.parametrize("kind", KEYS)
def test_draws_are_those_of_jax_random(kind):
    key = KEYS[kind]()
    np.testing.assert_array_equal(data_of(draws.split(key, 5)), data_of(jax.random.split(key, 5)))
    np.testing.assert_array_equal(data_of(draws.fold_in(key, 2**31)), data_of(jax.random.fold_in(key, 2**31)))
    np.testing.assert_array_equal(draws.bits(key, 7), jax.random.bits(key, (7,)))
    assert draws.uniform(key) == jax.random.uniform(key)


def test_draws_of_a_batch_of_keys():
    keys = jax.random.split(jax.random.key(8), 64)
    np.testing.assert_array_equal(
        data_of(jax.jit(jax.vmap(draws.split))(keys)), data_of(jax.vmap(jax.random.split)(keys))
    )
    bits = jax.vmap(lambda key: jax.random.bits(key, (3,)))(keys)
    np.testing.assert_array_equal(jax.jit(jax.vmap(lambda key: draws.bits(key, 3)))(keys), bits)
    np.testing.assert_array_equal(jax.jit(jax.vmap(draws.uniform))(keys), jax.vmap(jax.random.uniform)(keys))


def test_draws_follow_the_setting_of_jax_random():
    with jax.threefry_partitionable(False):
        key = jax.random.key(3)
        np.testing.assert_array_equal(draws.bits(key, 7), jax.random.bits(key, (7,)))


def test_a_hash_is_no_loop():
    text = jax.jit(draws.uniform).lower(jax.random.key(0)).as_text()
    assert "while" not in text


@pytest.mark.parametrize(("platform", "is_apart"), [("cpu", True), ("cuda", False), ("tpu", False)])
def test_hashes_are_kept_apart_on_a_cpu_alone(platform, is_apart):
    """Where its compiler needs it; elsewhere they fuse with what uses them."""
    lowered = jax.jit(draws.uniform).trace(jax.random.key(0)).lower(lowering_platforms=(platform,))
    assert ("optimization_barrier" in lowered.as_text()) is is_apart
