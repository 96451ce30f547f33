"""The metrics as a table, `metrics.csv`: what `metrics.jsonl` has, for spreadsheets and `pandas.read_csv`."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jaxenv.core.regular_files import read_regular
from train.run.metrics import MAX_BYTES
from train.run.writing import Lines, write_atomic


class TableFile:
    """Writes a row for each record, flushed before `write` returns; what is missing or not finite is an empty cell."""

    def __init__(self, path: Path, earlier: Sequence[Mapping[str, Any]] = ()) -> None:
        """Starts with the records of a run's earlier parts, whatever the file held before.

        Args:
            path: the file.
            earlier: records that are written already, as `read_metrics` has them.
        """
        self._path = path
        self._columns: list[str] = []
        self._file: Lines | None = None
        if earlier:
            self._start(earlier)

    def write(self, record: Mapping[str, Any]) -> None:
        """Adds a row; a record with other names than those before starts the file again, with more columns."""
        if self._file is None or not record.keys() <= set(self._columns):
            self._start([*self._rows(), record])
            return
        self._file.add(_lines(self._columns, [record]))

    def _rows(self) -> list[dict[str, Any]]:
        """The rows so far."""
        if self._file is None:
            return []
        text = read_regular(self._path, MAX_BYTES).decode()
        return list(csv.DictReader(io.StringIO(text, newline="")))

    def _start(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Writes the names of the columns, and all rows so far."""
        self._close()
        self._columns = list(dict.fromkeys(name for record in records for name in record))
        names = ",".join(self._columns) + "\n"
        write_atomic(self._path, (names + _lines(self._columns, records)).encode())
        self._file = Lines(self._path)

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> "TableFile":
        return self

    def __exit__(self, *exception: object) -> None:
        self._close()


def _lines(columns: Sequence[str], records: Sequence[Mapping[str, Any]]) -> str:
    """Records as rows of a table."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writerows({name: _cell(value) for name, value in record.items()} for record in records)
    return text.getvalue()


def _cell(value: Any) -> Any:
    return "" if value is None or (isinstance(value, float) and not math.isfinite(value)) else value
