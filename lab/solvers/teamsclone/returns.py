"""Known returns of the library's workspaces: returns of policies, and an upper bound.

- `random`, `rule_based`: mean returns of the baselines;
- `best`: the return of the trained policy of the package, with `best_is` `"found"`: a lower bound of the best
  return;
- `upper`: an upper bound of it. The mean over draws of the greatest return of a player who knows the draws is
  estimated, with the standard error `upper_error`, and `upper` lies four standard errors above the estimate. Scores
  are shares of it, since a share of `best` would measure the package by itself.
"""

from typing import Any

import jax

import jaxenv
from jaxenv import baselines
from jaxenv.envs.teamsclone import TeamsClone
from lab.solvers.known_returns import DIGITS, Row, mean_returns
from lab.solvers.teamsclone.expectation import expected_bound
from scenarios.libraries import Library

ERRORS = 4  # standard errors between the estimate and `upper`


def returns(env: TeamsClone, library: Library) -> dict[str, Row]:
    """The row of every workspace in `TeamsClone-v0`; none for its variants."""
    if env.name != "TeamsClone-v0":
        return {}
    params, rules = env.params_for(library.bank), baselines.for_environment(env)
    policies = {"random": rules["Random"], "rule_based": rules["Rule-based"], "best": jaxenv.load_policy(env, params)}
    means = {name: mean_returns(policy, env, params) for name, policy in policies.items()}
    return {
        id: {name: round(float(mean[number]), DIGITS) for name, mean in means.items()}
        | {"best_is": "found"}
        | bounded(env, params, number)
        for number, id in enumerate(library.ids)
    }


def bounded(env: TeamsClone, params: Any, number: int) -> Row:
    """The bounds of the returns of one workspace."""
    mean, error = expected_bound(env, params, number, jax.random.key(number))
    return {"upper": round(mean + ERRORS * error, DIGITS), "upper_error": round(error, DIGITS)}
