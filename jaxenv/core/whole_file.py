"""Writing a file on a disk that may be full: completely or not at all, and an error that names the file."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

UNFINISHED = ".unfinished"  # ends the name of a file that is being written


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes its place, and that of a file that was there, when it is whole and on the disk.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(f"{folder}/a.txt") as file:
    ...         size = file.write(b"all of it")
    ...     [found.name for found in pathlib.Path(folder).iterdir()]
    ['a.txt']

    Raises:
        OSError: with the name of the file; then it is as it was before, and nothing lies beside it.
    """
    place = Path(os.path.realpath(path))  # a link stays one
    unfinished = place.with_name(f"{place.name}.{os.getpid()}{UNFINISHED}")
    try:
        with unfinished.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, place)
        sync_folder(place.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), os.fspath(path)) from error
    finally:
        with contextlib.suppress(OSError):  # once it is in its place there is none
            unfinished.unlink()


def sync_folder(path: Path) -> None:
    """Waits until the disk has the names in a folder, where the system can tell."""
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
