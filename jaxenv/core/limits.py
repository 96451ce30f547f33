"""Capacities: static sizes of arrays, checked against the ranges of their dtypes."""

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from jaxenv.host.names import short

MAX_CAPACITY = 120  # indices and counts are int8


@dataclasses.dataclass(frozen=True)
class Capacities:
    """The base of an environment's `Limits`: each field is a number from 1 to its greatest value.

    Attributes:
        greatest: field -> its greatest value, where it is not `MAX_CAPACITY`.
    """

    greatest: ClassVar[Mapping[str, int]] = {}

    def __post_init__(self) -> None:
        """Refuses a capacity out of range."""
        for name, value in dataclasses.asdict(self).items():
            most = self.greatest.get(name, MAX_CAPACITY)
            is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            if not is_whole or not 1 <= value <= most:
                found = short(repr(value))
                raise ValueError(f"Limits({name}={found}): expected 1 to {most}, which is what the arrays can hold")


def require_bits(what: str, count: int, bits: int) -> None:
    """Refuses more items than there are bits (or codes) for them.

    Raises:
        ValueError: names the items, their number and the capacity.
    """
    if count > bits:
        raise ValueError(f"{count} {what}, but the arrays have room for {bits}")
