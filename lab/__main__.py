"""Instruments of the makers, in a checkout: `python -m lab COMMAND …`."""

import importlib
import sys
from collections.abc import Sequence

from jaxenv.host import process
from jaxenv.host.names import did_you_mean_one_of

COMMANDS = {
    "results": ("lab.results.command", "train every agent and write RESULTS.md"),
    "difficulty": ("lab.results.difficulty", "score agents and runs by the difficulty of generated scenarios"),
    "bench": ("lab.bench.speeds", "measure steps per second, beside other suites"),
    "bench-gpu": ("lab.bench.gpu", "measure all of it on a GPU, within eight minutes"),
    "compile-for": ("lab.bench.compiled", "compile the programs for chips that are not here"),
    "library": ("lab.library", "compile scenarios/library/ into the arrays and schemas that jaxenv ships"),
    "returns": ("lab.solvers", "search the best returns and write returns.json"),
    "fuzz": ("lab.fuzz.command", "damage files, calls and arguments"),
    "soak": ("lab.soak", "play random legal steps and check their laws"),
    "mutation": ("lab.mutation", "put mistakes into an engine that tests must catch"),
    "tables": ("lab.pages.tables", "write tables, licences and badges of docs/"),
    "gallery": ("lab.pages.gallery", "record the episodes of docs/gallery/"),
    "notebooks": ("lab.pages.notebooks", "run the notebooks and store what they show"),
}
"""Name -> the module whose `main(argv)` runs it and returns its exit status, and a line of help."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status; it is 2 for a request that cannot be met."""
    name, *arguments = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    if name in ("-h", "--help"):
        commands = "\n".join(f"  {each:<13}{line}" for each, (_, line) in COMMANDS.items())
        print(f"usage: python -m lab COMMAND ...\n\n{commands}\n\nRun COMMAND --help for options.")
        return 0
    try:
        if name not in COMMANDS:
            raise ValueError(f"no command {name!r}.{did_you_mean_one_of(name, COMMANDS)}")
        return importlib.import_module(COMMANDS[name][0]).main(arguments)
    except (ValueError, OSError) as error:
        print(f"python -m lab: {error}", file=sys.stderr)
        return 2
    except SystemExit as exit:  # how argument parsers end
        return exit.code if isinstance(exit.code, int) else 2


if __name__ == "__main__":
    process.run(main)
