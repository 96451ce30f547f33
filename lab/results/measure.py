"""Results of an agent: trained seeds, or a rule-based policy, scored episode by episode on every set."""

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxenv.core import Environment
from jaxenv.core.types import Policy, StatefulPolicy
from lab.results.agents import LEARNERS
from train import training
from train.cli.policies import sha256
from train.log.metrics import read_metrics
from train.protocol.score import Score
from train.protocol.scoring import cost, played
from train.save.checkpoint import Finished
from train.save.folder import runs_in
from train.save.policy_file import load_policy
from train.settings.config import Config


class Interrupted(Exception):
    """Training was interrupted by a signal; the same call resumes it."""


class Diverged(ArithmeticError):
    """A loss or gradient was not finite, so that a seed stopped early."""


def rule_based(policy: Policy | StatefulPolicy, env: Environment, sets: Mapping[str, Any], *, seeds: int) -> Score:
    """The same policy with several seeds of episodes."""
    return played([policy] * seeds, env, sets, {"seeds": seeds, "env_steps": 0, "seconds": 0.0})


def learned(
    agent: str,
    config: Config,
    env: Environment,
    params: Any,
    sets: Mapping[str, Any],
    *,
    show_progress: bool = True,
) -> Score:
    """Trains the seeds of an agent side by side, or the remaining ones, and scores their last policies.

    Args:
        agent: one of `LEARNERS`.
        config: its settings, with a `run_dir`; if that holds its runs already, they resume, or are scored as they are.
        env: the environment.
        params: to train with.
        sets: name -> params with the scenarios to score on.
        show_progress: whether to draw a progress bar.

    Raises:
        Interrupted: by a signal; the same call resumes the runs.
        Diverged: if a seed stopped early.
        ValueError: if the settings have no `run_dir`, or it holds other runs.
    """
    if config.run_dir is None:
        raise ValueError("expected settings with a run_dir")
    with contextlib.suppress(Finished):
        algorithm = LEARNERS[agent].algorithm
        outcomes = training.train_population(env, params, config, algorithm=algorithm, show_progress=show_progress)
        if any(outcome.stopped for outcome in outcomes.values()):
            raise Interrupted
    runs = runs_in(config.run_dir)
    env_steps = config.num_supersteps * config.steps_per_superstep
    early = [run.path.name for run in runs if list(read_metrics(run.metrics))[-1]["env_steps"] < env_steps]
    if early:
        raise Diverged(f"{', '.join(early)} of {config.run_dir} stopped early: a loss or gradient was not finite")
    about = {"seeds": len(runs), **cost(config.run_dir), "policies": [sha256(run.policy) for run in runs]}
    return played([load_policy(run.policy, env, params) for run in runs], env, sets, about)


def median_seed(measured: Score, sets: Sequence[str]) -> int:
    """The seed whose mean return over these sets is the median; of two the lower one."""
    means = np.mean([measured.returns[name].mean(axis=1) for name in sets], axis=0)
    return int(np.argsort(means, kind="stable")[(len(means) - 1) // 2])


def of_policy(folder: Path, env_id: str, policy: Path) -> tuple[Score, int]:
    """(what was measured of a policy's agent, the seed that it is), of all that a folder and those below it hold.

    Raises:
        ValueError: if it was not measured.
    """
    digest = sha256(policy)
    for path in sorted(folder.rglob(f"{env_id}/*.npz")):
        found = Score.load(path)
        if digest in (policies := found.about.get("policies", [])):
            return found, policies.index(digest)
    raise ValueError(f"{folder} has no score of {policy}")


def path_of(folder: Path, env_id: str, agent: str) -> Path:
    """The file of an agent in an environment."""
    return folder / env_id / f"{agent}.npz"


def load_all(folder: Path, env_id: str) -> dict[str, Score]:
    """Agent -> its measurements in an environment so far."""
    return {path.stem: Score.load(path) for path in sorted((folder / env_id).glob("*.npz"))}
