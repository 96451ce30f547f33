"""Whether records hold what they may: contents against the spaces that their declarations make."""

from collections.abc import Iterator
from typing import Any

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


def _leaves(prefix: str, space: spaces.Record, records: Any) -> Iterator[tuple[str, spaces.Box, Any]]:
    """(dotted name, space, array) of every array."""
    for name, each in space.fields:
        found = getattr(records, name)
        if isinstance(each, spaces.Record):
            yield from _leaves(f"{prefix}{name}.", each, found)
        elif isinstance(each, spaces.Box):
            yield f"{prefix}{name}", each, found
