"""Rows of words: the bits of plain indexing, whatever a record is made of."""

import jax
import numpy as np
import pytest

from jaxenv.lowering import lookup
from jaxenv.lowering.lookup import is_packable, read_by_product, read_row

SHAPES = ((), (1,), (5,), (3, 3), (2, 0))  # of an entry: sizes that fill no word, and none at all


def record(dtypes, rows=7):
    """Random bits of each dtype in each shape."""
    random = np.random.default_rng(0)

    def array(dtype, shape):
        if dtype is bool:
            return random.random((rows, *shape)) < 0.5
        flat = random.integers(0, 256, (rows, *shape, np.dtype(dtype).itemsize), np.uint8)
        return flat.view(dtype).reshape(rows, *shape)

    return {f"{np.dtype(dtype)} {shape}": array(dtype, shape) for dtype in dtypes for shape in SHAPES}


@pytest.mark.parametrize("dtypes", [
    (bool, np.int8, np.uint8, np.int16, np.uint16, np.float16, np.int32, np.uint32, np.float32),
    (np.int16,),
    (bool, np.float32),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("how", [read_row, read_by_product])
def test_a_row_is_plain_indexing_clamped_to_the_table(dtypes, how):
    table = record(dtypes)
    assert is_packable(table)
    indices = np.array([0, 6, 3, 7, 1000, -1, -(2**31)], np.int32)
    found = jax.jit(jax.vmap(lambda index: how(table, index)))(indices)
    for name, array in table.items():
        expected = array[np.clip(indices, 0, 6)]
        assert found[name].dtype == expected.dtype
        assert found[name].shape == expected.shape
        assert np.asarray(found[name]).tobytes() == expected.tobytes(), name


def test_words_hold_no_more_than_they_must():
    table = record((np.int8, np.int16, np.float32))
    sizes = {size: sum(a[0].size for a in table.values() if a.itemsize == size) for size in (1, 2, 4)}
    row = jax.eval_shape(lambda: [lookup._words(list(map(jax.numpy.asarray, table.values())), size) for size in sizes])
    assert [words.shape[1] for words in row] == [-(-sizes[1] // 4), -(-sizes[2] // 2), sizes[4]]


def test_what_has_no_words_is_told():
    assert not is_packable({"alone": np.zeros(4, np.int8)})
    assert not is_packable({"a": np.zeros(4, np.int8), "b": np.zeros(4, np.int64)})
