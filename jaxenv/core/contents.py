"""Whether records hold what they may: contents against declared spaces, and the numbers of params."""

from collections.abc import Iterator, Mapping
from typing import Any

import jax
import numpy as np

from jaxenv.core import spaces


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


def require_numbers(params: Any, bounds: Mapping[str, tuple[float, float]] | None = None) -> None:
    """Checks the numbers of params, all but their bank (host side).

    Args:
        params: a record; arrays, not tracers.
        bounds: dotted name -> least and greatest number, where a number must be more than finite.

    Raises:
        ValueError: naming the first number that is NaN, infinite, or out of its bounds.
    """
    for path, leaf in jax.tree_util.tree_leaves_with_path(params.replace(bank=None)):
        name = ".".join(str(part).lstrip(".") for part in path)
        low, high = (bounds or {}).get(name, (-np.inf, np.inf))
        values = np.asarray(leaf)
        if not (np.isfinite(values) & (values >= low) & (values <= high)).all():
            raise ValueError(f"{name} is {values}, expected a finite number within {low:,} to {high:,}")


def _leaves(prefix: str, space: spaces.Record, records: Any) -> Iterator[tuple[str, spaces.Box, Any]]:
    """(dotted name, space, array) of every array."""
    for name, each in space.fields:
        found = getattr(records, name)
        if isinstance(each, spaces.Record):
            yield from _leaves(f"{prefix}{name}.", each, found)
        elif isinstance(each, spaces.Box):
            yield f"{prefix}{name}", each, found
