"""Checksums of saved arrays, so that a bit that flips on a disk does not pass for a weight."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np


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
