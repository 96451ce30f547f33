"""`python -m train baselines`: every agent in every environment, scored on held-out scenarios."""

import dataclasses
import functools
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jaxenv
from jaxenv import baselines as rules
from jaxenv.core import Environment
from jaxenv.core.names import did_you_mean_one_of
from train.benchmark import hardware
from train.cli import comparison
from train.results import figure, markdown, measure, store, summary
from train.results.agents import LEARNERS, settings
from train.results.held_out import TEST, held_out
from train.results.measure import LIBRARY, Measured
from train.run import folder, plots
from train.run.folder import write_atomic
from train.score.scores import ReferenceReturns

INTERRUPTED = 130  # the exit status that shells use for SIGINT
RELEASED = "PPO"  # the agent whose policies are shipped


def baselines(
    env: tuple[str, ...] = (),
    agents: tuple[str, ...] = (),
    seeds: int = 5,
    total_steps: int | None = None,
    out: Path = Path("docs/results"),
    page: Path = Path("RESULTS.md"),
    runs: Path = Path("runs/results"),
    release: Path | None = None,
    progress: bool = True,
) -> None:
    """Train and score agents on held-out scenarios, and write the table of all that was measured so far.

    What was measured before is not measured again, and runs that were killed go on.

    Args:
        env: Ids of environments; default: all.
        agents: Agents that learn: PPO, PPO-GRU, PQN, DQN; default: all. Rule-based ones are always scored.
        seeds: Runs of each agent.
        total_steps: Environment steps of each run; default: those of the environment's preset.
        out: The folder for what was measured, results.json and results.png.
        page: The page with the tables.
        runs: The folder for the runs.
        release: A folder for the policies of PPO with the median return.
        progress: Draw progress bars.
    """
    if seeds < 2:
        raise ValueError(f"seeds must be at least 2, for an interval, got {seeds}")
    ids, chosen = _known(env, jaxenv.registered(), "environment"), _known(agents, LEARNERS, "agent")
    for env_id in ids:
        made, params = jaxenv.make(env_id)
        sets, run_dirs = _sets(made, params), runs / env_id
        jobs: dict[str, Callable[[], Measured]] = {
            name: functools.partial(measure.rule_based, policy, made, sets, seeds=seeds)
            for name, policy in rules.for_environment(made).items()
        }
        for agent in chosen:
            config = settings(made, agent, seeds=seeds, total_steps=total_steps, run_dir=run_dirs / agent)
            known = (agent, config, made, params, sets)
            jobs[agent] = functools.partial(measure.learned, *known, show_progress=progress)
        marks = {name: each.bank.fingerprint() for name, each in sets.items()}
        for agent, job in jobs.items():
            _once(store.path_of(out, env_id, agent), marks, job)
        if release is not None:
            _release(store.path_of(out, env_id, RELEASED), run_dirs / RELEASED, release / f"{env_id}.msgpack")
        report(out, page)


def report(out: Path, page: Path) -> None:
    """Writes page, JSON and picture of all that was measured so far."""
    results = {}
    for env_id in jaxenv.registered():
        measured = store.load_all(out, env_id)
        if measured:
            made, params = jaxenv.make(env_id)
            order = [*rules.for_environment(made), *LEARNERS]
            ordered = {agent: measured[agent] for agent in order if agent in measured}
            results[env_id] = summary.rows(ordered, _reference(made, params))
    write_atomic(page, markdown.page(results).encode())
    plain = {env_id: [dataclasses.asdict(row) for row in rows] for env_id, rows in results.items()}
    write_atomic(out / "results.json", (json.dumps(plain, indent=1) + "\n").encode())
    if plots.is_possible():
        figure.draw(results, out / "results.png")
    print(f"written to {page} and {out}", flush=True)


def _reference(env: Environment, params: Any) -> ReferenceReturns | None:
    """The returns of Random and the best known ones on the library, if there is one."""
    library = comparison.library_for(env)
    if library is None:
        return None
    return comparison.reference_returns(env, params.replace(bank=library.bank), library, rules.random_policy)


def _sets(env: Environment, params: Any) -> dict[str, Any]:
    """Name -> params with the scenarios to score on: the held-out sets, and the library."""
    library = comparison.library_for(env)
    return {**held_out(env, params), **({} if library is None else {LIBRARY: params.replace(bank=library.bank)})}


def _once(path: Path, marks: Mapping[str, str], job: Callable[[], Measured]) -> None:
    """Measures an agent, unless it has been, on scenarios of these fingerprints."""
    if path.exists() and store.load(path).about["scenarios"] == marks:
        return
    print(f"{path.parent.name}: {path.stem}", flush=True)
    try:
        found = job()
    except measure.Interrupted:
        print("interrupted; the same command goes on")
        raise SystemExit(INTERRUPTED) from None
    about = {**found.about, "scenarios": marks, "machine": markdown.machine_in_words(hardware.describe())}
    store.save(path, dataclasses.replace(found, about=about))


def _release(measured: Path, run_dir: Path, path: Path) -> None:
    """Copies the policy of the seed whose mean return on the test set is the median."""
    found, runs = store.load(measured), folder.runs_in(run_dir)
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(runs[measure.median_seed(found, list(TEST))].policy, path)


def _known(names: Sequence[str], known: Any, what: str) -> list[str]:
    """The names, or all of them if none is given; a ValueError for one that is not known."""
    for name in names:
        if name not in known:
            raise ValueError(f"no {what} {name!r}.{did_you_mean_one_of(name, known)}")
    return list(names or known)
