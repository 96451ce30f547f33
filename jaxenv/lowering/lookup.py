"""Indexing by a traced index, lowered to the fastest operation of each platform, bit-identical."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

MASKED_LIMIT = 128  # entries; a longer table is gathered on a TPU too, where each entry costs and an index does once
# Rows from which the matrix unit reads a record: of LifeStack's 26 crises XLA estimates 0.53 of the cycles of a step
# on a v5e, of 8 to 12 days, weeks and workspaces 1.3 to 1.7 times as many.
PRODUCT_FROM = 20
PACKED_LIMIT = 131_072  # rows, the bank of the large presets; of a longer record each array is gathered
WORD = np.dtype(np.uint32)
_UNSIGNED = {size: np.dtype(f"uint{8 * size}") for size in (1, 2, 4)}  # by bytes of an element, as parts of a word


@functools.partial(jax.jit, inline=True)
def read(table: Any, *index: Any) -> Any:
    """`table[index]`, where an index out of range is clamped, negative ones too; no gradient passes.

    It is one compiled program for all arrays when called outside of `jit`, and inlined inside.

    A TPU follows indices one after the other, so there a short table is masked and summed, and of a long one of several
    arrays a row is read as one; a CPU and a GPU gather.

    >>> import jax, jax.numpy as jnp
    >>> from jaxenv.lowering.lookup import read
    >>> table = jnp.arange(12).reshape(4, 3)
    >>> read(table, 2).tolist(), read(table, jnp.array([0, 9]), 1).tolist(), int(read(table, -5, 2))
    ([6, 7, 8], [1, 10], 2)

    Args:
        table: an array, or a pytree of arrays that share their first axes: [n, ...], [n, m, ...] for two indices.
        *index: integers, scalars or arrays that broadcast against each other, one for each of the first axes.
    """
    places = [jnp.asarray(each, jnp.int32) for each in index]
    table = jax.tree.map(lambda leaf: lax.stop_gradient(jnp.asarray(leaf)), table)
    entries = math.prod(jax.tree.leaves(table)[0].shape[: len(places)])
    is_row = [each.ndim for each in places] == [0] and entries <= PACKED_LIMIT and is_packable(table)
    of_long = read_row if is_row else gathered
    return lax.platform_dependent(table, *places, tpu=of_long if entries > MASKED_LIMIT else masked, default=gathered)


@functools.partial(jax.jit, inline=True)
def read_shared(table: Any, index: Any) -> Any:
    """`read(table, index)` of a table that a whole batch shares, such as a bank.

    On a TPU the matrix unit reads a row of a short table of several arrays; where each of a batch has a table of its
    own, that is slower.

    >>> import jax.numpy as jnp
    >>> from jaxenv.lowering.lookup import read_shared
    >>> int(read_shared(jnp.arange(4), 9))
    3
    """
    entries = jax.tree.leaves(table)[0].shape[0]
    if not (PRODUCT_FROM <= entries <= MASKED_LIMIT and jnp.ndim(index) == 0 and is_packable(table)):
        return read(table, index)
    table = jax.tree.map(lambda leaf: lax.stop_gradient(jnp.asarray(leaf)), table)
    return lax.platform_dependent(table, jnp.asarray(index, jnp.int32), tpu=read_by_product, default=gathered)


@functools.partial(jax.jit, inline=True)
def read_within(table: Any, row: Any, *index: Any) -> Any:
    """`table[row][index]`, clamped as in `read`, where little is needed of a long row.

    A TPU reads the row and masks it; a CPU and a GPU gather the entries alone.

    >>> import jax.numpy as jnp
    >>> from jaxenv.lowering.lookup import read_within
    >>> read_within(jnp.arange(24).reshape(4, 2, 3), 3, 1, jnp.array([0, 9])).tolist()
    [21, 23]

    Args:
        table: an array, or a pytree of arrays that share their first axes: [n, m, ...], one more for each index.
        row: [] integer.
        *index: integers, scalars or arrays that broadcast against each other, at least one.
    """
    places = [jnp.asarray(each, jnp.int32) for each in (row, *index)]
    return lax.platform_dependent(table, *places, tpu=_masked_row, default=gathered)


def _masked_row(table: Any, row: jax.Array, *index: jax.Array) -> Any:
    """The entries of a row that is read as a whole."""
    return masked(read(table, row), *index)


@functools.partial(jax.jit, inline=True)
def rotate(table: Any, first: jax.Array) -> Any:
    """The table from the entry at `first` ([] int32, 0 .. n - 1) on, and after the last one from its beginning.

    >>> import jax.numpy as jnp
    >>> from jaxenv.lowering.lookup import rotate
    >>> rotate(jnp.array([5, 6, 7, 8]), 3).tolist()
    [8, 5, 6, 7]

    Args:
        table: an array, or a pytree of arrays that share their first axis: [n, ...].
        first: where to begin.
    """
    table = jax.tree.map(jnp.asarray, table)
    first = jnp.asarray(first, jnp.int32)
    return lax.platform_dependent(table, first, tpu=_rotated_by_masks, default=_rotated_by_slice)


def _rotated_by_slice(table: Any, first: jax.Array) -> Any:
    """A slice of the table after itself: one index, where a gather of each entry has as many."""

    def rotated(leaf: jax.Array) -> jax.Array:
        twice = jnp.concatenate([leaf, leaf])
        return lax.dynamic_slice_in_dim(twice, first, leaf.shape[0], allow_negative_indices=False)

    return jax.tree.map(rotated, table)


def _rotated_by_masks(table: Any, first: jax.Array) -> Any:
    """A masked read of each entry."""
    size = jax.tree.leaves(table)[0].shape[0]
    return masked(table, (first + np.arange(size, dtype=np.int32)) % size)


def gathered(table: Any, *index: jax.Array) -> Any:
    """The read as a gather, without the arithmetic of negative indices."""
    return jax.tree.map(lambda leaf: leaf.at[index].get(mode="clip", wrap_negative_indices=False), table)


def masked(table: Any, *index: jax.Array) -> Any:
    """The read as a sum over an axis after the other, scalar indices first, with a mask that keeps one entry."""
    if not index:
        return table
    for axis, place in enumerate(index):
        if place.ndim == 0:
            entry = jax.tree.map(functools.partial(_entry, axis=axis, place=place), table)
            return masked(entry, *index[:axis], *index[axis + 1 :])
    return jax.vmap(masked, in_axes=(None, *[0] * len(index)))(table, *jnp.broadcast_arrays(*index))


def _entry(leaf: jax.Array, axis: int, place: jax.Array) -> jax.Array:
    """The entry of one axis at `place` ([] int32); floats are summed as their bits, which is exact."""
    bits, numbers = _as_integers(leaf), np.arange(leaf.shape[axis], dtype=np.int32)
    kept = jnp.expand_dims(numbers == jnp.clip(place, 0, numbers.size - 1), range(1, leaf.ndim - axis))
    kept = jnp.expand_dims(kept, range(axis))
    if bits.dtype == bool:
        return jnp.any(kept & bits, axis=axis)
    total = jnp.sum(jnp.where(kept, bits, jnp.zeros((), bits.dtype)), axis=axis, dtype=bits.dtype)
    return total if total.dtype == leaf.dtype else lax.bitcast_convert_type(total, leaf.dtype)


def _as_integers(leaf: jax.Array) -> jax.Array:
    """Floats as their bits; integers and bools as they are."""
    if not jnp.issubdtype(leaf.dtype, jnp.floating):
        return leaf
    return lax.bitcast_convert_type(leaf, jnp.dtype(f"uint{8 * leaf.dtype.itemsize}"))


def is_packable(table: Any) -> bool:
    """Whether there are several arrays, all of elements of at most a word.

    >>> import numpy as np
    >>> from jaxenv.lowering import lookup
    >>> lookup.is_packable({"a": np.zeros(4, np.int8), "b": np.zeros((4, 2), np.float32)})
    True
    """
    leaves = jax.tree.leaves(table)
    return len(leaves) > 1 and all(leaf.dtype.kind in "biuf" and leaf.dtype.itemsize in _UNSIGNED for leaf in leaves)


def read_row(table: Any, index: jax.Array) -> Any:
    """The rows at an index of all arrays, the same bits as reading each, by one gather of words.

    XLA makes the words anew in every step: 3 to 10 cycles a row of the table on a TPU v5e, by how wide it is, where
    a gather takes 4 to 9 an index and array. So it pays where there are fewer than some 50 rows for each index.

    >>> import jax.numpy as jnp
    >>> from jaxenv.lowering import lookup
    >>> table = {"a": jnp.array([1, -2], jnp.int8), "b": jnp.array([[0.5, 1.5], [2.5, 3.5]])}
    >>> lookup.read_row(table, jnp.int32(1))
    {'a': Array(-2, dtype=int8), 'b': Array([2.5, 3.5], dtype=float32)}

    Args:
        table: a pytree of arrays [n, ...] for which `is_packable` holds.
        index: [] int32, clamped to the table.
    """
    return _read_words(table, lambda words: gathered(words, index))


def read_by_product(table: Any, index: jax.Array) -> Any:
    """The same by a product of the words' bytes with the index as a one-hot vector, exact in whole numbers."""

    def product(words: jax.Array) -> jax.Array:
        shifts, rows = np.arange(0, 32, 8, dtype=WORD)[:, None], np.arange(words.shape[0], dtype=np.int32)
        parts = lax.bitcast_convert_type((words[:, None] >> shifts[None]).astype(jnp.uint8), jnp.int8)  # [n, 4, W]
        one_hot = (rows == jnp.clip(index, 0, rows.size - 1)).astype(jnp.int8)
        row = lax.dot_general(one_hot, parts, (((0,), (0,)), ((), ())), preferred_element_type=jnp.int32)
        return jnp.sum((row.astype(WORD) & 255) << shifts, axis=0, dtype=WORD)

    return _read_words(table, product)


