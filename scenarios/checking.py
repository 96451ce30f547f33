"""Checks that the documents of several environments share: repeated ids, unknown names, capacities."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from jaxenv.core.names import did_you_mean
from scenarios.errors import Path, Problem


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
            yield Problem((*path, field), f"{field} {id!r} is repeated, first in {where}.")
        first.setdefault(id, path)


def unknown(what: str, names: Iterable[tuple[Path, str]], known: Sequence[str]) -> Iterator[Problem]:
    """Names that refer to nothing.

    Args:
        what: kind of thing that they should name.
        names: the path of each name, and the name.
        known: the names that exist.
    """
    for path, name in names:
        if name not in known:
            available = f"Available: {', '.join(known)}." if known else "There are none."
            yield Problem(path, f"no {what} {name!r}.{did_you_mean(name, known)} {available}")


def over_capacity(path: Path, counts: str, capacity: str, needed: int, limits: Any) -> Iterator[Problem]:
    """What is more than a capacity, and how to raise that.

    Args:
        path: of the table.
        counts: what there is, in words.
        capacity: field of the limits.
        needed: how large it would have to be.
        limits: capacities of the arrays.
    """
    room = getattr(limits, capacity)
    if needed <= room:
        return
    text = f"{counts} need {needed}, the capacity is {room} {capacity}. "
    try:
        dataclasses.replace(limits, **{capacity: needed})
    except ValueError:
        yield Problem(path, text + "It cannot be raised that far.")
    else:
        package = type(limits).__module__.rpartition(".")[0]
        more = f"{package}.Limits({capacity}={needed})"
        yield Problem(path, text + f"To raise it, pass limits={more} here and to jaxenv.make.")
