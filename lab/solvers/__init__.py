"""Searches for the best that can be done in the scenarios of the libraries: exact returns, or proven bounds of them."""

from collections.abc import Callable, Mapping
from typing import Any

import jaxenv
from lab.solvers.lifeops import returns as _lifeops_returns
from lab.solvers.lifestack.returns import returns as _lifestack_returns
from lab.solvers.records import Table
from lab.solvers.teamsclone.returns import returns as _teamsclone_returns
from scenarios.libraries import Library

_RETURNS: Mapping[str, Callable[[Any, Library, float], Table]] = {
    "lifeops": _lifeops_returns,
    "lifestack": _lifestack_returns,
    "teamsclone": _teamsclone_returns,
}

SOLVED = tuple(_RETURNS)
"""Environments with known returns."""


def returns(library: Library, seconds: float) -> dict[str, Table]:
    """The known returns of a library under every registered id of its environment.

    Args:
        library: documents of one of `SOLVED`.
        seconds: for each search that can be cut short.
    """
    ids = [id for id in jaxenv.registered() if isinstance(jaxenv.make(id)[0], library.format.environment)]
    tables = {id: _RETURNS[library.environment](jaxenv.make(id)[0], library, seconds) for id in ids}
    return {id: table for id, table in tables.items() if table}
