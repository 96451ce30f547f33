"""What the documents of all environments share: checks, and numbers on their way into arrays and out of them."""

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from jaxenv.host.names import did_you_mean, listed
from scenarios.text.errors import OverCapacity, Path, Problem, named


def repeated(ids: Iterable[tuple[Path, str]], field: str = "id") -> Iterator[Problem]:
    """Ids that occur more than once.

    Args:
        ids: the path of each record, and its id.
        field: of the records, which holds the id.
    """
    first: dict[str, Path] = {}
    for path, id in ids:
        if id in first:
            pairs = zip(first[id][::2], first[id][1::2], strict=True)
            where = " ".join(f"{part} item {int(number) + 1}" for part, number in pairs)
            yield Problem((*path, field), f"{field} {named(id)} is repeated, first in {where}.")
        first.setdefault(id, path)


def unknown(what: str, names: Iterable[tuple[Path, str]], known: Sequence[str]) -> Iterator[Problem]:
    """Names that refer to nothing.

    Args:
        what: kind of thing that they should name.
        names: the path of each name, and the name.
        known: the names that exist.
    """
    exists = set(known)
    for path, name in names:
        if name not in exists:
            yield Problem(path, functools.partial(_no_such, what, name, known))


def _no_such(what: str, name: str, known: Sequence[str]) -> str:
    """Names the nearest one, and all."""
    available = f"Available: {listed(known)}." if known else "There are none."
    return f"no {what} {named(name)}.{did_you_mean(name, known)} {available}"


def over_capacity(path: Path, counts: str, capacity: str, needed: int, limits: Any) -> Iterator[OverCapacity]:
    """An excess over a capacity, with the way to raise it.

    Args:
        path: of the table.
        counts: the number of items, in words.
        capacity: field of the limits.
        needed: the capacity that the document needs.
        limits: capacities of the arrays.
    """
    room = getattr(limits, capacity)
    if needed <= room:
        return
    text = f"{counts} need {needed}, the capacity is {room} {capacity}. "
    try:
        dataclasses.replace(limits, **{capacity: needed})
    except ValueError:
        yield OverCapacity(path, text + "It cannot be raised that far.")
    else:
        package = type(limits).__module__.rpartition(".")[0]
        more = f"{package}.Limits({capacity}={needed})"
        yield OverCapacity(path, text + f"To raise it, pass limits={more} here and to jaxenv.make.")


def like(padding: Any, value: Any) -> Any:
    """A value in the dtype that its field has."""
    return np.asarray(value, padding.dtype)


def fill(padding: Any, values: Sequence[Any]) -> Any:
    """The values, then padding."""
    filled = np.array(padding)
    filled[: len(values)] = values
    return filled


def shortest(number: Any) -> float:
    """The float with the fewest digits that is the same float32."""
    return float(str(np.float32(number)))
