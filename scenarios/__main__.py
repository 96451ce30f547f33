"""`python -m scenarios`: check documents, show a day, compile the shipped libraries."""

import argparse
import sys
from collections.abc import Sequence

from scenarios.environments import ENVIRONMENTS
from scenarios.errors import ScenarioError
from scenarios.loading import load


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status: 1 where a document is wrong."""
    arguments = _parser().parse_args(argv)
    try:
        return arguments.run(arguments)
    except ScenarioError as error:
        print("\n".join(error.problems), file=sys.stderr)
        return 1


def check(arguments: argparse.Namespace) -> int:
    """Tells every problem and every warning of the given files, folders or libraries."""
    count, warnings, problems = 0, [], []
    for path in arguments.paths:
        try:
            library = load(path)
        except ScenarioError as error:
            problems += error.problems
        else:
            count += len(library)
            warnings += library.warnings
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    for warning in warnings:
        print(f"warning: {warning}")
    if problems:
        return 1
    print(f"{_number(count, 'scenario')}, {_number(len(warnings), 'warning')}")
    return 0


def show(arguments: argparse.Namespace) -> int:
    """Prints each day as a page."""
    library = load(arguments.path)
    page = ENVIRONMENTS[library.environment].page
    print("\n\n".join(page(document) for document in library.documents))
    return 0


def compile(arguments: argparse.Namespace) -> int:
    """Writes the bank that jaxenv ships, from its library."""
    del arguments
    for name, package in ENVIRONMENTS.items():
        library = load(name)
        library.bank.save(package.ARRAYS)
        print(f"{package.ARRAYS}: {_number(len(library), 'scenario')}, {library.bank.fingerprint()}")
    return 0


def _parser() -> argparse.ArgumentParser:
    """The commands and what they take."""
    parser = argparse.ArgumentParser(prog="python -m scenarios", description=__doc__)
    commands = parser.add_subparsers(required=True, dest="command")
    command = commands.add_parser("check", help="tell what is wrong with documents")
    command.add_argument("paths", nargs="+", metavar="PATH", help="a file, a folder or a library")
    command.set_defaults(run=check)
    command = commands.add_parser("show", help="print scenarios for people")
    command.add_argument("path", metavar="PATH_OR_NAME", help="such as lifeops/s1_basic_conflict")
    command.set_defaults(run=show)
    command = commands.add_parser("compile", help="write the arrays that jaxenv ships")
    command.set_defaults(run=compile)
    return parser


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


if __name__ == "__main__":
    sys.exit(main())
