"""The scenario bank: many scenarios of one shape as one tree of arrays, so that a reset is an index."""

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jax.core import Tracer

from jaxenv.core import starts
from jaxenv.core.bank_file import read_arrays, write_arrays
from jaxenv.core.types import Key
from jaxenv.host.names import short
from jaxenv.lowering import draws
from jaxenv.lowering.lookup import read_shared

_OTHER_FIELDS = ("shared", "start_table")  # besides the scenarios; a saved bank has them under these names


class ScenarioBank(struct.PyTreeNode):
    """Scenarios stacked along a leading axis; a pytree, so params carry it through jit and vmap.

    >>> import jax.numpy as jnp, jaxenv
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> bank = jaxenv.ScenarioBank(params.bank[jnp.array([0, 3, 7])])
    >>> params = params.replace(bank=bank)
    >>> params.bank.size
    3
    """

    scenarios: Any  # a Scenario record, each array with a leading axis of the bank's size
    shared: Any = None  # data that all scenarios refer to, such as a table of texts: an array or None
    start_table: jax.Array | None = None  # [S, 2] float32, `starts.alias_table` of start weights; None if all are equal

    @classmethod
    def stack(cls, scenarios: Sequence[Any]) -> Self:
        """Stacks scenarios into a bank, in their order (host side).

        >>> import jaxenv
        >>> bank = jaxenv.make("LifeOps-v0")[1].bank
        >>> len(jaxenv.ScenarioBank.stack([bank[0], bank[3]]))
        2

        Raises:
            ValueError: if there are no scenarios.
        """
        if not scenarios:
            raise ValueError("expected at least one scenario, got none")
        return cls(jax.device_put(jax.tree.map(lambda *leaves: np.stack(leaves), *scenarios)))

    def only(self, scenario: Any) -> Self:
        """A bank of one scenario, without the axis, beside what this one shares; jittable.

        >>> import jaxenv
        >>> bank = jaxenv.make("LifeOps-v0")[1].bank
        >>> bank.only(bank[3]).size
        1
        """
        return self.replace(scenarios=jax.tree.map(lambda leaf: jnp.expand_dims(leaf, 0), scenario), start_table=None)

    @property
    def size(self) -> int:
        """The number of scenarios (static)."""
        return jax.tree.leaves(self.scenarios)[0].shape[0]

    def __len__(self) -> int:
        """The number of scenarios."""
        return self.size

    def __iter__(self) -> Iterator[Any]:
        """The scenarios, one after the other."""
        return (self[index] for index in range(self.size))

    def __repr__(self) -> str:
        """`ScenarioBank(12 scenarios, 7,656 bytes)`; of other leaves, such as axes of `jax.vmap`, their tree."""
        leaves = jax.tree.leaves(self)
        if not leaves or not all(getattr(leaf, "shape", ()) for leaf in leaves):
            return f"ScenarioBank({self.scenarios!r})"
        size = sum(leaf.size * leaf.dtype.itemsize for leaf in leaves)
        return f"ScenarioBank({self.size:,} scenarios, {size:,} bytes)"

    def __getitem__(self, index: Any) -> Any:
        """The scenario at an index, which may be traced, or a stack of them for a slice or an array of indices.

        An index out of range is clamped; a negative one counts from the end where it is a Python int.

        Raises:
            TypeError: for an index that is no integer, such as a mask.
            ValueError: if there are no scenarios, unless a slice is asked for.
        """
        if isinstance(index, slice):
            return jax.tree.map(lambda leaf: leaf[index], self.scenarios)
        if not jnp.issubdtype(jnp.result_type(index), jnp.integer):
            raise TypeError(f"index {short(str(index))} of a bank: expected integers; of a mask, jnp.flatnonzero(mask)")
        if not self.size:
            raise ValueError("the bank has no scenarios, expected at least one")
        if isinstance(index, int) and index < 0:
            index += self.size
        return read_shared(self.scenarios, index)

    def sample(self, key: Key) -> jax.Array:
        """Draws an index from the start distribution: [] int32, from one random number, exact to 2⁻²³."""
        if self.size == 1:
            return jnp.int32(0)
        return self.pick(draws.uniform(key))

    def pick(self, uniform: jax.Array) -> jax.Array:
        """Maps a number in [0, 1) to an index by the start distribution: [] int32."""
        if self.start_table is not None:
            return starts.pick(self.start_table, uniform)
        return jnp.minimum(jnp.floor(uniform * self.size).astype(jnp.int32), self.size - 1)

    @property
    def start_probabilities(self) -> jax.Array:
        """[S] float32, which sum to 1: how often an episode starts in each scenario."""
        if self.start_table is None:
            return jnp.full(self.size, 1.0 / self.size)
        return starts.probabilities(self.start_table)

    def with_start_weights(self, weights: jax.Array) -> Self:
        """The same scenarios with another start distribution; running episodes are not affected.

        >>> import jax, jax.numpy as jnp, jaxenv
        >>> bank = jaxenv.make("LifeOps-v0")[1].bank
        >>> bank = bank.with_start_weights(jnp.zeros(bank.size).at[7].set(1.0))
        >>> int(bank.sample(jax.random.key(0)))
        7

        Args:
            weights: [S], at least 0 and not all 0. An episode starts in a scenario with a probability proportional to
                its weight, and never in one of weight 0. A curriculum may change them between two updates; like all
                of `params` they are traced, so only the first change recompiles.

        Raises:
            ValueError: for other weights, unless they are traced.
        """
        if not isinstance(weights, Tracer):
            given = np.asarray(weights, np.float64)
            if given.shape != (self.size,) or not (np.isfinite(given) & (given >= 0)).all() or not given.any():
                found = f"{short(str(given))} of shape {list(given.shape)}"
                raise ValueError(f"start weights {found}: expected {self.size} numbers of at least 0, not all 0")
            weights = given / given.max()  # in float64, as their float32 may be 0 or infinite
        return self.replace(start_table=starts.alias_table(jnp.asarray(weights, jnp.float32)))

    def split(self, sizes: Sequence[int]) -> list[Self]:
        """Splits into consecutive banks of the given sizes, which add up to this bank's; their starts are uniform.

        >>> import jaxenv
        >>> train, test = jaxenv.make("LifeOps-v0")[1].bank.split([9, 3])
        >>> train.size, test.size
        (9, 3)
        """
        if sum(sizes) != self.size or min(sizes) < 1:
            raise ValueError(f"cannot split {self.size} scenarios into banks of {list(sizes)}")
        bounds = np.cumsum([0, *sizes])
        return [self.replace(scenarios=self[a:b], start_table=None) for a, b in itertools.pairwise(bounds)]

    def concatenate(self, *others: Self) -> Self:
        """This bank's scenarios followed by those of others of the same shape, with uniform starts (host side).

        >>> import jaxenv
        >>> bank = jaxenv.make("LifeOps-v0")[1].bank
        >>> bank.concatenate(bank).size
        24

        Raises:
            ValueError: if `shared` differs, such as two tables of texts.
        """
        if any(not np.array_equal(self.shared, other.shared) for other in others):
            raise ValueError("cannot concatenate banks that differ in `shared`, what their scenarios refer to")
        trees = [self.scenarios, *(other.scenarios for other in others)]
        scenarios = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *trees)
        return self.replace(scenarios=scenarios, start_table=None)

    def resize(self, empty: Any) -> Self:
        """This bank in the shapes of `empty`, a scenario of padding only (the same number throughout each array).

        Raises:
            ValueError: if a smaller shape would cut off something that is not padding, or if a number is NaN.
        """

        def fit(path: Any, leaf: jax.Array, padding: Any) -> np.ndarray:
            source, padding = np.asarray(leaf), np.asarray(padding)
            fill = padding.flat[0]
            if source.dtype.kind == "f" and (bad := np.argwhere(np.isnan(source))).size:
                raise ValueError(f"the bank's {_name(path)} of scenario {bad[0][0]} is nan, expected a finite number")
            target = np.full((self.size, *padding.shape), fill, padding.dtype)
            kept = tuple(map(slice, np.minimum(source.shape, target.shape)))
            target[kept] = source[kept]
            is_whole = np.array_equal(target[kept], source[kept])  # a set of more numbers may have a wider dtype
            if not is_whole or np.count_nonzero(source != fill) != np.count_nonzero(source[kept] != fill):
                raise ValueError(f"the bank's {_name(path)} does not fit into {padding.shape}: raise the limits")
            return target

        return self.replace(scenarios=jax.device_put(jax.tree_util.tree_map_with_path(fit, self.scenarios, empty)))

    def fingerprint(self, *, floats: bool = True) -> str:
        """The first 16 hexadecimal digits of the SHA-256 of names, dtypes, shapes and contents.

        Args:
            floats: whether to read the contents of floats, whose last bits depend on the compiler that drew them.
        """
        hasher = hashlib.sha256()
        for name, leaf in self._named_leaves():
            hasher.update(f"{name}:{leaf.dtype}:{leaf.shape};".encode())
            if floats or not np.issubdtype(leaf.dtype, np.floating):
                hasher.update(np.ascontiguousarray(leaf).tobytes())
        return hasher.hexdigest()[:16]

    def save(self, path: str | Path) -> None:
        """Writes the bank as a compressed `.npz`, with its fingerprint: completely or not at all.

        >>> import jaxenv, tempfile
        >>> env, params = jaxenv.make("LifeOps-v0")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     params.bank.save(f"{folder}/bank.npz")
        ...     loaded = jaxenv.ScenarioBank.load(f"{folder}/bank.npz", env.empty_scenario)
        >>> loaded.fingerprint() == params.bank.fingerprint()
        True

        Raises:
            OSError: with the name of the file, such as where the disk is full; a bank that was there stays.
        """
        write_arrays(path, dict(self._named_leaves()), self.fingerprint())

    @classmethod
    def load(cls, path: str | Path, empty: Any) -> Self:
        """Reads a saved bank into records of the type of `empty`, in the shapes of the file.

        Raises:
            FileNotFoundError: if there is no such file.
            ValueError: if the file is not a bank, belongs to another environment, or was changed.
        """
        scenario = dict(cls(empty)._named_leaves())
        arrays, expected = read_arrays(path, scenario, _OTHER_FIELDS, type(empty).__module__)
        others = jax.device_put({name: arrays[name] for name in _OTHER_FIELDS if name in arrays})
        scenarios = jax.device_put([arrays[name] for name in scenario])
        bank = cls(jax.tree.unflatten(jax.tree.structure(empty), scenarios), **others)
        if bank.fingerprint() != expected:
            raise ValueError(f"{path} was changed after it was saved: its fingerprint is not {short(expected)}")
        if bank.start_table is not None and not starts.is_alias_table(np.asarray(bank.start_table), bank.size):
            raise ValueError(f"{path} has a start_table that is not one of {bank.size} scenarios")
        if bank.shared is not None and not np.isfinite(bank.shared).all():
            raise ValueError(f"{path} has numbers in `shared` that are not finite")
        return bank

    def _named_leaves(self) -> list[tuple[str, np.ndarray]]:
        """(dotted name, array) of every leaf: of the scenarios, which are records, `calendar.start`; else `shared`."""
        leaves = jax.tree_util.tree_leaves_with_path(self)
        return [(_name(path).removeprefix("scenarios."), np.asarray(leaf)) for path, leaf in leaves]


def _name(path: Any) -> str:
    """A tree path as `calendar.start`."""
    return jax.tree_util.keystr(path, simple=True, separator=".")
