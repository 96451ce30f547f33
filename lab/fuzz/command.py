"""Fuzzers: what jaxenv reads, damaged by seed, is taken or refused in a few plain words.

python -m lab fuzz                                         # all targets, a minute each
python -m lab fuzz banks policies --seconds 600 --seed 7
python -m lab fuzz documents --mutants 10500 --keep found  # where the mutants that fail are written
"""

import argparse
import collections
import contextlib
import importlib
import itertools
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab.fuzz.edits import mutants
from lab.fuzz.judging import Answer, Figures, limit_memory, run

TARGETS = {
    "documents": "scenario files and Python documents",
    "policies": "policy files",
    "banks": "scenario banks in .npz files",
    "datasets": "data sets in .npz files",
    "checkpoints": "the checkpoints of a run",
    "run_folders": "settings and metrics of a run",
    "client": "calls of the clients in words, and of the server",
    "arguments": "arguments of the commands",
}
"""Name of a module -> what it damages. A module has `DAMAGES` (class -> dice -> mutant) and `judge(mutant, folder)`."""

HEAD = "| {} | mutants | loaded | refused | seconds | slowest | found |\n|---|---|---|---|---|---|---|"


def main(argv: Sequence[str]) -> int:
    """Prints the figures by target and class, and the findings; the exit status is 1 if there are any."""
    parser = argparse.ArgumentParser(
        "python -m lab fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    targets = ", ".join(f"{name} ({what})" for name, what in TARGETS.items())
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"{targets}; default: all")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target; default: 60")
    parser.add_argument("--mutants", type=int, default=None, help="stop a target after so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=None, help="a folder for the mutants that fail")
    arguments = parser.parse_args(argv)
    if unknown := [name for name in arguments.targets if name not in TARGETS]:
        parser.error(f"no target {unknown[0]!r}: expected {', '.join(TARGETS)}")
    # One after the other, so that a limit of memory counts from the memory after imports.
    found = [_fuzz(name, arguments) for name in arguments.targets or TARGETS]
    return int(any(found))


def _fuzz(name: str, arguments: argparse.Namespace) -> int:
    """Runs one target, and prints its table; the number of findings."""
    target: Any = importlib.import_module(f"lab.fuzz.{name}")
    limit_memory()
    figures = collections.defaultdict(Figures)
    some = itertools.islice(mutants(target.DAMAGES, arguments.seed), arguments.mutants)
    end = time.monotonic() + arguments.seconds
    with tempfile.TemporaryDirectory() as folder:
        for number, each in enumerate(run(target.judge, some, Path(folder))):
            figures[each.kind].count(each.answer, each.seconds)
            if each.fault:
                print(f"{name} {arguments.seed} {number} {each.kind}: {each.fault}", flush=True)
                if arguments.keep:
                    _keep(each, arguments.keep / f"{name}_{arguments.seed}_{number}")
            if time.monotonic() > end:
                break
    print(HEAD.format(name))
    for kind in target.DAMAGES:
        print(figures[kind].row(kind))
    total = sum(figures.values(), Figures())
    print(total.row("all"), flush=True)
    return total.found


def _keep(each: Answer, place: Path) -> None:
    """Writes a finding: the traceback, and the mutant in its files, or else in words."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "fault.txt").write_text(each.message, "utf-8", "backslashreplace")
    with contextlib.suppress(Exception):  # a mutant may be so odd that it cannot be printed; its seed and number can
        if hasattr(each.mutant, "write"):
            each.mutant.write(place)
        else:
            (place / "mutant.txt").write_text(repr(each.mutant)[:1_000_000], "utf-8", "backslashreplace")
