"""Scenario files and Python documents that nobody would write: each loads, or is refused in a few plain lines.

python -m tests.fuzz.documents --seconds 60 --seed 1
"""

import argparse
import collections
import dataclasses
import itertools
import pathlib
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator

import scenarios
from scenarios.environments import ENVIRONMENTS
from scenarios.libraries import SHIPPED

from .mutants import CLASSES, Mutant, load, mutants

SECONDS = 2.0  # of computing, for one mutant
SECONDS_PER_BYTE = 6e-6  # where that is more: YAML is read by a parser in Python
HANG = 60  # seconds until a mutant is stopped
MAX_MESSAGE = 10_000  # characters
MAX_REREAD = 100_000  # characters of a document that is written and read again


class Fault(AssertionError):
    """A mutant that was neither loaded nor refused as it should be."""


def judge(mutant: Mutant, folder: pathlib.Path) -> str:
    """The message with which a mutant is refused; "" for one that is loaded.

    Raises:
        Fault: for whatever else comes of it.
    """
    with _stopped(HANG):
        start = time.thread_time()
        try:
            library = load(mutant, folder)
        except scenarios.ScenarioError as error:
            message = str(error)
            _check_message(error, str(folder) if mutant.suffix else "document 1")
        else:
            message = ""
            _check_library(library)
        size = len(mutant.content) if mutant.suffix else 0
        if (seconds := time.thread_time() - start) > max(SECONDS, SECONDS_PER_BYTE * size):
            raise Fault(f"{'refused' if message else 'loaded'} after {seconds:.1f} s")
    return message


def _check_message(error: scenarios.ScenarioError, where: str) -> None:
    """It names its file, can be printed, and is short."""
    message = str(error)
    message.encode()
    if len(message) > MAX_MESSAGE:
        raise Fault(f"a message of {len(message)} characters")
    if message.splitlines() != list(error.problems):
        raise Fault(f"problems that are not a line each: {message!r}")
    if stray := [problem for problem in error.problems if not problem.startswith(where)]:
        raise Fault(f"a problem without its file: {stray[0]!r}")
    if any(word in message for word in ("cannot be read", "Traceback")) and where != "document 1":
        raise Fault(f"not in plain words: {message!r}")


def _check_library(library: scenarios.Library) -> None:
    """What was loaded can be shown, and is the same when it is written and read again."""
    for id, warning in itertools.zip_longest(library.ids, library.warnings, fillvalue=""):
        f"{id}{warning}{library.page(id) if id else ''}".encode()
    text = scenarios.dump(library.documents)
    if len(text) > MAX_REREAD:
        return
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        if scenarios.load(file.name, environment=library.environment).documents != library.documents:
            raise Fault("it is not the same when it is written and read again")


class _stopped:
    """Raises a Fault in what takes longer."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds

    def __enter__(self) -> None:
        def stop(*_: object) -> None:
            raise Fault(f"no answer after {self.seconds} s")

        self.before = signal.signal(signal.SIGALRM, stop)
        signal.alarm(self.seconds)

    def __exit__(self, *_: object) -> None:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, self.before)


@dataclasses.dataclass
class Figures:
    """What came of one class of mutants."""

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


def run(some: Iterator[tuple[str, Mutant]], folder: pathlib.Path) -> Iterator[tuple[str, str, Mutant, float, str]]:
    """(class, `loaded`, `refused` or `found`, the mutant, seconds, the fault) of each mutant."""
    for name in ENVIRONMENTS:
        scenarios.load(SHIPPED / f"{name}.example.yaml")  # compiles what the first scenario alone waits for
    for kind, mutant in some:
        start, fault = time.thread_time(), ""
        try:
            answer = "refused" if judge(mutant, folder) else "loaded"
        except Exception as error:
            answer, fault = "found", "".join(traceback.format_exception_only(error)[-1:]).strip()[:300]
            fault += " @ " + traceback.extract_tb(error.__traceback__)[-1].name
        yield kind, answer, mutant, time.thread_time() - start, fault


def main() -> int:
    """Prints the figures by class, and what was found; the exit status is 1 if anything was."""
    parser = argparse.ArgumentParser("python -m tests.fuzz.documents", description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--mutants", type=int, default=None, help="stop after so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=pathlib.Path, default=None, help="a folder for the mutants that fail")
    arguments = parser.parse_args()
    figures = collections.defaultdict(Figures)
    end = time.monotonic() + arguments.seconds
    with tempfile.TemporaryDirectory() as folder:
        some = itertools.islice(mutants(arguments.seed), arguments.mutants)
        for number, (kind, answer, mutant, seconds, fault) in enumerate(run(some, pathlib.Path(folder))):
            figures[kind].count(answer, seconds)
            if fault:
                print(f"{arguments.seed} {number} {kind} {mutant.environment}{mutant.suffix}: {fault}", flush=True)
                if arguments.keep:
                    arguments.keep.mkdir(parents=True, exist_ok=True)
                    name = arguments.keep / f"{arguments.seed}_{number}{mutant.suffix}"
                    if mutant.suffix:
                        name.write_bytes(mutant.content)
            if time.monotonic() > end:
                break
    print("| class | mutants | loaded | refused | seconds | slowest | found |\n|---|---|---|---|---|---|---|")
    for kind in CLASSES:
        row = figures[kind]
        counts = f"{row.loaded + row.refused + row.found:,} | {row.loaded:,} | {row.refused:,}"
        print(f"| {kind} | {counts} | {row.seconds:.0f} | {row.slowest:.2f} | {row.found} |")
    return int(any(row.found for row in figures.values()))


if __name__ == "__main__":
    sys.exit(main())
