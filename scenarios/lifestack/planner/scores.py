"""Known returns of the library's tasks: of baselines, played in the engine, and of the planner.

`python -m scenarios.lifestack.planner` writes them into `library/returns.json`, with these numbers for every task:

- `random`, `greedy`: mean returns of the baselines; `random_win`, `greedy_win`: how often they succeed;
- `best`: the best expected return of those who see hidden facts and the schedule of events, not the draws;
  `best_is`: `"exact"`, or `"found"`, and then `upper` is a bound of it; `win`: how likely that policy succeeds;
- `blind`: where facts are drawn at reset and do not change later, the best that was found without sight of them.
"""

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxenv.baselines import lifestack as greedy
from jaxenv.baselines import random_policy
from jaxenv.core.types import Key, Policy
from jaxenv.envs.lifestack import LifeStack
from scenarios.lifestack.planner.blind import best_looking_first
from scenarios.lifestack.planner.plans import plan

ENVIRONMENT = "LifeStack-v0"
EPISODES = {"Random": 10_000, "Greedy": 2_000}
DIGITS = 4

Row = dict[str, float | str]


def scores_of(bank: Any, ids: tuple[str, ...], seconds: float) -> dict[str, Row]:
    """The row of every task of a bank; `seconds` for each search."""
    env = LifeStack()
    params = env.params_for(bank)
    rows: dict[str, Row] = {id: {} for id in ids}
    for name, policy in {"Random": random_policy, **greedy.baselines(env)}.items():
        returns, wins = play(env, policy, params, EPISODES.get(name, 1_000))
        for row, mean, share in zip(rows.values(), returns, wins, strict=True):
            row[name.lower()] = round(float(mean), DIGITS)
            row[f"{name.lower()}_win"] = round(float(share), DIGITS)
    for number, row in enumerate(rows.values()):
        row |= planned(bank[number], seconds)
    return rows


def planned(scenario: Any, seconds: float) -> Row:
    """What the planner says of one task."""
    found = plan(scenario, seconds)
    row: Row = {"best": round(found.best, DIGITS), "best_is": "exact" if found.is_exact else "found"}
    if not found.is_exact:
        row["upper"] = round(found.upper, DIGITS)
    row["win"] = round(found.win, DIGITS)
    blind = best_looking_first(scenario, seconds)
    if blind is not None:
        row["blind"] = round(blind, DIGITS)
    return row


def play(env: LifeStack, policy: Policy, params: Any, episodes: int) -> tuple[jax.Array, jax.Array]:
    """([S] mean return, [S] share of successes) of a policy on each task of a bank."""

    @jax.jit
    def run(number: jax.Array, keys: jax.Array) -> tuple[jax.Array, jax.Array]:
        returns, wins = jax.vmap(functools.partial(_episode, env, policy, params, number))(keys)
        return returns.mean(), wins.mean()

    keys = jax.random.split(jax.random.key(0), episodes)
    found = [run(jnp.int32(number), keys) for number in range(params.bank.size)]
    return jnp.stack([mean for mean, _ in found]), jnp.stack([share for _, share in found])


def _episode(env: LifeStack, policy: Policy, params: Any, number: jax.Array, key: Key) -> tuple[jax.Array, jax.Array]:
    """The return of one episode, and whether it succeeded."""
    reset_key, play_key = jax.random.split(key)
    state = env.init(reset_key, params, number)

    def step(carry: tuple) -> tuple:
        state, key, earned, _, _ = carry
        key, policy_key, step_key = jax.random.split(key, 3)
        action = policy(policy_key, env.observe(state, params), params)
        state, reward, terminated, info = env.transition(step_key, state, action, params)
        is_over = terminated | env.is_truncated(state, params)
        return state, key, earned + reward, is_over, info["ends"].success

    first = (state, play_key, jnp.float32(0), jnp.bool_(False), jnp.bool_(False))
    _, _, earned, _, success = lax.while_loop(lambda carry: ~carry[3], step, first)
    return earned, success


def write(file: Path, rows: Mapping[str, Row], env_name: str = ENVIRONMENT) -> None:
    """Puts the rows of one environment into a file of known returns, a line for each task."""
    known = json.loads(file.read_text("utf-8")) | {env_name: dict(rows)}
    parts = []
    for name, tasks in known.items():
        lines = ",\n".join(f"    {json.dumps(id)}: {json.dumps(row)}" for id, row in tasks.items())
        parts.append(f"  {json.dumps(name)}: {{\n{lines}\n  }}")
    file.write_text("{\n" + ",\n".join(parts) + "\n}\n", "utf-8")
