"""Known returns of the library's tasks: of the baselines, played in the engine, and of the planner.

- `random`, `greedy`: mean returns of the baselines; `random_win`, `greedy_win`: how often they succeed;
- `best`: the best expected return of a player who sees hidden facts and the schedule of events, not the draws;
  `best_is`: `"exact"`, or `"found"`, and then `upper` is a bound of it; `win`: how likely that policy succeeds;
- `blind`: where facts are drawn at reset and do not change later, the best return found without seeing them.
"""

from collections.abc import Mapping
from typing import Any

import jax

from jaxenv import baselines
from jaxenv.core import ScenarioBank
from jaxenv.envs.lifestack import LifeStack
from jaxenv.evaluation import evaluate
from lab.solvers.lifestack.blind import best_inspecting_first
from lab.solvers.lifestack.plans import plan
from lab.solvers.records import DIGITS, Row
from scenarios.libraries import Library

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
