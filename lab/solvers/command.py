"""Writes the known returns of the libraries, `scenarios/library/returns.json`; some minutes for each environment."""

import argparse
from collections.abc import Sequence

from lab import solvers
from lab.solvers.records import write
from scenarios.libraries import RETURNS, shipped
from scenarios.loading import ENVIRONMENTS

SECONDS = 120.0


def main(argv: Sequence[str]) -> int:
    """Solves the libraries of some environments, and prints the rows that it writes."""
    parser = argparse.ArgumentParser("python -m lab returns", description=__doc__)
    names = ", ".join(solvers.SOLVED)
    parser.add_argument("environments", metavar="ENVIRONMENT", nargs="*", help=f"{names}; all by default")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each search (default: %(default)g)")
    arguments = parser.parse_args(argv)
    if unknown := set(arguments.environments) - set(solvers.SOLVED):
        parser.error(f"no solver for {', '.join(sorted(unknown))}. Available: {names}.")
    for name in arguments.environments or solvers.SOLVED:
        tables = solvers.returns(shipped(ENVIRONMENTS[name]), arguments.seconds)
        write(RETURNS, tables)
        for env_name, table in tables.items():
            print(env_name)
            for id, row in table.items():
                print(f"  {id:26}", "  ".join(f"{field} {value}" for field, value in row.items()))
    return 0
