"""Mutation testing of the engines: small mistakes in rewards, masks and ends, each of which some test must catch.

make mutation ARGS="lifeops --sample 100 --seed 2026"      # needs cosmic-ray on the path

Cosmic Ray changes one operator or number at a time, in a copy of the repository, and runs the engine's tests. Of its
operators those are tried that may stand for a slip: a number off by one, `<` for `<=`, `and` for `or`, a lost `not`.
"""

import argparse
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = {
    "lifeops": ("reward", "actions", "dynamics", "observe"),
    "lifestack": ("reward", "actions", "dynamics", "conditions"),
    "teamsclone": ("reward", "actions", "dynamics"),
    "week": ("reward", "actions", "dynamics"),
}
"""Engine -> the modules in `jaxenv/envs` that hold its rewards, masks and ends."""

ELSEWHERE = {"lifeops": ["tests/scenarios/test_traces.py"]}
"""Engine -> tests of it that are not in its own folder: recordings of its rewards."""

BINARY = (
    *("BitAnd_BitOr", "BitOr_BitAnd", "BitXor_BitOr", "Add_Sub", "Sub_Add", "Mul_Add", "Div_Mul"),
    *("LShift_RShift", "RShift_LShift", "Mod_Add", "FloorDiv_Mul"),
)
COMPARISON = ("Eq_NotEq", "NotEq_Eq", "Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Lt_GtE", "Gt_LtE")
OPERATORS = (
    *("NumberReplacer", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ZeroIterationForLoop"),
    *("ReplaceUnaryOperator_Delete_Invert", "ReplaceUnaryOperator_Delete_USub"),
    *(f"ReplaceBinaryOperator_{name}" for name in BINARY),
    *(f"ReplaceComparisonOperator_{name}" for name in COMPARISON),
)
TIMEOUT = 400  # seconds of one run of the tests


def main(argv: Sequence[str]) -> int:
    """Prints the mutants that no test caught; the exit status is 1 if there are any."""
    parser = argparse.ArgumentParser("python -m lab mutation", description=__doc__)
    parser.add_argument("engine", choices=FILES)
    parser.add_argument("--sample", type=int, default=None, help="as many mutants, drawn by the seed; default: all")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    if (cosmic_ray := shutil.which("cosmic-ray")) is None:
        parser.error("cosmic-ray is missing: pip install cosmic-ray")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        skipped = shutil.ignore_patterns(".*", "runs", "build", "dist", "site")
        shutil.copytree(ROOT, copy, ignore=skipped)
        (copy / "mutation.toml").write_text(_settings(arguments.engine), encoding="utf-8")
        _run(copy, cosmic_ray, "init", "mutation.toml", "mutation.sqlite")
        with sqlite3.connect(copy / "mutation.sqlite") as session:
            _draw(session, arguments.sample, arguments.seed)
        _run(copy, cosmic_ray, "exec", "mutation.toml", "mutation.sqlite")
        with sqlite3.connect(copy / "mutation.sqlite") as session:
            return _report(session)


def _settings(engine: str) -> str:
    """The modules that Cosmic Ray mutates, and its tests: those that compare with a second engine come first.

    That some test fails is enough: no failing example is made simpler.
    """
    folder = f"tests/jaxenv/envs/{engine}"
    names = sorted(path.name for path in (ROOT / folder).glob("test_*.py"))
    tests = [f"{folder}/{name}" for name in sorted(names, key=lambda name: "differential" not in name)]
    tests += ELSEWHERE.get(engine, [])
    paths = ", ".join(f'"jaxenv/envs/{engine}/{name}.py"' for name in FILES[engine])
    return f"""[cosmic-ray]
module-path = [{paths}]
timeout = {TIMEOUT}.0
excluded-modules = []
test-command = "{sys.executable} -m pytest -q -x -n 0 --hypothesis-profile=unshrunk {" ".join(tests)}"
[cosmic-ray.distributor]
name = "local"
"""


def _run(copy: Path, *command: str) -> None:
    """Runs a command in the copy, whose modules it imports."""
    settings = {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(command, cwd=copy, env={**os.environ, **settings}, check=True)


def _draw(session: sqlite3.Connection, size: int | None, seed: int) -> None:
    """Leaves a sample of the mutants of the chosen operators."""
    order = "module_path, start_pos_row, start_pos_col, operator_name, occurrence, operator_args"
    rows = session.execute(f"select job_id, operator_name from mutation_specs order by {order}")
    chosen = [(job,) for job, name in rows if name.removeprefix("core/") in OPERATORS]
    kept = chosen if size is None else random.Random(seed).sample(chosen, min(size, len(chosen)))
    print(f"{len(kept)} of {len(chosen)} mutants", flush=True)
    session.execute("create temporary table kept (job_id text)")
    session.executemany("insert into kept values (?)", kept)
    for table in ("mutation_specs", "work_items"):
        session.execute(f"delete from {table} where job_id not in (select job_id from kept)")


def _report(session: sqlite3.Connection) -> int:
    """Prints the results of the mutants."""
    survivors = session.execute(
        "select module_path, start_pos_row, operator_name, diff from work_results natural join mutation_specs "
        "where test_outcome = 'SURVIVED' order by 1, 2"
    ).fetchall()
    for path, row, name, diff in survivors:
        changed = [line for line in diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
        print(f"{path}:{row} {name.removeprefix('core/')}", *changed, sep="\n    ")
    ((tried,),) = session.execute("select count(*) from work_results")
    print(f"{tried - len(survivors)} of {tried} mutants were caught")
    return int(bool(survivors))
