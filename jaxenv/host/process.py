"""A command as a process: how it ends when it is interrupted."""

import io
import os
import sys
from collections.abc import Callable
from typing import NoReturn

INTERRUPTED, BROKEN_PIPE = 130, 141  # the exit statuses that shells use for SIGINT and SIGPIPE


def run(main: Callable[[], int]) -> NoReturn:
    """Runs a command and leaves the process with its exit status, 130 if it was interrupted.

    An interrupted process leaves without tearing XLA down: a program that has just been compiled, or is running, makes
    that end in a segmentation fault. Characters that a terminal cannot show, such as those of a file name in another
    encoding, are escaped. Where nobody reads what is printed, as after `| head`, it ends without a word.

    Args:
        main: the command; everything that must be saved is saved when it returns.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what Python flushes at its end
        status = BROKEN_PIPE
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        status = INTERRUPTED
    if status != INTERRUPTED:
        sys.exit(status)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)
