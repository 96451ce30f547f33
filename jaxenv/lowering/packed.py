"""Packs a record of a long table into one row of words: one indexed read instead of one per array."""

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

WORD = np.dtype(np.uint32)
_UNSIGNED = {size: np.dtype(f"uint{8 * size}") for size in (1, 2, 4)}  # by bytes of an element, as parts of a word


def is_packable(table: Any) -> bool:
    """Whether there are several arrays, all of elements of at most a word.

    >>> import numpy as np
    >>> from jaxenv.lowering import packed
    >>> packed.is_packable({"a": np.zeros(4, np.int8), "b": np.zeros((4, 2), np.float32)})
    True
    """
    leaves = jax.tree.leaves(table)
    return len(leaves) > 1 and all(leaf.dtype.kind in "biuf" and leaf.dtype.itemsize in _UNSIGNED for leaf in leaves)


def read_row(table: Any, index: jax.Array) -> Any:
    """The rows at an index of all arrays, the same bits as reading each, by one gather of words.

    XLA makes the words anew in every step: 3 to 10 cycles a row of the table on a TPU v5e, by how wide it is, where
    a gather takes 4 to 9 an index and array. So it pays where there are fewer than some 50 rows for each index.

    >>> import jax.numpy as jnp
    >>> from jaxenv.lowering import packed
    >>> table = {"a": jnp.array([1, -2], jnp.int8), "b": jnp.array([[0.5, 1.5], [2.5, 3.5]])}
    >>> packed.read_row(table, jnp.int32(1))
    {'a': Array(-2, dtype=int8), 'b': Array([2.5, 3.5], dtype=float32)}

    Args:
        table: a pytree of arrays [n, ...] for which `is_packable` holds.
        index: [] int32, clamped to the table.
    """
    leaves, structure = jax.tree.flatten(table)
    row = jnp.concatenate([_words(leaves, size) for size in _UNSIGNED], axis=1)
    row = row.at[index].get(mode="clip", wrap_negative_indices=False)
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
        counts = {
            number: math.prod(leaf.shape[1:]) for number, leaf in enumerate(leaves) if leaf.dtype.itemsize == size
        }
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
