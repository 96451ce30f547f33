"""The metrics of a run: reduced over updates, and written as one line of JSON per superstep."""

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxenv.host.regular_files import RefusedFile, read_regular
from train.learning.algorithm import Metrics
from train.save.writing import Lines, write_atomic

MAX_BYTES = 2**30  # of a file of metrics: a million and a half of supersteps


def reduce_metrics(metrics: Metrics) -> dict[str, float | int | None]:
    """Plain numbers by name, over K updates (leading axis K): episodes are summed, the rest averaged.

    `return`, `length` and `terminated` are None if no episode ended. Counts are summed here, in 64 bits: those of a
    superstep on a large machine can exceed 2**31.
    """
    host = jax.device_get(metrics)
    totals = jax.tree.map(_sum, host.totals)
    episodes = totals.episodes.means()
    return {
        **episodes,
        "terminated": int(totals.terminated) / episodes["episodes"] if episodes["episodes"] else None,
        **{name: float(np.mean(values, dtype=np.float64)) for name, values in host.means.items()},
    }


def not_finite(metrics: Metrics) -> list[str]:
    """The terms that were not finite in the first of K updates that failed; none if all were made."""
    host = jax.device_get(metrics.not_finite)
    first = np.argmax(np.any(list(host.values()), axis=0))
    return [name for name, is_bad in host.items() if is_bad[first]]


class MetricsWriter(Lines):
    """Appends records to a `.jsonl` file; each is passed to the system before `write` returns."""

    def __init__(self, path: Path, *, from_superstep: int = 0, may_have_gaps: bool = False) -> None:
        """Opens the file and drops records of `from_superstep` and later, which a resumed run writes again.

        Args:
            path: the file.
            from_superstep: supersteps that are done, each of which has a record.
            may_have_gaps: whether some may have none, as those that a member of a population failed in.

        Raises:
            ValueError: naming the first line that is no record, or not the one that it should be.
        """
        kept = _before(path, from_superstep, may_have_gaps)
        if os.path.lexists(path):  # a link becomes a file
            write_atomic(path, "".join(_line(record) for record in kept).encode())
        super().__init__(path)

    def write(self, record: dict[str, Any]) -> None:
        """Adds one line; numbers that are not finite become null, since JSON cannot express them."""
        self.add(_line(record))


def read_metrics(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a `.jsonl` file, without a last line that a killed run left incomplete.

    Raises:
        ValueError: naming the first line that holds no record, or the file if it is not a regular one.
    """
    try:
        content = read_regular(path, MAX_BYTES)
    except RefusedFile as error:
        raise ValueError(f"{path} is {error}: expected the metrics of a run") from error
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict) or not _is_record(record):
            raise ValueError(f"{path}, line {number}: expected a record of the metrics, got {line[:80]!r}")
        yield record


def _before(path: Path, superstep: int, may_have_gaps: bool) -> list[dict[str, Any]]:
    """The records of the supersteps before one, in order; a ValueError if one is missing or there twice."""
    kept: list[dict[str, Any]] = []
    expected = 0
    for number, record in enumerate(read_metrics(path) if path.exists() else (), 1):
        found = record["superstep"]
        if found >= superstep:
            continue
        if found < expected or (found > expected and not (may_have_gaps and kept)):
            raise _out_of_order(path, number, expected, f"got that of {found}")
        kept.append(record)
        expected = found + 1
    if expected < superstep and not may_have_gaps:
        raise _out_of_order(path, len(kept) + 1, expected, "and there is none")
    return kept


def _out_of_order(path: Path, line: int, expected: int, found: str) -> ValueError:
    return ValueError(
        f"{path}, line {line}: expected the record of superstep {expected}, {found}; put the file back as it was, or "
        "start over in another folder"
    )


def _is_record(found: dict[str, Any]) -> bool:
    """Whether it has the number of a superstep, and nothing but finite numbers beside it."""
    superstep = found.get("superstep")
    is_counted = type(superstep) is int and superstep >= 0
    return is_counted and all(_is_number(value) for value in found.values() if value is not None)


def _is_number(value: Any) -> bool:
    """Whether it is a number that an array can hold, as `_line` writes them."""
    return (type(value) is float and math.isfinite(value)) or (type(value) is int and abs(value) < 2**63)


def _line(record: dict[str, Any]) -> str:
    """A record as one line of JSON."""
    bad = {name: None for name, value in record.items() if isinstance(value, float) and not math.isfinite(value)}
    return json.dumps(record | bad, allow_nan=False) + "\n"


def _sum(values: np.ndarray) -> np.ndarray:
    """The sum over the leading axis, in 64 bits."""
    return values.sum(axis=0, dtype=np.float64 if np.issubdtype(values.dtype, np.floating) else np.int64)
