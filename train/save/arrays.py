"""A training state as arrays by name, which is how checkpoints hold it, and back; and checksums.

With a checksum a bit that flips on a disk does not pass for a weight.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from train.processes import merged

T = TypeVar("T")


@jax.jit
def copied(tree: T) -> T:
    """The same arrays in memory of their own; the others may be donated."""
    return jax.tree.map(jnp.copy, tree)


def by_name(state: Any) -> dict[str, Any]:
    """Arrays by name, with keys as their data, and without arrays of size 0, which Orbax does not write."""
    leaves = jax.tree_util.tree_leaves_with_path(state)
    return {name_of(path): jax.random.key_data(leaf) if _is_key(leaf) else leaf for path, leaf in leaves if leaf.size}


def from_names(arrays: dict[str, Any], like: Any) -> Any:
    """The tree that `by_name` flattened, with new arrays, which may be donated."""
    own = copied(arrays)

    def leaf(path: Any, expected: Any) -> jax.Array:
        if not expected.size:
            return jnp.zeros(expected.shape, expected.dtype)
        array = own[name_of(path)]
        return jax.random.wrap_key_data(array) if _is_key(expected) else array

    return jax.tree_util.tree_map_with_path(leaf, like)


def shapes(arrays: dict[str, Any]) -> dict[str, str]:
    """The dtypes and shapes of arrays by name: `float32[3, 16]`."""
    return {name: f"{leaf.dtype}{list(leaf.shape)}" for name, leaf in arrays.items()}


def empty(leaf: Any, sharding: Any) -> Any:
    """The target to fill from a file: an array of the host, or one on the devices of a sharding."""
    if sharding is None:
        return np.empty(leaf.shape, leaf.dtype)
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding)


def name_of(path: Any) -> str:
    """The names on the way to a leaf, `params.dense.kernel`."""
    return jax.tree_util.keystr(path, simple=True, separator=".")


def _is_key(leaf: Any) -> bool:
    """Whether a leaf is a random key, not an array of numbers."""
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def digest(tree: Any, *, empty: bool = False) -> str:
    """The SHA-256 of nested mappings of arrays and plain values, in hexadecimal digits.

    Of arrays it reads names, dtypes, shapes and contents; the order of the names does not count.

    With `empty` it also reads the names of empty mappings, which early versions passed over.

    >>> digest({"a": 1, "b": np.zeros(2)}) == digest({"b": np.zeros(2), "a": 1})
    True
    >>> digest({"b": np.zeros(2)}) == digest({"b": np.zeros(2, np.float32)})
    False
    """
    found = hashlib.sha256()
    for name, leaf in _leaves(tree, "", empty):
        if isinstance(leaf, np.ndarray | np.generic | jax.Array):
            array = np.asarray(leaf)
            found.update(f"{name}:{array.dtype}:{array.shape};".encode())
            found.update(np.ascontiguousarray(array).tobytes())
        else:
            found.update(f"{name}={json.dumps(leaf, default=repr)};".encode())
    return found.hexdigest()


def digests(arrays: Mapping[str, Any], *, by_rows: bool) -> dict[str, str]:
    """The checksum of each array, the same in all of several processes, which must all ask.

    Args:
        arrays: by name; several processes have rows of them along the first axis, or all have the whole.
        by_rows: whether it is that of the checksums of all rows, which processes exchange in place of the rows; or that
            of the whole array, which one process must have.
    """
    if not by_rows:
        return {name: digest(array) for name, array in arrays.items()}
    own = [_row_digests(jnp.asarray(array)) for array in arrays.values()]
    parts = np.split(merged(np.concatenate(own)), np.cumsum([len(each) for each in own])[:-1])
    return {name: digest(part) for name, part in zip(arrays, parts, strict=True)}


def _row_digests(array: jax.Array) -> np.ndarray:
    """[rows, 32] uint8: the SHA-256 of each row along the first axis, 0 where it is of another process."""
    found = np.zeros((array.shape[0] if array.ndim else 1, 32), np.uint8)
    parts = {shard.index[0].start or 0 if array.ndim else 0: shard.data for shard in array.addressable_shards}
    for first, part in parts.items():
        for number, row in enumerate(np.atleast_1d(np.asarray(part)), first):
            found[number] = np.frombuffer(hashlib.sha256(row.tobytes()).digest(), np.uint8)
    return found


def _leaves(tree: Any, name: str, empty: bool) -> Any:
    """(dotted name, value) of everything in nested mappings, by name."""
    if not isinstance(tree, Mapping) or (empty and not tree):
        yield name, tree
        return
    for key in sorted(tree):
        yield from _leaves(tree[key], f"{name}.{key}", empty)
