"""Atomic file writes: complete or not at all, even on a full disk or after a crash."""

import contextlib
import os
from pathlib import Path

UNFINISHED = ".unfinished"  # ends the name of a file that is being written


def write_whole(path: str | Path, content: bytes) -> None:
    """Writes a file so that it is whole or as it was before, and stays when the machine stops right after.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(f"{folder}/a.txt", b"all of it")
    ...     [found.name for found in pathlib.Path(folder).iterdir()]
    ['a.txt']

    Raises:
        OSError: with the name of the file; then nothing lies beside it.
    """
    place = Path(os.path.realpath(path))  # a link stays one
    unfinished = place.with_name(place.name + UNFINISHED)
    try:
        write_synced(unfinished, content)
        os.replace(unfinished, place)  # once the content is there, or the name could stand for nothing
        sync_folder(place.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror or str(error), os.fspath(path)) from error
        raise


def write_synced(path: Path, content: bytes) -> None:
    """Writes a file, and waits until the disk has it."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(path: Path) -> None:
    """Waits until the disk has the names in a folder, if the system supports that."""
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
