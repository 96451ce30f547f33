"""Reads by a traced index: both ways give the bits of plain indexing, and each platform gets its own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxenv.core import ScenarioBank
from jaxenv.lowering import lookup
from jaxenv.lowering.lookup import gathered, masked, read

DTYPES = (bool, np.int8, np.int16, np.int32, np.uint8, np.uint32, np.float16, np.float32)
INDICES = np.array([0, 3, 6, 7, 40, -1, -9, 2**31 - 1, -(2**31)], np.int32)  # in the table of 7, and out of it


def table_of(dtype: type, *shape: int) -> np.ndarray:
    """Numbers of all bit patterns, among them −0.0 and NaNs with a payload."""
    if dtype is bool:
        return np.random.default_rng(0).random(shape) < 0.5
    size = np.dtype(dtype).itemsize
    raw = np.random.default_rng(0).integers(0, 256, (*shape[:-1], shape[-1] * size), np.uint8).view(dtype)
    if np.issubdtype(dtype, np.floating):
        raw.flat[:2] = -0.0, np.nan
        bits = raw.view(f"u{size}")
        bits.flat[2] = bits.flat[1] | 5
    return raw


def assert_same_bits(one: jax.Array, other: np.ndarray) -> None:
    """Same dtype, shape and bytes."""
    assert one.dtype == other.dtype
    assert one.shape == other.shape
    assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


@pytest.mark.parametrize("way", [gathered, masked, read])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_read_is_plain_indexing_clamped_to_the_table(way, dtype):
    table, clipped = table_of(dtype, 7, 5), np.clip(INDICES, 0, 6)
    rows, entries = jax.jit(
        lambda t, i: (
            jax.vmap(lambda index: way(t, index))(i),
            jax.vmap(lambda index: way(t, index, index - 2))(i),
        )
    )(table, INDICES)
    assert_same_bits(rows, table[clipped])
    assert_same_bits(entries, table[clipped, np.clip(INDICES - np.int32(2), 0, 4)])


@pytest.mark.parametrize("way", [gathered, masked])
@pytest.mark.parametrize("dtype", DTYPES)
def test_tables_and_indices_of_a_batch(way, dtype):
    tables = table_of(dtype, 9, 7, 5)
    first, second = np.arange(9, dtype=np.int32)[:, None] % 7, np.array([4, 0, 2], np.int32)
    batch = np.arange(9)[:, None]
    both = jax.jit(jax.vmap(lambda table, i: way(table, *jnp.broadcast_arrays(i, second))))(tables, first)
    assert_same_bits(both, tables[batch, first, second[None]])
    several = jax.jit(jax.vmap(lambda table: way(table, jnp.array([6, 1]))))(tables)
    assert_same_bits(several, tables[:, [6, 1]])


def test_a_tree_is_read_array_by_array():
    tree = {"a": table_of(np.int16, 4), "b": table_of(np.float32, 4, 2, 3)}
    row = read(tree, np.int8(3))
    assert_same_bits(row["a"], tree["a"][3])
    assert_same_bits(row["b"], tree["b"][3])


@pytest.mark.parametrize(("platform", "entries", "gathers"), [
    ("tpu", lookup.MASKED_LIMIT, False),
    ("tpu", lookup.MASKED_LIMIT + 1, True),
    ("cpu", 4, True),
    ("cuda", 4, True),
])  # fmt: skip
def test_each_platform_has_its_own_program(platform, entries, gathers):
    traced = jax.jit(jax.vmap(read)).trace(jnp.zeros((8, entries), jnp.int16), jnp.zeros(8, jnp.int8))
    text = traced.lower(lowering_platforms=(platform,)).as_text()
    assert ("stablehlo.gather" in text) == gathers


@pytest.mark.parametrize(("platform", "entries", "gathers"), [
    ("tpu", lookup.MASKED_LIMIT + 1, 1),
    ("tpu", lookup.PACKED_LIMIT, 1),
    ("tpu", lookup.PACKED_LIMIT + 1, 3),
    ("cpu", lookup.PACKED_LIMIT, 3),
    ("cuda", lookup.PACKED_LIMIT, 3),
])  # fmt: skip
def test_a_row_of_a_long_record_is_one_read_on_a_tpu(platform, entries, gathers):
    record = {name: jax.ShapeDtypeStruct((entries, 2), name) for name in ("int8", "bool", "float32")}
    index = jax.ShapeDtypeStruct((8,), jnp.int32)
    traced = jax.jit(jax.vmap(read, in_axes=(None, 0))).trace(record, index)
    text = traced.lower(lowering_platforms=(platform,)).as_text()
    assert text.count('"stablehlo.gather"(') == gathers


@pytest.mark.parametrize(("platform", "entries", "products"), [
    ("tpu", lookup.PRODUCT_FROM, 1),
    ("tpu", lookup.PRODUCT_FROM - 1, 0),
    ("tpu", lookup.MASKED_LIMIT + 1, 0),
    ("cpu", lookup.PRODUCT_FROM, 0),
    ("cuda", lookup.PRODUCT_FROM, 0),
])  # fmt: skip
def test_a_row_of_a_short_bank_is_a_product_on_a_tpu(platform, entries, products):
    record = {name: jax.ShapeDtypeStruct((entries, 2), name) for name in ("int8", "bool", "float32")}
    index = jax.ShapeDtypeStruct((8,), jnp.int32)
    row = jax.vmap(lambda bank, index: bank[index], in_axes=(None, 0))
    text = jax.jit(row).trace(ScenarioBank(record), index).lower(lowering_platforms=(platform,)).as_text()
    assert text.count("stablehlo.dot_general") == products


@pytest.mark.parametrize("way", [lookup._masked_row, lookup.read_within])
@pytest.mark.parametrize("dtype", DTYPES)
def test_entries_within_a_row_are_plain_indexing_clamped(way, dtype):
    table, rows, places = table_of(dtype, 7, 3, 5), np.clip(INDICES, 0, 6), np.array([-1, 0, 4, 9], np.int32)
    found = jax.jit(jax.vmap(lambda row: way(table, row, np.int32(2), places)))(INDICES)
    assert_same_bits(found, table[rows][:, 2, np.clip(places, 0, 4)])


def test_no_gradient_passes_on_any_platform():
    for way in (read, lambda t, i: masked(jax.lax.stop_gradient(t), i)):
        slope = jax.grad(lambda table, way=way: way(table, jnp.int32(1)).sum())(jnp.ones((3, 2)))
        np.testing.assert_array_equal(slope, np.zeros((3, 2)))


@pytest.mark.parametrize("way", [lookup._rotated_by_slice, lookup._rotated_by_masks])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_table_is_rotated_to_begin_anywhere(way, dtype):
    tree = (table_of(dtype, 6, 7), table_of(dtype, 6, 7, 2))
    first = np.array([0, 1, 6, 3, 5, 2], np.int32)
    for one, other in zip(jax.jit(jax.vmap(way))(tree, first), tree, strict=True):
        expected = np.stack([np.roll(rows, -place, axis=0) for rows, place in zip(other, first, strict=True)])
        assert_same_bits(one, expected)
