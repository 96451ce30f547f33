"""Rules that all fuzzers share: the faults, the time limit of an answer, and the form of a message."""

import dataclasses
import resource
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

HANG = 60  # seconds until a mutant is stopped
MAX_MESSAGE = 10_000  # characters of a message
MAX_SENTENCE = 1_000  # and of a one-sentence message
MEMORY = 2 * 2**30  # bytes that a mutant may take beyond the memory of the process


class Fault(AssertionError):
    """A mutant that was neither taken nor refused as it should be."""


class stopped:
    """Raises a Fault in code that takes longer, and after it where that Fault was caught on its way."""

    def __init__(self, seconds: int = HANG) -> None:
        self.seconds = seconds

    def __enter__(self) -> None:
        def stop(*_: object) -> None:
            raise Fault(f"no answer after {self.seconds} s")

        self.end = time.monotonic() + self.seconds
        self.before = signal.signal(signal.SIGALRM, stop)
        signal.alarm(self.seconds)

    def __exit__(self, *_: object) -> None:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, self.before)
        if time.monotonic() >= self.end:
            raise Fault(f"no answer after {self.seconds} s")


class answered(stopped):
    """The same, and a Fault after code that computes for more than so many seconds."""

    def __init__(self, computing: float, seconds: int = HANG) -> None:
        super().__init__(seconds)
        self.computing = computing

    def __enter__(self) -> None:
        super().__enter__()
        self.start = time.thread_time()

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        if (seconds := time.thread_time() - self.start) > self.computing:
            raise Fault(f"answered after {seconds:.1f} s")


def check_message(message: str, where: str = "") -> None:
    """A Fault for a message that is long, cannot be printed, or does not say where."""
    message.encode()
    if len(message) > MAX_MESSAGE:
        raise Fault(f"a message of {len(message)} characters")
    if where not in message:
        raise Fault(f"a message without its file: {message!r}")
    if "Traceback" in message:
        raise Fault(f"not in plain words: {message!r}")


def check_sentence(message: str, where: str = "") -> None:
    """A Fault unless the message is one short, printable line that names the place."""
    check_message(message, where)
    if len(message) - len(where) > MAX_SENTENCE:
        raise Fault(f"a sentence of {len(message)} characters")
    if not message or not message.isprintable():
        raise Fault(f"not a line that can be printed: {message!r}")


def limit_memory(more: int = MEMORY) -> None:
    """Lets this process take so many more bytes of address space; larger requests get a MemoryError."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))


class Answer(NamedTuple):
    """The result of one mutant."""

    kind: str  # its class
    mutant: Any
    answer: str  # `loaded`, `refused` or `found`
    seconds: float  # of computing
    fault: str  # the finding
    message: str  # with which it was refused, or the traceback of the fault


def run(judge: Callable[[Any, Path], str], some: Iterator[tuple[str, Any]], folder: Path) -> Iterator[Answer]:
    """Judges each mutant, in an empty folder of its own."""
    for kind, mutant in some:
        start, fault = time.thread_time(), ""
        with tempfile.TemporaryDirectory(dir=folder) as own:
            try:
                message = judge(mutant, Path(own))
                answer = "refused" if message else "loaded"
            except Exception as error:
                answer, message = "found", "".join(traceback.format_exception(error))
                fault = traceback.format_exception_only(error)[-1].strip()[:300]
                fault += " @ " + traceback.extract_tb(error.__traceback__)[-1].name
        yield Answer(kind, mutant, answer, time.thread_time() - start, fault, message)


@dataclasses.dataclass
class Figures:
    """The results of one class of mutants."""

    loaded: int = 0
    refused: int = 0
    found: int = 0
    seconds: float = 0.0
    slowest: float = 0.0

    def count(self, answer: str, seconds: float) -> None:
        """Adds a mutant."""
        setattr(self, answer, getattr(self, answer) + 1)
        self.seconds += seconds
        self.slowest = max(self.slowest, seconds)

    def __add__(self, other: "Figures") -> "Figures":
        """Of both."""
        counts = (self.loaded + other.loaded, self.refused + other.refused, self.found + other.found)
        return Figures(*counts, self.seconds + other.seconds, max(self.slowest, other.slowest))

    def row(self, name: str) -> str:
        """A line of the table."""
        counts = f"{self.loaded + self.refused + self.found:,} | {self.loaded:,} | {self.refused:,}"
        return f"| {name} | {counts} | {self.seconds:.0f} | {self.slowest:.2f} | {self.found} |"
