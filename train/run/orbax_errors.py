"""What Orbax says when it cannot read or write: one error of ours is enough, where each of its threads reports one."""

import contextlib
import functools
import logging
import os
import re
import sys
import time
from collections.abc import Iterator
from typing import Any

_CLOSED = "Event loop is closed"
DELAY = 0.3  # seconds after which the last of Orbax's readers or writers has noticed that another one failed


@contextlib.contextmanager
def quiet_reading() -> Iterator[None]:
    """Silences Orbax's parallel readers, each of which reports a broken file."""
    level, hook = logging.root.manager.disable, sys.unraisablehook
    logging.disable()
    sys.unraisablehook = lambda _: None
    try:
        yield
    except Exception:
        time.sleep(DELAY)
        raise
    finally:
        logging.disable(level)
        sys.unraisablehook = hook


@functools.cache
def quiet_writing() -> None:
    """Silences, from now on, Orbax's writers in the background: what they raise reaches who waits for them.

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
        if told := re.search(r"os_error_code='(\d+)'", str(at)):  # by TensorStore
            number = int(told[1])
            return OSError(number, os.strerror(number))
        at = at.__cause__ or at.__context__
    return error


def _is_of_others(record: logging.LogRecord) -> bool:
    """Whether a message is not an error of Orbax, or of its tasks."""
    if record.levelno < logging.ERROR:
        return True
    return "orbax" not in record.pathname and "orbax" not in record.getMessage()
