"""Chance in integers: exact beside Python's, at the extremes too, and the same bits alone and at every batch size."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxenv.core import dice as chance
from jaxenv.core.dice import sample_bits, scale
from jaxenv.envs.teamsclone import world
from reference.teamsclone_rules import pick, uniform
from strategies.teamsclone_game import made

DRAWS = [0, 1, 2, 255, 256, 257, 21845, 21846, 32767, 32768, 65279, 65280, 65534, 65535]
SIZES = [0, 1, 2, 3, 5, 7, 8, 64, 255, 256, 257, 1000, 65535, 65536, 65537, 7 * 65536, 2**19 - 1]


def test_scale_is_exact_up_to_its_greatest_size():
    dice = np.random.default_rng(0)
    draws = np.concatenate([np.repeat(DRAWS, len(SIZES)), dice.integers(0, 2**16, 20_000)])
    sizes = np.concatenate([np.tile(SIZES, len(DRAWS)), dice.integers(0, 2**19, 20_000)])
    found = jax.jit(scale)(jnp.asarray(draws, jnp.int32), jnp.asarray(sizes, jnp.int32))
    expected = [int(draw) * int(size) // 2**16 for draw, size in zip(draws, sizes, strict=True)]
    assert found.tolist() == expected


def test_uniform_among_picks_as_the_rules_do():
    mask = jnp.array([False, True, True, False, True])
    for draw in DRAWS:
        assert int(chance.uniform_among(mask, jnp.int32(draw))) == [1, 2, 4][uniform(3, draw)]
    assert int(chance.uniform_among(jnp.zeros(4, bool).at[3].set(True), jnp.int32(65535))) == 3


@pytest.mark.parametrize(
    "edges", [[65536], [0, 65536], [1, 65535, 65536], [0, 21845, 21845, 65536], [0, 0, 65536, 65536]]
)
def test_a_draw_picks_the_first_edge_above_it(edges):
    for draw in {*DRAWS, *(edge + more for edge in edges for more in (-1, 0) if 0 <= edge + more < 65536)}:
        assert int(chance.pick(jnp.array(edges), jnp.int32(draw))) == pick(edges, draw)


def test_first_above_is_n_where_no_edge_is():
    edges = jnp.array([0, 10, 10, 30])
    assert [int(chance.first_above(edges, jnp.int32(level))) for level in (0, 9, 10, 29, 30, 99)] == [1, 1, 3, 3, 4, 4]


def test_running_sums_are_exact_where_floats_of_less_precision_are_not():
    odds = np.array([65535, 65533, 1, 65536, 65531, 3, 65521], np.int32)
    assert jax.jit(chance.running_sum)(odds).tolist() == np.cumsum(odds).tolist()


@pytest.mark.parametrize("count", [1, 2, 13, 400])
def test_draws_are_16_bits_of_chance_each(count):
    found = np.asarray(sample_bits(jax.random.key(0), count))
    assert found.shape == (count,)
    assert (found.min() >= 0, found.max() < 2**16) == (True, True)
    if count == 400:
        assert len(set(found.tolist())) > 390
        assert abs((found / 2**16).mean() - 0.5) < 0.06
        ones = (found[:, None] >> np.arange(16) & 1).mean(0)
        assert np.abs(ones - 0.5).max() < 0.11  # 4 standard deviations


def test_a_step_has_thirteen_draws_all_apart():
    env, _ = made("classic", 1)
    draws = env.sample_draws(jax.random.key(5))
    numbers = np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(draws)])
    assert (len(numbers), len(set(numbers.tolist()))) == (13, 13)


@functools.cache
def first_draws():
    """(key, params) -> a reset of the Mentions variant, and what the world draws in its first step."""
    env, params = made("mentions", 1)

    def draw(key, params):
        reset_key, step_key = jax.random.split(key)
        state = env.init(reset_key, params, None)
        scenario, draws = params.workspace(state.scenario), env.sample_draws(step_key)
        presence = world.next_presence(state.presence, scenario, draws)
        post = world.post(state, state.replace(presence=presence), scenario, draws)
        return state.schedule, state.scenario, draws, presence, post

    return draw, jax.jit(draw), params


@pytest.mark.parametrize("batch", [1, 3, 64])
def test_integer_draws_have_the_same_bits_jitted_and_at_every_batch_size(batch):
    draw, alone, params = first_draws()
    keys = jax.random.split(jax.random.key(7), 64)
    found = jax.jit(jax.vmap(draw, in_axes=(0, None)))(keys[:batch], params)
    for number in range(min(batch, 8)):
        one = alone(keys[number], params)
        jax.tree.map(lambda leaf, single, n=number: np.testing.assert_array_equal(leaf[n], single), found, one)
    assert all(not jnp.issubdtype(leaf.dtype, jnp.floating) for leaf in jax.tree.leaves(found))


def test_workspaces_of_a_bank_are_drawn_uniformly():
    env, params = made("classic", 1)
    keys = jax.random.split(jax.random.key(0), 9000)
    drawn = jax.jit(jax.vmap(lambda key: env.init(key, params, None).scenario))(keys)
    size = params.bank.size
    shares = np.bincount(drawn, minlength=size) / 9000
    assert np.abs(shares - 1 / size).max() < 0.02
    assert int(jax.jit(env.init)(jax.random.key(0), params, 99).scenario) == size - 1  # clamped
