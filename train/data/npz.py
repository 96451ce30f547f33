"""A NumPy archive written piece by piece, for arrays of unknown length that do not fit into memory."""

import contextlib
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from train.save.writing import naming


class GrowingArchive:
    """Arrays that grow along their first axis; the file appears, complete, when the context is left without an error.

    Until then each array lies in a temporary file beside it.
    """

    def __init__(self, path: Path) -> None:
        """Makes the folder of the temporary files."""
        self._path, self._stack = path, contextlib.ExitStack()
        folder = tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-")
        self._folder = Path(self._stack.enter_context(folder))
        self._parts: dict[str, tuple[BinaryIO, np.dtype, tuple[int, ...]]] = {}

    def append(self, name: str, rows: Any) -> None:
        """Adds rows [n, ...] to an array; all but their number stays.

        Raises:
            ValueError: if their dtype or shape differs from those before.
        """
        rows = np.ascontiguousarray(rows)
        if name not in self._parts:
            file = self._stack.enter_context((self._folder / str(len(self._parts))).open("w+b"))
            self._parts[name] = file, rows.dtype, (0, *rows.shape[1:])
        file, dtype, (count, *shape) = self._parts[name]
        if (rows.dtype, list(rows.shape[1:])) != (dtype, shape):
            raise ValueError(f"{name} has rows of {dtype} {shape}, got {rows.dtype} {list(rows.shape[1:])}")
        with naming(self._path):
            file.write(rows.tobytes())
        self._parts[name] = file, dtype, (count + len(rows), *shape)

    def finish(self, **whole: Any) -> None:
        """Writes the archive: all that has grown, and further arrays that are given whole."""
        unfinished = self._folder / "archive"
        with naming(self._path):
            self._write(unfinished, whole)
            unfinished.replace(self._path)

    def _write(self, path: Path, whole: dict[str, Any]) -> None:
        """The archive, as a file."""
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
            for name, (file, dtype, shape) in self._parts.items():
                header: Any = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
                file.seek(0)
                with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    np.lib.format.write_array_header_1_0(entry, header)
                    shutil.copyfileobj(file, entry)
            for name, array in whole.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)

    def __enter__(self) -> "GrowingArchive":
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()
