"""`python -m lab results`: every agent in every environment, scored on held-out scenarios."""

import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jaxenv
from jaxenv import baselines as rules
from jaxenv.core import Environment
from jaxenv.host import process
from jaxenv.host.names import did_you_mean_one_of
from lab.results import figure, markdown, measure, summary
from lab.results.agents import LEARNERS, settings, since, weights_digest
from train.cli.numbers import call
from train.log import plots
from train.protocol import leaderboard, shipped
from train.protocol.score import Score
from train.protocol.scoring import marks, marks_of, scored_on
from train.save import folder
from train.save.writing import write_atomic
from train.score.held_out import TEST
from train.settings.serialize import from_json, to_json

RELEASED = "PPO"  # the agent whose policies are shipped


def train_and_score(
    env: tuple[str, ...] = (),
    agents: tuple[str, ...] = (),
    seeds: int = 5,
    total_steps: int | None = None,
    out: Path = Path("leaderboard"),
    page: Path = Path("RESULTS.md"),
    runs: Path = Path("runs/results"),
    release: Path | None = None,
    progress: bool = True,
) -> None:
    """Train and score agents on held-out scenarios, and write the table of all that was measured so far.

    What was measured before, with the same settings and scenarios, is not measured again; runs that were killed go on.

    Args:
        env: Ids of environments; default: all.
        agents: Agents that learn: PPO, PPO-GRU, PPO-PLR, PQN, DQN; default: all. Rule-based ones and
            Myopic are always scored.
        seeds: Runs of each agent.
        total_steps: Environment steps of each run; default: those of the environment's preset.
        out: The folder for what was measured, rows of the leaderboard, results.json and results.png.
        page: The page with the tables.
        runs: The folder for the runs.
        release: A folder for the policies of PPO whose mean return on the test set is the median.
        progress: Draw progress bars.
    """
    if seeds < 2:
        raise ValueError(f"seeds must be at least 2, for an interval, got {seeds}")
    ids, chosen = _known(env, jaxenv.registered(), "environment"), _known(agents, LEARNERS, "agent")
    for env_id in ids:
        made, params = jaxenv.make(env_id)
        sets = scored_on(made, params)
        scenarios = marks(sets)
        for name, policy in _untrained(made).items():
            job = functools.partial(measure.rule_based, policy, made, sets, seeds=seeds)
            _once(measure.path_of(out, env_id, name), {"scenarios": scenarios, "seeds": seeds}, job)
        for agent in chosen:
            config = settings(made, agent, seeds=seeds, total_steps=total_steps)
            weights = weights_digest(config, made, params)
            asked = {"scenarios": scenarios, "settings": to_json(config), "weights": weights}
            run_dir = runs / env_id / f"{agent}-{_short(asked)}"
            known = (agent, dataclasses.replace(config, run_dir=run_dir), made, params, sets)
            job = functools.partial(measure.learned, *known, show_progress=progress)
            _once(measure.path_of(out, env_id, agent), asked, job)
            if agent == RELEASED and release is not None:
                _release(measure.path_of(out, env_id, agent), run_dir, release / f"{env_id}.msgpack")
    report(out, page)


def report(out: Path, page: Path) -> None:
    """Writes page, JSON and picture of all that was measured so far on the scenarios of today."""
    results, earlier = {}, {}
    for env_id in jaxenv.registered():
        measured = measure.load_all(out, env_id)
        if not measured:
            continue
        made, params = jaxenv.make(env_id)
        scenarios = marks_of(made, params)
        order = [*_untrained(made), *LEARNERS]
        found = {name: measured[name] for name in order if name in measured}
        current = {name: each for name, each in found.items() if is_current(each, scenarios, made, params)}
        if left_out := set(found) - set(current):  # somebody else's rows are on the leaderboard alone
            names = ", ".join(sorted(left_out))
            print(f"{env_id}: left out, since measured on other scenarios, or with networks that read others: {names}")
        results[env_id] = summary.rows(current, shipped.reference_of(made))
        for name, score in current.items():
            row = leaderboard.row_of(score, name, score.about["command"])
            leaderboard.write(measure.path_of(out, env_id, name).with_suffix(".json"), row)
        if RELEASED in current:
            earlier[env_id] = since(from_json(current[RELEASED].about["asked"]["settings"]), made, RELEASED)
    plain = {env_id: [dataclasses.asdict(row) for row in rows] for env_id, rows in results.items()}
    write_atomic(out / "results.json", (json.dumps(plain, indent=1) + "\n").encode())
    picture = out / "results.png" if plots.is_possible() else None
    if picture is not None:
        figure.draw(results, picture)
    shown = None if picture is None else os.path.relpath(picture, page.parent)
    others = [os.path.relpath(other, page.parent) for other in sorted(out.glob("*/README.md"))]
    write_atomic(page, markdown.page(results, shown, others, earlier).encode())
    print(f"written to {page} and {out}", flush=True)


def _untrained(env: Environment) -> dict[str, Any]:
    """The policies that are scored as they are: the baselines, and Myopic."""
    return {**rules.for_environment(env), "Myopic": rules.Myopic(env)}


def is_current(measured: Score, scenarios: Mapping[str, str], env: Environment, params: Any) -> bool:
    """Whether the scenarios are those of today, and a network of the same settings has the same weights today."""
    asked = measured.about["asked"]
    if asked["scenarios"] != scenarios:
        return False
    return "settings" not in asked or asked.get("weights") == weights_digest(from_json(asked["settings"]), env, params)


def _short(asked: Mapping[str, Any]) -> str:
    """A few digits that distinguish runs of other settings, or before other generators."""
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:8]


def _once(path: Path, asked: Mapping[str, Any], job: Callable[[], Score]) -> None:
    """Measures an agent, unless that has been measured; one whose training diverges is left out."""
    asked = json.loads(json.dumps(asked))  # as a file holds it
    if path.exists() and _with_defaults(Score.load(path).about["asked"]) == asked:
        return
    print(f"{path.parent.name}: {path.stem}", flush=True)
    try:
        found = job()
    except measure.Interrupted:
        print("interrupted; the same command goes on")
        raise SystemExit(process.INTERRUPTED) from None
    except measure.Diverged as error:
        print(f"left out: {error}", file=sys.stderr)
        return
    dataclasses.replace(found, about={**found.about, "asked": asked}).save(path)


def _with_defaults(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Earlier settings, with the defaults of the settings that came later; unchanged if they cannot be read."""
    with contextlib.suppress(ValueError):
        if "settings" in asked:
            return {**asked, "settings": to_json(from_json(asked["settings"]))}
    return dict(asked)


def _release(measured: Path, run_dir: Path, path: Path) -> None:
    """Copies the policy of the seed whose mean return on the test set is the median.

    Raises:
        ValueError: if the runs are not those that were measured.
    """
    policies = {measure.sha256(run.policy): run.policy for run in folder.runs_in(run_dir) if run.policy.exists()}
    found = Score.load(measured) if measured.exists() else None
    wanted = found and found.about["policies"][measure.median_seed(found, list(TEST))]
    if wanted not in policies:
        raise ValueError(f"{run_dir} does not hold the runs that {measured} was measured on")
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(policies[wanted], path)


def _known(names: Sequence[str], known: Any, what: str) -> list[str]:
    """The names, or all of them if none is given; a ValueError for an unknown one."""
    for name in names:
        if name not in known:
            raise ValueError(f"no {what} {name!r}.{did_you_mean_one_of(name, known)}")
    return list(names or known)


def main(argv: Sequence[str]) -> int:
    """Runs the command."""
    return call(train_and_score, argv, "python -m lab results")
