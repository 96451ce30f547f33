"""Reading files that anybody may have put there: regular ones of a bounded size, and nothing that never ends."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # Windows has the second alone
_AT_ONCE = 2**20  # bytes of one call, which takes as much memory whatever the file has


class RefusedFile(ValueError):
    """What is wrong with a file, in words that follow its name and `is`."""


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
    jaxenv.core.regular_files.TooLarge: more than 2 bytes

    Args:
        path: the file.
        most: bytes that it may have; of more it reads one too many at most.

    Raises:
        RefusedFile: if it is something else, such as a pipe or a device, if it is larger, or if it would have to be
            waited for.
        OSError: if it cannot be read.
    """
    with _opened(path) as handle:
        if os.fstat(handle).st_size > most:  # 0 where the system makes the content up
            raise TooLarge(f"more than {most} bytes")
        content = _read(handle, most + 1)
    if len(content) > most:
        raise TooLarge(f"more than {most} bytes")
    return content


@contextlib.contextmanager
def open_regular(path: str | Path) -> Iterator[BinaryIO]:
    """Opens a regular file to read in parts, for a reader that bounds what it takes.

    Raises:
        RefusedFile: if it is something else.
        OSError: if it cannot be opened.
    """
    with _opened(path) as handle, open(handle, "rb", closefd=False) as file:
        yield file


@contextlib.contextmanager
def _opened(path: str | Path) -> Iterator[int]:
    """A handle of a regular file. What is something else is not opened, and what becomes it meanwhile is not read."""
    _check(os.stat(path))
    handle = os.open(path, _FLAGS)
    try:
        _check(os.fstat(handle))
        yield handle
    finally:
        os.close(handle)


def _check(found: os.stat_result) -> None:
    """Refuses what is not a regular file."""
    if not stat.S_ISREG(found.st_mode):
        raise RefusedFile("not a regular file")


def _read(handle: int, most: int) -> bytes:
    """What a file has, up to so many bytes."""
    content = bytearray()
    try:
        while part := os.read(handle, min(_AT_ONCE, most - len(content))):
            content += part
    except BlockingIOError as error:  # a log of the system is a regular file by its mode
        raise RefusedFile("not a file that can be read to its end") from error
    return bytes(content)
