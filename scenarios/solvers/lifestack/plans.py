"""Whether a crisis can be won, and how likely at best."""

import contextlib

from jaxenv.envs.lifestack.types import Scenario
from scenarios.solvers.lifestack.bounds import Bound, Guess
from scenarios.solvers.lifestack.budget import Budget, Exhausted
from scenarios.solvers.lifestack.model import Model
from scenarios.solvers.lifestack.policies import expected_return
from scenarios.solvers.lifestack.records import WIN_ONLY, WIN_SOON
from scenarios.solvers.lifestack.rollouts import THRESHOLDS, Rollout
from scenarios.solvers.lifestack.search import SLACK, Search
from scenarios.solvers.lifestack.tables import Tables

SECONDS_OF_ROLLOUTS = 0.5  # at least, however short a search is
GUESSED = 10_000  # nodes of the game in which winning soon is worth more; with more, no more was won, and later


def chance_to_win(scenario: Scenario, seconds: float = 5.0) -> tuple[float, float]:
    """The largest probability of success, as (at least, at most), which are equal where the search closes."""
    tables, budget = Tables(scenario), Budget(seconds)
    model = Model(tables, WIN_ONLY)
    bound, guide = Bound(model, budget), Guess(Model(tables, WIN_SOON), budget.part(1.0, GUESSED))
    low, following = 0.0, following_budget(seconds)
    with contextlib.suppress(Exhausted):
        for threshold in THRESHOLDS:
            low = max(low, expected_return(model, Rollout(model, bound, threshold, guide), following))
            if low >= 1.0 - SLACK:
                return 1.0, 1.0
    high = 1.0
    with contextlib.suppress(Exhausted):
        search = Search(model, bound, budget, hint=guide)
        high = search.upper()
        if low < high - SLACK:
            low = high = max(low, search.solve(low + SLACK))
    return low, high


def following_budget(seconds: float) -> Budget:
    """The budget for following policies through all that may happen."""
    return Budget(max(seconds, SECONDS_OF_ROLLOUTS))


def winnable(scenario: Scenario, seconds: float = 5.0) -> str:
    """`"yes"` if some policy can succeed, `"no"` if none can, `"unknown"` if the seconds ran out."""
    low, high = chance_to_win(scenario, seconds)
    if low > SLACK:
        return "yes"
    return "no" if high <= SLACK else "unknown"
