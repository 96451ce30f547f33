"""Checks of records: contents against declared spaces, and the numbers of params against bounds."""

from collections.abc import Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxenv.core import spaces
from jaxenv.host.names import short


def require_within(space: spaces.Record, records: Any) -> None:
    """Checks a stack of records (host side).

    Args:
        space: of one record.
        records: such records stacked along a leading axis; arrays, not tracers.

    Raises:
        ValueError: naming the first array with a number out of its bounds, or NaN, and the record it is in.
    """
    for name, box, leaf in _leaves("", space, records):
        values = np.asarray(leaf)
        if values.dtype == bool or not values.size:
            continue
        inside = (values >= box.low) & (values <= box.high)
        if not inside.all():
            where = tuple(np.argwhere(~inside)[0])
            raise ValueError(
                f"{name} of scenario {where[0]} is {values[where]}, expected numbers from {box.low:,} to {box.high:,}"
            )


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


def _leaves(prefix: str, space: spaces.Record, records: Any) -> Iterator[tuple[str, spaces.Box, Any]]:
    """(dotted name, space, array) of every array."""
    for name, each in space.fields:
        found = getattr(records, name)
        if isinstance(each, spaces.Record):
            yield from _leaves(f"{prefix}{name}.", each, found)
        elif isinstance(each, spaces.Box):
            yield f"{prefix}{name}", each, found
