"""A folder of checkpoints as Orbax keeps it: arrays by name and a description, by the number of a step."""

import contextlib
import functools
import logging
import os
import re
import shutil
import stat
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orbax.checkpoint as ocp

from jaxenv.host.names import short
from train.save.writing import NotWritten

MAX_KEPT = 2  # the newest ones; the older is a spare in case the newest is damaged later
MAX_DESCRIPTION = 64 * 2**20  # bytes of a file that holds no arrays
_ARRAYS = "d"  # TensorStore's name for a folder of files that hold them
_CLOSED = "Event loop is closed"
_DELAY = 0.3  # seconds after which the last of Orbax's readers or writers has noticed that another one failed


class CheckpointError(ValueError):
    """A checkpoint that is broken or belongs to another run."""


class Damaged(CheckpointError):
    """A checkpoint that cannot be read, or differs from the written one."""


class OrbaxFolder:
    """Writes checkpoints completely or not at all; turns failed reads and writes into a single error."""

    def __init__(self, path: Path) -> None:
        """Opens the folder, and removes unfinished files of a killed run.

        Raises:
            CheckpointError: if Orbax cannot list its contents, or may not open it.
            NotWritten: if it cannot be made.
        """
        self.path = path
        _quiet_writing()
        self._manager = _opened(path)

    @property
    def is_empty(self) -> bool:
        """Whether there is no checkpoint yet, complete or being written."""
        return self._manager.latest_step() is None

    def steps(self) -> list[int]:
        """The steps of the checkpoints that may be whole."""
        return list(self._manager.all_steps())

    def write(self, step: int, arrays: dict[str, Any], description: dict[str, Any]) -> None:
        """Writes a checkpoint in the background; the first one is waited for.

        Raises:
            NotWritten: if it cannot be written, or the one before it could not; those that are complete stay.
        """
        is_first = self.is_empty
        parts = ocp.args.Composite(state=ocp.args.StandardSave(arrays), run=ocp.args.JsonSave(description))
        with self._writing(self.path / str(step)):
            self._manager.save(step, args=parts)
            if is_first:
                self._manager.wait_until_finished()

    def description(self, step: int) -> Any:
        """The description written beside the arrays; Damaged if it cannot be read."""
        return self._read(step, "run", ocp.args.JsonRestore())

    def arrays(self, step: int, like: dict[str, Any]) -> dict[str, Any]:
        """The arrays, on the devices of those by the same names in `like`; Damaged if they cannot be read."""
        return self._read(step, "state", ocp.args.StandardRestore(like))

    def damaged(self, step: int, reason: str) -> Damaged:
        """The error for a checkpoint that differs from the written one."""
        where = self.path / str(step)
        return Damaged(f"{where} is damaged, or from another program ({short(reason.splitlines()[0])})")

    def put_aside(self, steps: Sequence[int]) -> None:
        """Moves checkpoints that are in the way of new ones to folders beside this one."""
        for step in steps:
            place = self.path.with_name(f"damaged-{self.path.name}-{step}")
            shutil.rmtree(place, ignore_errors=True)
            (self.path / str(step)).rename(place)
        if steps:
            self._manager.reload()

    def close(self, *, has_failed: bool) -> None:
        """Waits for unfinished writes; reports an earlier failure, if there is one."""
        with contextlib.suppress(Exception) if has_failed else self._writing(self.path):
            self._manager.close()
        if has_failed:
            self._remove_unfinished()

    def _read(self, step: int, item: str, how: Any) -> Any:
        """One part of a checkpoint."""
        try:
            with _quiet_reading():
                return self._manager.restore(step, args=ocp.args.Composite(**{item: how}))[item]
        except Exception as error:  # Orbax has no common error: whatever it raises, it could not read its own files
            raise self.damaged(step, str(error) or type(error).__name__) from error

    @contextlib.contextmanager
    def _writing(self, path: Path) -> Iterator[None]:
        """Turns Orbax's errors of writing into one error, and leaves nothing unfinished."""
        try:
            yield
        except Exception as error:  # Orbax has no common error, and those of its threads come out here
            self._remove_unfinished()
            raise NotWritten(path, _cause(error)) from error

    def _remove_unfinished(self) -> None:
        """Removes the remains of a failed write, which would be in the way on a full disk."""
        time.sleep(_DELAY)
        for path in self.path.glob("*.orbax-checkpoint-tmp*"):
            shutil.rmtree(path, ignore_errors=True)


def _opened(path: Path) -> ocp.CheckpointManager:
    """Orbax's manager of a folder, whose descriptions it reads at once."""
    if found := _refused_file(path):
        file, problem = found
        place = path / file.relative_to(path).parts[0]
        raise CheckpointError(f"{file} is {problem}: move {place} elsewhere to resume")
    options = ocp.CheckpointManagerOptions(max_to_keep=MAX_KEPT, cleanup_tmp_directories=True)
    try:
        return ocp.CheckpointManager(path.absolute(), options=options)
    except OSError as error:
        raise NotWritten(path, _cause(error)) from error
    except Exception as error:  # Orbax has no common error
        reason = short(str(error) or type(error).__name__)
        raise CheckpointError(f"{path} has a damaged checkpoint: move it elsewhere to resume ({reason})") from error


def _refused_file(folder: Path) -> tuple[Path, str] | None:
    """The first thing below a folder that Orbax may not open, and its kind; None where there is none.

    That is anything but a regular file or a folder, such as a pipe, which would be waited for, and a description
    that would fill the memory. A link to a file counts as the file; one that leads nowhere is an error of Orbax.
    """
    files = (Path(place, name) for place, _, names in os.walk(folder) for name in sorted(names))
    for path in filter(Path.exists, files):
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return path, "not a regular file"
        if found.st_size > MAX_DESCRIPTION and path.parent.name != _ARRAYS:
            return path, f"more than {MAX_DESCRIPTION} bytes"
    return None


@contextlib.contextmanager
def _quiet_reading() -> Iterator[None]:
    """Silences Orbax's parallel readers, each of which reports a broken file."""
    level, hook = logging.root.manager.disable, sys.unraisablehook
    logging.disable()
    sys.unraisablehook = lambda _: None
    try:
        yield
    except Exception:
        time.sleep(_DELAY)
        raise
    finally:
        logging.disable(level)
        sys.unraisablehook = hook


@functools.cache
def _quiet_writing() -> None:
    """Silences, from now on, Orbax's background writers: their errors still reach the code that waits for them.

    They log through absl; the writes that are left when one of them has failed call back into an event loop that is
    gone, and their tasks are reported by asyncio when they are forgotten, maybe at the end of the process.
    """
    hook = sys.unraisablehook

    def others(unraisable: Any) -> None:
        if _CLOSED not in str(unraisable.exc_value):
            hook(unraisable)

    sys.unraisablehook = others
    for name in ("absl", "asyncio"):
        logging.getLogger(name).addFilter(_is_of_others)


def _cause(error: BaseException) -> BaseException:
    """The error of the system that an error of Orbax came from, if it names one, or else the error itself."""
    at: BaseException | None = error
    while at is not None:
        if isinstance(at, OSError):
            return at
        if told := re.search(r"os_error_code='(\d+)'", str(at)):  # from TensorStore
            number = int(told[1])
            return OSError(number, os.strerror(number))
        at = at.__cause__ or at.__context__
    return error


def _is_of_others(record: logging.LogRecord) -> bool:
    """Whether a message is not an error of Orbax, or of its tasks."""
    if record.levelno < logging.ERROR:
        return True
    return "orbax" not in record.pathname and "orbax" not in record.getMessage()
