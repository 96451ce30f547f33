"""Whether a scenario can be won, by search, for `jaxenv scenarios check`; `import scenarios` does not load it."""

from scenarios.libraries import Library
from scenarios.solvers import week
from scenarios.solvers.lifestack import winnable as winnable_crisis


def winnable(library: Library) -> dict[str, str]:
    """Whether each scenario can be won: `yes`, `no` or `unknown`; empty where there is no planner."""
    if library.environment == "week":
        return dict(zip(library.ids, week.winnable(library.bank, library.limits), strict=True))
    if library.environment != "lifestack":
        return {}
    return {id: winnable_crisis(library.bank[n]) for n, id in enumerate(library.ids)}
