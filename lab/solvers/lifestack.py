"""Known returns of the library's tasks: of the baselines, played in the engine, and of the planner.

- `random`, `greedy`: mean returns of the baselines; `random_win`, `greedy_win`: how often they succeed;
- `best`: the best expected return of a player who sees hidden facts and the schedule of events, not the draws;
  `best_is`: `"exact"`, or `"found"`, and then `upper` is a bound of it; `win`: how likely that policy succeeds;
- `blind`: where facts are drawn at reset and do not change later, the best return found without seeing them.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax

from jaxenv import baselines
from jaxenv.core import ScenarioBank
from jaxenv.envs.lifestack import LifeStack
from jaxenv.envs.lifestack.actions import INSPECTING, WAITING
from jaxenv.envs.lifestack.reward import WEIGHTS, RewardWeights
from jaxenv.envs.lifestack.types import Scenario
from jaxenv.evaluation import evaluate
from lab.solvers.known_returns import DIGITS, Row
from scenarios.libraries import Library
from scenarios.solvers.lifestack.bounds import THRESHOLDS, Bound, Policy, Rollout, expected
from scenarios.solvers.lifestack.budget import Budget, Exhausted
from scenarios.solvers.lifestack.game import TIME, Entry, Model, State
from scenarios.solvers.lifestack.search import SLACK, Search, following_budget
from scenarios.solvers.lifestack.tables import Tables

EPISODES = {"Random": 10_000, "Greedy": 2_000}


def returns(env: LifeStack, library: Library, seconds: float) -> dict[str, Row]:
    """The row of every task; `seconds` for each search."""
    policies = baselines.for_environment(env)
    return {
        id: played(env, policies, library.bank[number]) | planned(library.bank[number], seconds)
        for number, id in enumerate(library.ids)
    }


def played(env: LifeStack, policies: Mapping[str, Any], scenario: Any) -> Row:
    """The returns of the baselines in one task."""
    params, row = env.params_for(ScenarioBank.stack([scenario])), Row()
    for name, policy in policies.items():
        found = evaluate(policy, env, params, key=jax.random.key(0), repetitions=EPISODES[name])
        row[name.lower()] = round(float(found.returns.mean()), DIGITS)
        row[f"{name.lower()}_win"] = round(float(found.succeeded.mean()), DIGITS)
    return row


def planned(scenario: Any, seconds: float) -> Row:
    """The planner's results for one task."""
    found = plan(scenario, seconds)
    row: Row = {"best": round(found.best, DIGITS), "best_is": "exact" if found.is_exact else "found"}
    if not found.is_exact:
        row["upper"] = round(found.upper, DIGITS)
    row["win"] = round(found.win, DIGITS)
    blind = best_inspecting_first(scenario, seconds)
    if blind is not None:
        row["blind"] = round(blind, DIGITS)
    return row


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


def plan(scenario: Scenario, seconds: float = 60.0, weights: RewardWeights = WEIGHTS) -> Plan:
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
            best, policy = value, full.entry
    full.budget = following = following_budget(seconds)
    upper = best if is_exact else max(upper, best)
    win = expected(model, policy, following, lambda outcome: float(outcome.success))
    return Plan(best, is_exact, upper, win, model, policy)


def _best_rollout(model: Model, bound: Bound, budget: Budget) -> tuple[float, Policy]:
    """The simple policy that earns the most, and its return."""
    following = following_budget(budget.left)
    rollouts = [Rollout(model, bound, threshold).entry for threshold in THRESHOLDS]
    returns = [expected(model, rollout, following) for rollout in rollouts]
    return max(zip(returns, rollouts, strict=True), key=lambda found: found[0])


class InspectFirst(Model):
    """The game after every hidden fact that is drawn at reset has been inspected, a step each.

    Attributes:
        inspections: how many facts that are.
        earned: the expected return until then.
    """

    def __init__(self, tables: Tables, weights: RewardWeights = WEIGHTS) -> None:
        super().__init__(tables, weights)
        starts = super().first_states()
        drawn = 0
        for _, state in starts:
            drawn |= state.facts ^ starts[0][1].facts
        self.drawn, self.earned = drawn, 0.0
        self.inspections = sum(1 for place in range(len(tables.keys)) if drawn & tables.mask(place))
        for _ in range(self.inspections):
            starts = [after for chance, state in starts for after in self._inspected(chance, state)]
        self._starts = starts

    def first_states(self) -> list[tuple[float, State]]:
        """The states after the inspections, with their probabilities."""
        return self._starts

    def _inspected(self, chance: float, state: State) -> list[tuple[float, State]]:
        """A step that inspects has the effects of waiting, and takes time."""
        state = state._replace(time=state.time - TIME[INSPECTING])
        outcomes = self.outcomes(state, Entry(WAITING))
        self.earned += chance * sum(outcome.probability * outcome.reward for outcome in outcomes)
        return [(chance * o.probability, o.state) for o in outcomes if o.state is not None]


def best_inspecting_first(scenario: Scenario, seconds: float = 60.0) -> float | None:
    """The best expected return of a player who inspects first and then sees everything.

    Returns:
        None if nothing is drawn at reset, or if that may change later, so that inspecting once is not enough.
    """
    model = InspectFirst(Tables(scenario))
    later = [event for event in model.tables.events if event.step != 0 and event.writes.mask & model.drawn]
    if not model.inspections or later:
        return None
    return model.earned + plan_of(model, seconds).best
