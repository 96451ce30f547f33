"""Searches for the best that can be done in the scenarios of the libraries: exact returns, or proven bounds of them."""

import argparse
from collections.abc import Callable, Mapping, Sequence

import jaxenv
from lab.solvers.known_returns import Table, write
from lab.solvers.lifeops import returns as _lifeops_returns
from lab.solvers.lifestack import returns as _lifestack_returns
from lab.solvers.teamsclone.returns import returns as _teamsclone_returns
from lab.solvers.week import returns as _week_returns
from scenarios.libraries import RETURNS, Library, shipped
from scenarios.loading import ENVIRONMENTS

_RETURNS: Mapping[str, Callable[..., Table]] = {
    "lifeops": _lifeops_returns,
    "lifestack": _lifestack_returns,
    "teamsclone": _teamsclone_returns,
    "week": _week_returns,
}

DESCRIPTION = "Writes the known returns, `scenarios/library/returns.json`; some minutes for each environment."
SECONDS = 120.0

SOLVED = tuple(_RETURNS)
"""Environments with known returns."""


def returns(library: Library, seconds: float) -> dict[str, Table]:
    """The known returns of a library under every registered id of its environment.

    Args:
        library: documents of one of `SOLVED`.
        seconds: for each search that can be cut short.
    """
    ids = [id for id in jaxenv.registered() if isinstance(jaxenv.make(id)[0], library.format.environment)]
    limit = {"seconds": seconds} if library.environment == "lifestack" else {}  # the other searches are not cut short
    tables = {id: _RETURNS[library.environment](jaxenv.make(id)[0], library, **limit) for id in ids}
    return {id: table for id, table in tables.items() if table}


def main(argv: Sequence[str]) -> int:
    """Solves the libraries of some environments, and prints the rows that it writes."""
    parser = argparse.ArgumentParser("python -m lab returns", description=DESCRIPTION)
    names = ", ".join(SOLVED)
    parser.add_argument("environments", metavar="ENVIRONMENT", nargs="*", help=f"{names}; all by default")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each search (default: %(default)g)")
    arguments = parser.parse_args(argv)
    if unknown := set(arguments.environments) - set(SOLVED):
        parser.error(f"no solver for {', '.join(sorted(unknown))}. Available: {names}.")
    for name in arguments.environments or SOLVED:
        tables = returns(shipped(ENVIRONMENTS[name]), arguments.seconds)
        write(RETURNS, tables)
        for env_name, table in tables.items():
            print(env_name)
            for id, row in table.items():
                print(f"  {id:26}", "  ".join(f"{field} {value}" for field, value in row.items()))
    return 0
