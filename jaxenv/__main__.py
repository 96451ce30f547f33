"""The command `jaxenv`: training and related commands, and `jaxenv scenarios` for documents."""

import sys
from collections.abc import Sequence
from typing import NoReturn

from jaxenv.host import process
from jaxenv.host.companions import companion


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status; 2 if a package that it needs is missing."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    is_of_scenarios = arguments[:1] == ["scenarios"]
    try:
        documents = companion("scenarios.__main__")  # which training reads scenarios with
        program = documents if is_of_scenarios else companion("train.cli.main")
    except ImportError as error:
        print(f"jaxenv: {error}", file=sys.stderr)
        return 2
    return program.main(arguments[is_of_scenarios:])


def run() -> NoReturn:
    """The console command."""
    process.run(main)


if __name__ == "__main__":
    run()
