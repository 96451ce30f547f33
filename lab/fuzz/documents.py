"""Scenario files and Python documents that nobody would write: each loads, or is refused in a few plain lines."""

import functools
import itertools
import pathlib
import tempfile
import time

import scenarios
from lab.fuzz.judging import Fault, check_message, stopped
from lab.fuzz.mutants import CLASSES as CLASSES
from lab.fuzz.mutants import Mutant, load
from lab.fuzz.mutants import mutants as mutants
from scenarios.environments import ENVIRONMENTS
from scenarios.libraries import SHIPPED

SECONDS = 2.0  # of computing, for one mutant
SECONDS_PER_BYTE = 6e-6  # where that is more: YAML is read by a parser in Python
MAX_REREAD = 100_000  # characters of a document that is written and read again


def judge(mutant: Mutant, folder: pathlib.Path) -> str:
    """The message with which a mutant is refused; "" for one that is loaded.

    Raises:
        Fault: for whatever else comes of it.
    """
    _prepare()
    with stopped():
        start = time.thread_time()
        try:
            library = load(mutant, folder)
        except scenarios.ScenarioError as error:
            message = str(error)
            _check_problems(error, str(folder) if mutant.suffix else "document 1")
        else:
            message = ""
            _check_library(library)
        size = len(mutant.content) if mutant.suffix else 0
        if (seconds := time.thread_time() - start) > max(SECONDS, SECONDS_PER_BYTE * size):
            raise Fault(f"{'refused' if message else 'loaded'} after {seconds:.1f} s")
    return message


def _check_problems(error: scenarios.ScenarioError, where: str) -> None:
    """They are short, can be printed, and name their file, a line each."""
    message = str(error)
    check_message(message)
    if message.splitlines() != list(error.problems):
        raise Fault(f"problems that are not a line each: {message!r}")
    if stray := [problem for problem in error.problems if not problem.startswith(where)]:
        raise Fault(f"a problem without its file: {stray[0]!r}")
    if "cannot be read" in message and where != "document 1":
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


@functools.cache
def _prepare() -> None:
    """Compiles what the first scenario alone waits for."""
    for name in ENVIRONMENTS:
        scenarios.load(SHIPPED / f"{name}.example.yaml")
