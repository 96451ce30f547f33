"""The best return of a crisis: simple policies first, then a search that proves that nothing is better."""

from typing import NamedTuple

from jaxenv.envs.lifestack.types import Scenario
from scenarios.solvers.lifestack.bounds import THRESHOLDS, Bound, Policy, Rollout, expected, expected_return
from scenarios.solvers.lifestack.budget import Budget, Exhausted
from scenarios.solvers.lifestack.game import REWARD, Model, Weights
from scenarios.solvers.lifestack.search import SLACK, Search, following_budget
from scenarios.solvers.lifestack.tables import Tables


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
    best, policy = _best_rollout(model, bound, budget)
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


def _best_rollout(model: Model, bound: Bound, budget: Budget) -> tuple[float, Policy]:
    """The simple policy that earns the most, and its return."""
    following = following_budget(budget.left)
    rollouts = [Rollout(model, bound, threshold) for threshold in THRESHOLDS]
    returns = [expected_return(model, rollout, following) for rollout in rollouts]
    return max(zip(returns, rollouts, strict=True), key=lambda found: found[0])
