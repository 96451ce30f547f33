"""Writing files on a disk that may be full: completely or not at all, and an error that names the file."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

UNFINISHED = ".unfinished"  # ends the name of a file that is being written


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
    """Writes a file completely or not at all.

    Raises:
        NotWritten: if that is impossible; then the file is as it was before, and nothing lies beside it.
    """
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        with naming(path):
            unfinished.write_bytes(content)
            unfinished.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise


def remove_unfinished(folder: Path) -> None:
    """Removes what a process that was killed left unfinished; nobody else may be writing into the folder."""
    for path in folder.glob(f"*{UNFINISHED}"):
        path.unlink(missing_ok=True)


class Lines:
    """A file that grows by whole lines, each of which is handed to the system before `add` returns."""

    def __init__(self, path: Path) -> None:
        """Opens the file, to go on after what it holds."""
        self._path = path
        with naming(path):
            self._file = path.open("ab", buffering=0)

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

    def close(self) -> None:
        """Closes the file; nothing is pending."""
        self._file.close()
