"""Known returns of the library's weeks: of policies, and of a plan by somebody who knows the whole week.

- `random`, `rule_based`: mean returns of the baselines;
- `best`: the return of the best of the clairvoyant's plans, with `best_is` `"found"`: a lower bound of the best return,
  the same under every id, since what is known changes no payment.
"""

import functools

import jax
import jax.numpy as jnp

from jaxenv import baselines
from jaxenv.envs.week import Week
from lab.solvers.known_returns import DIGITS, Row, mean_returns
from scenarios.libraries import Library
from scenarios.solvers.week import plan

ROUNDS, SEEDS = 1000, 4  # of the clairvoyant


def returns(env: Week, library: Library) -> dict[str, Row]:
    """The row of every week."""
    params, rules = env.params_for(library.bank), baselines.for_environment(env)
    means = {
        "random": mean_returns(rules["Random"], env, params),
        "rule_based": mean_returns(rules["Rule-based"], env, params),
        "best": planned(library),
    }
    return {
        id: {name: round(float(mean[number]), DIGITS) for name, mean in means.items()} | {"best_is": "found"}
        for number, id in enumerate(library.ids)
    }


@functools.lru_cache(maxsize=1)
def planned(library: Library) -> jax.Array:
    """[S] float32: the returns of the clairvoyant's best plans, which are the same under every id."""
    env = Week(limits=library.limits)
    params = env.params_for(library.bank)
    return jnp.max(jnp.stack([plan(env, params, ROUNDS, seed=seed) for seed in range(SEEDS)]), axis=0)
