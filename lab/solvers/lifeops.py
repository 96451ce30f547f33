"""Known returns of the library's days: exact ones by search, and that of the rule-based baseline.

- `random`: the mean return of a policy that takes every legal action equally often; `best`, `worst`: over all plays;
- `heuristic`: the return of the baseline of that name.
"""

from typing import Any

import jax

from jaxenv import baselines
from jaxenv.envs.lifeops import LifeOps
from jaxenv.evaluation import evaluate
from lab.solvers.known_returns import DIGITS, Row
from scenarios.credit.exact import solve
from scenarios.libraries import Library


def returns(env: LifeOps, library: Library) -> dict[str, Row]:
    """The row of every day; the search is exact, however long it takes."""
    params = env.params_for(library.bank)
    played = evaluate(baselines.for_environment(env)["Heuristic"], env, params).returns[:, 0].tolist()
    return {id: _row(env, params, number, played[number]) for number, id in enumerate(library.ids)}


def _row(env: LifeOps, params: Any, number: int, heuristic: float) -> Row:
    """The returns of one day."""
    found = solve(env, params, env.init(jax.random.key(0), params, number))
    row = {"random": found.random, "heuristic": heuristic, "best": found.best, "worst": found.worst}
    return {name: _plain(value) for name, value in row.items()}


def _plain(value: float) -> float:
    """A number with a few digits; a whole one without a point."""
    rounded = round(value, DIGITS)
    return int(rounded) if rounded == int(rounded) else rounded
