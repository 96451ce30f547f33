"""Solvers: the best that can be done in a scenario, by search where that can be; `import scenarios` loads none.

`jaxenv scenarios check` asks `winnable`, and `python -m scenarios.solvers` writes `library/returns.json`.
"""

from collections.abc import Callable, Mapping
from typing import Any

import jaxenv
from scenarios.libraries import Library
from scenarios.solvers.lifeops import returns as _lifeops_returns
from scenarios.solvers.lifestack.plans import winnable as _lifestack_winnable
from scenarios.solvers.lifestack.returns import returns as _lifestack_returns
from scenarios.solvers.records import Table
from scenarios.solvers.teamsclone.returns import returns as _teamsclone_returns

_RETURNS: Mapping[str, Callable[[Any, Library, float], Table]] = {
    "lifeops": _lifeops_returns,
    "lifestack": _lifestack_returns,
    "teamsclone": _teamsclone_returns,
}
_WINNABLE: Mapping[str, Callable[[Any], str]] = {"lifestack": _lifestack_winnable}

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


def winnable(library: Library) -> dict[str, str]:
    """Whether each scenario can be won: `yes`, `no` or `unknown`; empty where there is no planner."""
    answer = _WINNABLE.get(library.environment)
    return {id: answer(library.bank[n]) for n, id in enumerate(library.ids)} if answer else {}
