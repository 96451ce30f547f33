"""Checks of numbers that a user gives: contents of records, params, difficulties, and capacities of arrays."""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxenv.core import spaces
from jaxenv.host.names import short

MOST = float(np.finfo(np.float32).max)
MAX_CAPACITY = 120  # indices and counts are int8


def require_within(space: spaces.Record, records: Any) -> None:
    """Checks a stack of records (host side).

    Args:
        space: of one record.
        records: such records stacked along a leading axis; arrays, not tracers.

    Raises:
        ValueError: naming the first array with a number out of its bounds, or NaN, and the record it is in.
    """
    for name, box, leaf in spaces.leaves("", space, records):
        values = np.asarray(leaf)
        inside = (values >= box.low) & (values <= box.high)
        if not inside.all():
            where = tuple(np.argwhere(~inside)[0])
            raise ValueError(f"{name} of scenario {where[0]} is {values[where]}, expected {box.low:,} to {box.high:,}")


def require_valid(params: Any) -> None:
    """Checks a user's params by their own `validate` method, if they have one (host side).

    Raises:
        ValueError: raised by `validate`.
    """
    if hasattr(params, "validate"):
        params.validate()


def require_numbers(params: Any, bounds: Mapping[str, tuple[float, float]]) -> None:
    """Checks the numbers of params, except their bank and traced values (host side).

    Args:
        params: a record.
        bounds: dotted name of a number, or of a record of numbers, -> least and greatest; any finite one without.
            `int` bounds require whole numbers.

    Raises:
        ValueError: names the first entry that is not such a number, is NaN or infinite, or is out of its bounds.
    """
    entries = jax.tree_util.tree_leaves_with_path(params.replace(bank=None), is_leaf=lambda entry: entry is None)
    for path, entry in entries:
        name = jax.tree_util.keystr(path, simple=True, separator=".")
        if name == "bank" or isinstance(entry, Tracer):
            continue
        low, high = bounds.get(name) or bounds.get(name.partition(".")[0]) or (-np.inf, np.inf)
        values, kind = np.asarray(entry), "whole" if isinstance(low, int) else "finite"
        if not _is_within(values, low, high) or (kind == "whole" and (values % 1).any()):
            found = short(str(entry) if hasattr(entry, "dtype") else repr(entry))
            raise ValueError(f"{name} is {found}, expected a {kind} number within {low:,} to {high:,}")


def _is_within(values: np.ndarray, low: float, high: float) -> bool:
    """Whether all of an array are finite numbers within bounds."""
    if values.dtype.kind not in "iu" and not jnp.issubdtype(values.dtype, jnp.floating):
        return False
    return bool((np.isfinite(values) & (values >= low) & (values <= high)).all())


def with_difficulty(generate: Callable[..., Any]) -> Callable[..., Any]:
    """A method `generate(self, key, difficulty)`; `as_difficulty` checks its difficulty."""

    @functools.wraps(generate)
    def call(self: Any, key: Any, difficulty: Any) -> Any:
        return generate(self, key, as_difficulty(difficulty))

    return call


def as_difficulty(difficulty: Any) -> Any:
    """Returns the difficulty unchanged; a traced one cannot raise, so its negative and NaN values become 0.

    >>> from jaxenv.core.contents import as_difficulty
    >>> as_difficulty(1.5)
    1.5
    >>> as_difficulty(-0.5)
    Traceback (most recent call last):
    ValueError: difficulty is -0.5, expected a number from 0 to 1, or a finite one above

    Raises:
        ValueError: if it is not traced and is not a number, or is negative, NaN or infinite in float32.
    """
    if isinstance(difficulty, Tracer):
        return jnp.where(difficulty >= 0, difficulty, jnp.zeros_like(difficulty))
    number = np.asarray(jax.device_get(difficulty))
    if number.shape != () or not _is_within(number, 0, MOST):
        raise ValueError(f"difficulty is {difficulty!r:.100}, expected a number from 0 to 1, or a finite one above")
    return difficulty


@dataclasses.dataclass(frozen=True)
class Capacities:
    """The base of an environment's `Limits`: each field is a number from 1 to its greatest value.

    Attributes:
        axes: what the records call the length that each field is: an axis, or another size, separated by blanks.
        greatest: field -> its greatest value, where it is not `MAX_CAPACITY`.
    """

    axes: ClassVar[str] = ""
    greatest: ClassVar[Mapping[str, int]] = {}

    def __post_init__(self) -> None:
        """Refuses a capacity out of range."""
        for name, value in dataclasses.asdict(self).items():
            most = self.greatest.get(name, MAX_CAPACITY)
            is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            if not is_whole or not 1 <= value <= most:
                found = short(repr(value))
                raise ValueError(f"Limits({name}={found}): expected 1 to {most}, which is what the arrays can hold")

    @property
    def sizes(self) -> dict[str, int]:
        """Axis -> capacity."""
        return dict(zip(self.axes.split(), dataclasses.astuple(self), strict=True))
