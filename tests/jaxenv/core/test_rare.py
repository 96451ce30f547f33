"""Work that few rows need: the same as computing it for all and selecting."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxenv.lowering.batches import GROUP, where_rare

DRAWS = 3


def compute(key, most):
    return {"drawn": jax.random.randint(key, (DRAWS,), 0, most), "most": most}


def choose(is_needed, key, most, old):
    return where_rare(is_needed, compute, (key, most), old)


def plain(is_needed, key, most, old):
    return jax.tree.map(lambda a, b: jnp.where(is_needed, a, b), compute(key, most), old)


def arguments(count, share, make_key=jax.random.key):
    draws = np.random.default_rng(count)
    is_needed = jnp.asarray(draws.random(count) < share)
    old = {"drawn": jnp.full((count, DRAWS), -1, jnp.int32), "most": jnp.zeros(count, jnp.int32)}
    return is_needed, jax.random.split(make_key(1), count), jnp.arange(1, count + 1, dtype=jnp.int32), old


def assert_equal(one, other):
    jax.tree.map(np.testing.assert_array_equal, one, other)


chosen, in_place = jax.jit(jax.vmap(choose)), jax.jit(jax.vmap(plain))


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
@pytest.mark.parametrize("count", [1, GROUP, GROUP + 1, 1000])
def test_rows_are_computed_where_they_are_needed_and_nowhere_else(count, share):
    given = arguments(count, share)
    assert_equal(chosen(*given), in_place(*given))


@pytest.mark.parametrize("make_key", [jax.random.key, jax.random.PRNGKey])
def test_one_row_alone_and_either_kind_of_key(make_key):
    is_needed, keys, most, old = arguments(200, 0.5, make_key)
    batched = jax.vmap(choose)(is_needed, keys, most, old)
    one = jax.tree.map(lambda leaf: leaf[7], (is_needed, keys, most, old))
    assert_equal(jax.jit(choose)(*one), jax.tree.map(lambda leaf: leaf[7], batched))


def test_axes_of_several_maps_are_one_batch_and_shared_arguments_stay_shared():
    is_needed, keys, most, old = arguments(6 * 50, 0.1)
    deep = jax.tree.map(lambda leaf: leaf.reshape(6, 50, *leaf.shape[1:]), (is_needed, keys, most, old))
    inner = jax.vmap(choose, in_axes=(0, 0, None, 0))
    expected = jax.vmap(jax.vmap(plain, in_axes=(0, 0, None, 0)), in_axes=(0, 0, None, 0))
    given = (deep[0], deep[1], jnp.int32(9), deep[3])
    assert_equal(jax.jit(jax.vmap(inner, in_axes=(0, 0, None, 0)))(*given), jax.jit(expected)(*given))


def test_it_works_in_a_scan_and_has_the_shapes_of_the_plain_form():
    is_needed, keys, most, old = arguments(130, 0.1)

    def play(function):
        def step(old, key):
            new = jax.vmap(function)(is_needed, jax.random.split(key, 130), most, old)
            return new, new["drawn"]

        return jax.jit(lambda old: jax.lax.scan(step, old, jax.random.split(jax.random.key(3), 4)))

    assert_equal(play(choose)(old), play(plain)(old))
    given = (is_needed, keys, most, old)
    assert jax.eval_shape(jax.vmap(choose), *given) == jax.eval_shape(jax.vmap(plain), *given)


def test_a_loop_is_compiled_for_a_cpu_and_for_nothing_else():
    given = arguments(2 * GROUP, 0.1)

    def simple(is_needed, number):
        return where_rare(is_needed, lambda n: n * n, (number,), -number)

    lowered = {
        platform: jax.jit(jax.vmap(simple)).trace(given[0], given[2]).lower(lowering_platforms=(platform,)).as_text()
        for platform in ("cpu", "cuda", "tpu")
    }
    assert [platform for platform, text in lowered.items() if "stablehlo.while" in text] == ["cpu"]
