"""The best return of a crisis: quick policies first, then a search that proves that nothing is better."""

from typing import NamedTuple

from jaxenv.envs.lifestack.types import Scenario
from scenarios.solvers.lifestack.bounds import Bound
from scenarios.solvers.lifestack.budget import Budget, Exhausted
from scenarios.solvers.lifestack.model import Model
from scenarios.solvers.lifestack.plans import following_budget
from scenarios.solvers.lifestack.policies import Policy, expected, expected_return
from scenarios.solvers.lifestack.records import REWARD, Weights
from scenarios.solvers.lifestack.rollouts import THRESHOLDS, Rollout
from scenarios.solvers.lifestack.search import SLACK, Search
from scenarios.solvers.lifestack.tables import Tables

STEPS_OFF = (0, 1, 2, 3, 4, 6)  # steps off routes that the first, quick searches may spend
SHARE = 0.15  # of the remaining seconds, for each quick search


class Plan(NamedTuple):
    """How well a task can be played.

    Attributes:
        best: the largest expected return, or the largest that was found.
        is_exact: whether no policy has a larger one.
        upper: no policy has more; `best` where that is exact.
        win: probability of success of the policy that earns `best`.
        model: the game, for which the policy is.
        policy: one that earns `best`.
    """

    best: float
    is_exact: bool
    upper: float
    win: float
    model: Model
    policy: Policy


def plan(scenario: Scenario, seconds: float = 60.0, weights: Weights = REWARD) -> Plan:
    """The best expected return of a task for a player who sees all but the draws of events.

    Args:
        scenario: the arrays of one task.
        seconds: for all searches together, about.
        weights: of the reward.

    Raises:
        Exhausted: where not even a simple policy can be followed through, since too much may happen.
    """
    return plan_of(Model(Tables(scenario), weights), seconds)


def plan_of(model: Model, seconds: float = 60.0) -> Plan:
    """The best expected return of a game, as `plan`."""
    budget = Budget(seconds)
    bound = Bound(model, budget)
    best, policy = _first_plan(model, bound, budget)
    full = Search(model, bound, budget)
    upper = full.upper()
    is_exact = best >= upper - SLACK
    if not is_exact:
        try:
            value = full.solve(best + SLACK)
            is_exact = True
        except Exhausted:
            value = best
        if value > best + SLACK:
            best, policy = value, full
    full.budget = following = following_budget(seconds)
    upper = best if is_exact else max(upper, best)
    return Plan(
        best, is_exact, upper, expected(model, policy, lambda outcome: float(outcome.success), following), model, policy
    )


def _first_plan(model: Model, bound: Bound, budget: Budget) -> tuple[float, Policy]:
    """The best policy that is found quickly: played out, or searched with few steps off routes."""
    following = following_budget(budget.left)
    rollouts = [Rollout(model, bound, threshold) for threshold in THRESHOLDS]
    returns = [expected_return(model, rollout, following) for rollout in rollouts]
    best, policy = max(zip(returns, rollouts, strict=True), key=lambda found: found[0])
    for steps_off in STEPS_OFF:
        search = Search(model, bound, budget.part(SHARE), steps_off)
        if best >= search.upper() - SLACK:
            break
        try:
            value = search.solve(best + SLACK)
        except Exhausted:
            break
        if value > best + SLACK:
            best, policy = value, search
    return best, policy
