"""A training state as arrays by name, which is how checkpoints hold it, and back; and checksums.

With a checksum a bit that flips on a disk does not pass for a weight.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def by_name(state: Any) -> dict[str, Any]:
    """Arrays by name, with keys as their data, and without arrays of size 0, which Orbax does not write."""
    leaves = jax.tree_util.tree_leaves_with_path(state)
    return {name_of(path): jax.random.key_data(leaf) if _is_key(leaf) else leaf for path, leaf in leaves if leaf.size}


def from_names(arrays: dict[str, Any], like: Any) -> Any:
    """The tree that `by_name` flattened, with new arrays, which may be donated."""

    def leaf(path: Any, expected: Any) -> jax.Array:
        if not expected.size:
            return jnp.zeros(expected.shape, expected.dtype)
        array = jnp.array(arrays[name_of(path)])
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


def _leaves(tree: Any, name: str, empty: bool) -> Any:
    """(dotted name, value) of everything in nested mappings, by name."""
    if not isinstance(tree, Mapping) or (empty and not tree):
        yield name, tree
        return
    for key in sorted(tree):
        yield from _leaves(tree[key], f"{name}.{key}", empty)