def _read_words(table: Any, row_of: Callable[[jax.Array], jax.Array]) -> Any:
    """The row of a table that is found among rows of words ([n, W] uint32 -> [W])."""
    leaves, structure = jax.tree.flatten(table)
    row = row_of(jnp.concatenate([_words(leaves, size) for size in _UNSIGNED], axis=1))
    return jax.tree.unflatten(structure, _unpacked(row, leaves))


def _words(leaves: Sequence[jax.Array], size: int) -> jax.Array:
    """[n, W] uint32: the elements of so many bytes, each part of a word holding a W-th of them in a row."""
    rows = [leaf.reshape(leaf.shape[0], -1) for leaf in leaves if leaf.dtype.itemsize == size]
    if not rows:
        return jnp.zeros((leaves[0].shape[0], 0), WORD)
    parts = WORD.itemsize // size
    elements = jnp.concatenate([_as_unsigned(row) for row in rows], axis=1)
    elements = jnp.pad(elements, ((0, 0), (0, -elements.shape[1] % parts))).astype(WORD)
    width = elements.shape[1] // parts
    words = elements[:, :width]
    for part in range(1, parts):
        words = words | elements[:, part * width : (part + 1) * width] << (8 * size * part)
    return words


def _unpacked(row: jax.Array, leaves: Sequence[jax.Array]) -> list[jax.Array]:
    """The rows of the arrays, from the row of words ([W] uint32)."""
    found: dict[int, jax.Array] = {}
    begin = 0
    for size, dtype in _UNSIGNED.items():
        counts = {n: math.prod(leaf.shape[1:]) for n, leaf in enumerate(leaves) if leaf.dtype.itemsize == size}
        parts = WORD.itemsize // size
        width = -(-sum(counts.values()) // parts)
        words = row[begin : begin + width]
        elements = jnp.concatenate([(words >> (8 * size * part)).astype(dtype) for part in range(parts)])
        begin, place = begin + width, 0
        for number, count in counts.items():
            found[number] = _as_before(elements[place : place + count], leaves[number])
            place += count
    return [found[number] for number in range(len(leaves))]


def _as_unsigned(row: jax.Array) -> jax.Array:
    """The same bits as unsigned integers."""
    dtype = _UNSIGNED[row.dtype.itemsize]
    return row.astype(dtype) if row.dtype == bool else lax.bitcast_convert_type(row, dtype)


def _as_before(elements: jax.Array, leaf: jax.Array) -> jax.Array:
    """Unsigned integers as a row of an array."""
    shaped = elements.reshape(leaf.shape[1:])
    return shaped != 0 if leaf.dtype == bool else lax.bitcast_convert_type(shaped, leaf.dtype)
