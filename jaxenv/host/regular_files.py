"""Regular files: bounded reads of untrusted ones, and atomic writes, complete or not at all even after a crash.

Links are read through, never written through.
"""

import contextlib
import os
import stat
from pathlib import Path
from typing import BinaryIO

UNFINISHED = ".unfinished"  # ends the name of a file that is being written


class RefusedFile(ValueError):
    """The reason for refusing a file, in words that follow its name and `is`."""


class TooLarge(RefusedFile):
    """A file of more bytes than it may have."""


def read_regular(path: str | Path, most: int) -> bytes:
    """The content of a regular file, or of one that a link leads to.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "file"
    >>> path.write_bytes(b"abc")
    3
    >>> read_regular(path, 3)
    b'abc'
    >>> read_regular(path, 2)
    Traceback (most recent call last):
    jaxenv.host.regular_files.TooLarge: more than 2 bytes

    Args:
        path: the file.
        most: bytes that it may have.

    Raises:
        RefusedFile: if it is something else, such as a pipe or a device, or if it is larger.
        OSError: if it cannot be read.
    """
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > most:
            raise TooLarge(f"more than {most} bytes")
        return file.read()


def open_regular(path: str | Path) -> BinaryIO:
    """Opens a regular file to read in parts, for a reader that bounds its input.

    Raises:
        RefusedFile: if it is something else.
        OSError: if it cannot be opened.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise RefusedFile("not a regular file")
    return open(path, "rb")


def write_whole(path: str | Path, content: bytes) -> None:
    """Writes a file so that it is whole or as it was before, and stays when the machine stops right after.

    A link at its place is replaced; what it leads to stays as it is.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(f"{folder}/a.txt", b"all of it")
    ...     [found.name for found in pathlib.Path(folder).iterdir()]
    ['a.txt']

    Raises:
        OSError: with the name of the file; then nothing lies beside it.
    """
    place = Path(path)
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
    """Writes a new file in the place of whatever is there, and waits until the disk has it."""
    path.unlink(missing_ok=True)
    with path.open("xb") as file:  # which follows no link
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
