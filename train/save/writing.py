"""Writing files on a disk that may be full, of a machine that may stop: completely or not at all, and an error that
names the file.
"""

import contextlib
import errno
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from jaxenv import __version__
from jaxenv.host.names import short
from jaxenv.host.regular_files import UNFINISHED, sync_folder, write_whole

_TO_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC

VERSION = {"version": __version__}
"""A saved file's record of the program that wrote it."""


class NotWritten(OSError):
    """A file that could not be written: the disk is full, it may not be so long, or the folder is read-only.

    >>> print(NotWritten("runs/a/policy.msgpack", OSError(28, "No space left on device")))
    cannot write runs/a/policy.msgpack: No space left on device
    """

    def __init__(self, path: str | Path, error: BaseException) -> None:
        """Words an error of the system, which need not name the file."""
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        super().__init__(f"cannot write {path}: {(reason.splitlines() or [type(error).__name__])[0][:200]}")


@contextlib.contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Turns an OSError into a NotWritten that names the file."""
    try:
        yield
    except NotWritten:
        raise
    except OSError as error:
        raise NotWritten(path, error) from error


def write_atomic(path: Path, content: bytes) -> None:
    """Writes a file completely or not at all, and so that it stays when the machine stops right after.

    Raises:
        NotWritten: if that is impossible; then the file is as it was before, and nothing lies beside it.
    """
    with naming(path):
        write_whole(path, content)


def make_folder(path: Path) -> None:
    """Makes a folder of a run, unless it is there.

    Raises:
        NotWritten: if that is impossible, or if a link is there, which might lead to the files of somebody else.
    """
    with naming(path):
        if path.is_symlink():
            raise OSError(errno.ELOOP, "it is a link; a run writes only into folders of its own")
        path.mkdir(parents=True, exist_ok=True)


def remove_unfinished(folder: Path) -> None:
    """Removes unfinished files of a killed process; no other process may be writing into the folder."""
    for path in folder.glob(f"*{UNFINISHED}"):
        path.unlink(missing_ok=True)


class Lines:
    """A file that grows by whole lines, each of which is passed to the system before `add` returns.

    A process that is killed then leaves them, a machine that stops need not; `sync` is for that, and takes longer.
    """

    def __init__(self, path: Path) -> None:
        """Opens the file, to append to its contents; a link to one is an error."""
        self._path = path
        with naming(path):
            self._file = os.fdopen(os.open(path, _TO_APPEND, 0o666), "ab", buffering=0)
        sync_folder(path.parent)  # or a new one may be gone with all its lines

    def add(self, text: str) -> None:
        """Adds lines.

        Raises:
            NotWritten: if that is impossible; then the file ends where it ended before.
        """
        end, rest = self._file.tell(), memoryview(text.encode())
        try:
            with naming(self._path):
                while rest:
                    rest = rest[self._file.write(rest) :]
        except NotWritten:
            with contextlib.suppress(OSError):
                self._file.truncate(end)
            raise

    def sync(self) -> None:
        """Waits until the disk has the lines.

        Raises:
            NotWritten: if that is impossible.
        """
        with naming(self._path):
            os.fsync(self._file.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()


def written_by(record: Mapping[str, Any]) -> str:
    """Which version reads a file that this one does not.

    >>> written_by({"version": "0.1.0"})
    'jaxenv 0.1.0 wrote it, and reads it'
    >>> written_by({})
    'an early version of jaxenv wrote it, and reads it'
    """
    name = record.get("version")
    program = f"jaxenv {short(name, 40)}" if isinstance(name, str) else "an early version of jaxenv"
    return f"{program} wrote it, and reads it"
