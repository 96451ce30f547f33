"""The scenario bank: many scenarios of one shape as one tree of arrays, so that a reset is an index."""

import functools
import hashlib
import itertools
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core.types import Key

_BESIDE = ("shared", "start_cdf")  # fields of a bank beside its scenarios, by their names in a saved one


class ScenarioBank(struct.PyTreeNode):
    """Scenarios stacked along a leading axis; a pytree, so it travels in params through jit and vmap."""

    scenarios: Any  # a Scenario record, each array with a leading axis of the bank's size
    shared: Any = None  # what all of them refer to, such as a table of texts: an array, or None where there is none
    start_cdf: jax.Array | None = None  # [S] float32, running sums of the start weights, None where all are equal

    @classmethod
    def stack(cls, scenarios: Sequence[Any]) -> Self:
        """A bank of the given scenarios, in their order (host side); an empty sequence is a ValueError."""
        if not scenarios:
            raise ValueError("a scenario bank holds at least one scenario, got none")
        return cls(jax.tree.map(lambda *leaves: jnp.asarray(np.stack(leaves)), *scenarios))

    @property
    def size(self) -> int:
        """How many scenarios the bank holds (static)."""
        return jax.tree.leaves(self.scenarios)[0].shape[0]

    def __len__(self) -> int:
        """The same as `size`."""
        return self.size

    def __getitem__(self, index: Any) -> Any:
        """The scenario at an index (traced ones too), or a stack of them for a slice or an array of indices."""
        if isinstance(index, slice):
            return jax.tree.map(lambda leaf: leaf[index], self.scenarios)
        return _rows(self.scenarios, index)

    def sample(self, key: Key) -> jax.Array:
        """An index drawn from the start distribution, [] int32; one random number, exact to 2⁻²³."""
        if self.size == 1:
            return jnp.int32(0)
        return self.pick(jax.random.uniform(key))

    def pick(self, uniform: jax.Array) -> jax.Array:
        """The index that a number in [0, 1) falls on by the start distribution, [] int32."""
        if self.start_cdf is None:
            return jnp.minimum(jnp.floor(uniform * self.size).astype(jnp.int32), self.size - 1)
        total = self.start_cdf[-1]
        found = jnp.searchsorted(self.start_cdf, uniform * total, side="right", method="scan_unrolled")
        last = jnp.argmax(self.start_cdf >= total)  # of positive weight: rounding must not step over it
        return jnp.minimum(found, last).astype(jnp.int32)

    def with_start_weights(self, weights: jax.Array) -> Self:
        """The same scenarios under another start distribution; episodes under way go on as they are.

        Args:
            weights: [S], at least 0 and not all 0. An episode starts in a scenario with a probability proportional to
                its weight, and never in one of weight 0. A curriculum changes them between two updates; as all of
                `params` they are traced, so only the first change recompiles.
        """
        return self.replace(start_cdf=jnp.cumsum(jnp.asarray(weights, jnp.float32)))

    def split(self, sizes: Sequence[int]) -> list[Self]:
        """Consecutive banks of the given sizes, which must add up to this one's size; their starts are uniform."""
        if sum(sizes) != self.size or min(sizes) < 1:
            raise ValueError(f"cannot split {self.size} scenarios into banks of {list(sizes)}")
        bounds = np.cumsum([0, *sizes])
        return [self.replace(scenarios=self[a:b], start_cdf=None) for a, b in itertools.pairwise(bounds)]

    def concatenate(self, *others: Self) -> Self:
        """This bank's scenarios followed by the others', all of one shape, with uniform starts (host side).

        Raises:
            ValueError: where the banks share different things, such as two tables of texts.
        """
        if any(not _same(self.shared, other.shared) for other in others):
            raise ValueError("banks that differ in what their scenarios share cannot be concatenated")
        trees = [self.scenarios, *(other.scenarios for other in others)]
        scenarios = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *trees)
        return self.replace(scenarios=scenarios, start_cdf=None)

    def resize(self, empty: Any) -> Self:
        """This bank in the shapes of `empty`, a scenario of padding only (one number throughout each array).

        Raises:
            ValueError: where a smaller shape would cut off something that is not padding.
        """

        def fit(path: Any, leaf: jax.Array, padding: Any) -> jax.Array:
            source, padding = np.asarray(leaf), np.asarray(padding)
            fill = padding.flat[0]
            target = np.full((self.size, *padding.shape), fill, padding.dtype)
            kept = tuple(map(slice, np.minimum(source.shape, target.shape)))
            target[kept] = source[kept]
            if np.count_nonzero(source != fill) != np.count_nonzero(source[kept] != fill):
                raise ValueError(
                    f"the bank's {_name(path)} has shape {source.shape[1:]} and does not fit into "
                    f"{padding.shape}: raise the limits of the environment"
                )
            return jnp.asarray(target)

        return self.replace(scenarios=jax.tree_util.tree_map_with_path(fit, self.scenarios, empty))

    def fingerprint(self) -> str:
        """16 hexadecimal digits of the SHA-256 over names, dtypes, shapes and contents."""
        digest = hashlib.sha256()
        for name, leaf in self._named_leaves():
            digest.update(f"{name}:{leaf.dtype}:{leaf.shape};".encode())
            digest.update(np.ascontiguousarray(leaf).tobytes())
        return digest.hexdigest()[:16]

    def save(self, path: str | Path) -> None:
        """Writes the bank as a compressed `.npz`, with its fingerprint."""
        arrays: dict[str, Any] = dict(self._named_leaves())
        np.savez_compressed(path, **arrays, fingerprint=np.array(self.fingerprint()))

    @classmethod
    def load(cls, path: str | Path, empty: Any) -> Self:
        """Reads a saved bank into records of the type of `empty`, in the shapes of the file.

        Raises:
            ValueError: where the file is no bank, a bank of another environment, or has been changed.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = dict(file)
        except (zipfile.BadZipFile, ValueError, EOFError) as error:
            raise ValueError(f"{path} is not a scenario bank: {error}") from error
        said = str(arrays.pop("fingerprint", ""))
        beside = {name: jnp.asarray(arrays.pop(name)) for name in _BESIDE if name in arrays}
        leaves, structure = jax.tree_util.tree_flatten_with_path(empty)
        names = [_name(leaf_path) for leaf_path, _ in leaves]
        if set(names) != set(arrays):
            odd = sorted(set(names) ^ set(arrays))
            raise ValueError(f"{path} is not a bank of {type(empty).__module__}: it differs in {odd}")
        scenarios = jax.tree.unflatten(structure, [jnp.asarray(arrays[name]) for name in names])
        bank = cls(scenarios, **beside)
        if bank.fingerprint() != said:
            raise ValueError(f"{path} was changed after it was saved: {bank.fingerprint()} is not {said}")
        return bank

    def _named_leaves(self) -> list[tuple[str, np.ndarray]]:
        """(dotted name, array) of every leaf."""
        leaves = jax.tree_util.tree_leaves_with_path(self.scenarios)
        beside = [(name, getattr(self, name)) for name in _BESIDE]
        named = [*((_name(path), leaf) for path, leaf in leaves), *beside]
        return [(name, np.asarray(leaf)) for name, leaf in named if leaf is not None]


@functools.partial(jax.jit, inline=True)
def _rows(scenarios: Any, index: jax.Array) -> Any:
    """One program for all arrays where it is called outside of any; inside of one, as if written there."""
    return jax.tree.map(lambda leaf: leaf[index], scenarios)


def _same(one: Any, other: Any) -> bool:
    """Whether two banks share the same."""
    return one is other or (one is not None and other is not None and np.array_equal(one, other))


def _name(path: Any) -> str:
    """A tree path as `calendar.start`."""
    return ".".join(str(part).lstrip(".") for part in path)
