"""Orbax, which writes a checkpoint completely or not at all: opened with care, quiet, and its errors as one."""

import contextlib
import functools
import logging
import os
import re
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orbax.checkpoint as ocp

from jaxenv.host.names import short
from train.save.writing import NotWritten, make_folder

MAX_KEPT = 2  # the newest ones; the older is a spare in case the newest is damaged later
MAX_DESCRIPTION = 64 * 2**20  # bytes of a file that holds no arrays
_ARRAYS = "d"  # TensorStore's name for a folder of files that hold them
_CLOSED = "Event loop is closed"
_DELAY = 0.3  # seconds after which the last of Orbax's readers or writers has noticed that another one failed


class CheckpointError(ValueError):
    """A checkpoint that is broken or belongs to another run."""


def opened(path: Path) -> ocp.CheckpointManager:
    """Orbax's manager of a folder, whose descriptions it reads at once; unfinished files of a killed run go.

    Raises:
        CheckpointError: if Orbax cannot list its contents, or may not open it.
        NotWritten: if it cannot be made, or is a link.
    """
    _quiet_writing()
    make_folder(path)
    if found := _refused_file(path):
        file, problem = found
        place = path / file.relative_to(path).parts[0]
        raise CheckpointError(f"{file} is {problem}: move {place} elsewhere to resume")
    options = ocp.CheckpointManagerOptions(max_to_keep=MAX_KEPT, cleanup_tmp_directories=True)
    try:
        return ocp.CheckpointManager(path.absolute(), options=options)
    except OSError as error:
        raise NotWritten(path, cause(error)) from error
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
def writing(folder: Path, path: Path) -> Iterator[None]:
    """Turns Orbax's errors of writing into one that names the path, and leaves nothing unfinished in the folder."""
    try:
        yield
    except Exception as error:  # Orbax has no common error, and those of its threads come out here
        remove_unfinished(folder)
        raise NotWritten(path, cause(error)) from error


def remove_unfinished(folder: Path) -> None:
    """Removes the remains of a failed write, which would be in the way on a full disk."""
    time.sleep(_DELAY)
    for path in folder.glob("*.orbax-checkpoint-tmp*"):
        shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def quiet_reading() -> Iterator[None]:
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


def cause(error: BaseException) -> BaseException:
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
