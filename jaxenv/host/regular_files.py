"""Bounded reads of untrusted files: regular files of a limited size, and nothing else."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


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


@contextlib.contextmanager
def open_regular(path: str | Path) -> Iterator[BinaryIO]:
    """Opens a regular file to read in parts, for a reader that bounds its input.

    Raises:
        RefusedFile: if it is something else.
        OSError: if it cannot be opened.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise RefusedFile("not a regular file")
    with open(path, "rb") as file:
        yield file
