"""The output of the solvers: rows of `library/returns.json`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

import jaxenv
from jaxenv.core import Environment

DIGITS = 4  # after the point
EPISODES = 2_000

Row = dict[str, float | str]
"""The returns of a scenario, such as `random` and `best`."""
Table = Mapping[str, Row]
"""Scenario id -> row."""


def write(file: Path, tables: Mapping[str, Table]) -> None:
    """Puts the rows of some environments into a file of known returns, a line for each scenario."""
    known = json.loads(file.read_text("utf-8")) | tables
    parts = []
    for name, table in known.items():
        lines = ",\n".join(f"    {json.dumps(id)}: {json.dumps(row)}" for id, row in table.items())
        parts.append(f"  {json.dumps(name)}: {{\n{lines}\n  }}")
    file.write_text("{\n" + ",\n".join(parts) + "\n}\n", "utf-8")


def mean_returns(policy: Any, env: Environment, params: Any) -> np.ndarray:
    """[S] the mean return of a policy in each scenario."""
    found = jaxenv.evaluate(policy, env, params, key=jax.random.key(0), repetitions=EPISODES)
    return np.asarray(found.returns).mean(axis=1)
