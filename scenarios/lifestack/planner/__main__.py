"""Writes the known returns of the library: `python -m scenarios.lifestack.planner [SECONDS]`, those of each search."""

import sys

import scenarios
from scenarios.lifestack.planner.scores import scores_of, write
from scenarios.loading import RETURNS

SECONDS = 120.0


def main(arguments: list[str]) -> None:
    """Plays and plans every task, and prints the rows that it writes."""
    library = scenarios.load("lifestack")
    rows = scores_of(library.bank, library.ids, float(arguments[0]) if arguments else SECONDS)
    write(RETURNS, rows)
    for id, row in rows.items():
        print(f"{id:26}", "  ".join(f"{name} {said}" for name, said in row.items()))


if __name__ == "__main__":
    main(sys.argv[1:])
