"""Known returns of the library's workspaces: what baselines and the trained policy of the package earn.

- `random`, `rule_based`: mean returns of the baselines;
- `best`: that of the trained policy, and `best_is` is `"found"`: there is no planner, so that it is a lower bound of
  what can be earned.
"""

from typing import Any

import jax
import numpy as np

import jaxenv
from jaxenv import baselines
from jaxenv.envs.teamsclone import TeamsClone
from jaxenv.policies import released
from scenarios.libraries import Library
from scenarios.solvers.records import DIGITS, Row

EPISODES = 2_000


def returns(env: TeamsClone, library: Library, seconds: float = 0.0) -> dict[str, Row]:
    """The row of every workspace; none for an environment without a trained policy. `seconds` are not needed."""
    del seconds
    if env.name not in released():
        return {}
    params, rules = env.params_for(library.bank), baselines.for_environment(env)
    policies = {"random": rules["Random"], "rule_based": rules["Rule-based"], "best": jaxenv.load_policy(env, params)}
    means = {name: _means(policy, env, params) for name, policy in policies.items()}
    return {
        id: {name: round(float(mean[number]), DIGITS) for name, mean in means.items()} | {"best_is": "found"}
        for number, id in enumerate(library.ids)
    }


def _means(policy: Any, env: TeamsClone, params: Any) -> np.ndarray:
    """[S] the mean return of a policy in each workspace."""
    found = jaxenv.evaluate(policy, env, params, key=jax.random.key(0), repetitions=EPISODES)
    return np.asarray(found.returns).mean(axis=1)
