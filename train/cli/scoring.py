"""`jaxenv score` and `jaxenv leaderboard`: a policy on the sets that agents are compared on, and the table of all."""

import dataclasses
from pathlib import Path
from typing import Any, Literal

from tyro.conf import Positional

import jaxenv
from jaxenv.host.named import import_named
from jaxenv.host.names import require_one_of
from train.cli import options, policies
from train.cli.benchmark import listed
from train.protocol import Score, leaderboard, scoring
from train.save.folder import RunFolder, policy_path, runs_in
from train.score.scores import aligned
from train.settings import task
from train.settings.serialize import differences, in_words


def score(
    policy: Positional[str],
    env: str | None = None,
    network: str | None = None,
    sets: str = ",".join(scoring.NAMES),
    less: Path | None = None,
    out: Path | None = None,
    name: str | None = None,
    code: str | None = None,
    env_steps: int = 0,
    seconds: float = 0.0,
) -> None:
    """Score a policy, or the seeds of a population, on held-out scenarios and on the library.

    Args:
        policy: The folder of a run or of a population, a policy file, or MODULE:POLICY, a function (key, observation,
            params) -> action, or a list of them. Or a folder of episodes that `jaxenv play` saved, one of each scenario
            of the library.
        env: The environment of MODULE:POLICY; of a run in one of your own, MODULE:FACTORY.
        network: MODULE:FACTORY of a network of your own that a run was trained with.
        sets: Of easy, medium, hard (together test), shifted, library, and validation, with commas.
        less: What was stored of another agent, .npz, such as leaderboard/LifeOps-v0/PPO.npz in a checkout; the paired
            differences to it are printed.
        out: A file for the arrays, .npz, or .json for a row of the leaderboard beside them.
        name: Of the agent, in that row.
        code: The address of its code, or its command.
        env_steps: Steps of the training of each seed, of MODULE:POLICY or a policy file; runs say it, with those of a
            search.
        seconds: Of the training of each seed, likewise.
    """
    if out is not None and out.suffix not in (".npz", ".json"):
        raise ValueError(f"--out {out}: expected .npz, or .json for a row of the leaderboard")
    if out is not None and out.suffix == ".json" and not (name and code):
        raise ValueError(f"--out {out}: a row needs --name NAME and --code ADDRESS")
    if out is not None and Path(policy).is_file() and not env_steps:
        raise ValueError(f"--out {out}: {policy} does not say how long it was trained: add --env-steps, or name a run")
    other = None if less is None else Score.load(less)
    training = {}
    if episodes := _episodes(Path(policy)):
        scored = scoring.by_hand(episodes)
    elif Path(policy).exists():
        found, env_id, training = _of_runs(Path(policy), env, network)
        scored = scoring.score(found, env_id, sets=listed(sets))
    else:
        scored = scoring.score(_function(policy, env), env or "", sets=listed(sets))
    print(scored)
    if out is not None:
        about = {**scored.about, **training}
        scored = dataclasses.replace(scored, about=about).trained(env_steps, seconds)
        if out.suffix == ".json":
            leaderboard.save(scored, out, agent=name or "", code=code or "")
        else:
            scored.save(out)
        print(f"written to {out}")
    for each in scored.sets:
        if other is not None and each in other.sets:
            print(f"{each}, less {less}: {scored.less(other, each):+.2f}")


def _episodes(path: Path) -> list[Path]:
    """The files of episodes in a folder; none where it is that of runs."""
    return [] if RunFolder(path).config.exists() else sorted(path.glob("*.json"))


def _of_runs(path: Path, env: str | None, network: str | None) -> tuple[list[Any], str, dict[str, Any]]:
    """(policies of a run's or a population's folder, or of a file; the environment; digests and cost of training).

    Raises:
        ValueError: for a run in an environment with other arguments, which would be scored in another one.
    """
    runs = [policies.read(policies.Which(run.path, env, network)) for run in runs_in(path)]
    training = scoring.cost(path) if RunFolder(path).config.exists() else {}
    env_id = env or runs[0].env.name
    here = task.describe_arguments(jaxenv.make(env_id)[0])
    for run in runs:
        if differing := differences(task.describe_arguments(run.env), here):
            raise ValueError(f"{path} was trained in another environment than {env_id}: {in_words(differing)}")
    digests = [policies.sha256(policy_path(run.path, best=False)) for run in runs_in(path)]
    return [run.policy for run in runs], env_id, {**training, "policies": digests}


def _function(name: str, env: str | None) -> Any:
    """The policy that MODULE:POLICY names, or the list of policies."""
    if ":" not in name:
        raise ValueError(f"{name}: no such folder or file; a function is MODULE:POLICY")
    if env is None:
        raise ValueError(f"{name} needs --env ID, the environment that it is for")
    if ":" in env:
        options.register_own(env)
    return import_named(name, "policy")


def ranking(
    action: Positional[Literal["show", "check"]] = "show",
    files: Positional[tuple[Path, ...]] = (),
    folder: Path = Path("leaderboard"),
    env: str | None = None,
) -> None:
    """Show the leaderboard, or check rows of it: that their figures follow from their arrays, on today's scenarios.

    Args:
        action: show, or check.
        files: The rows to check, .json; default: all, which takes some minutes.
        folder: The folder of the rows.
        env: Show the rows of this environment alone.
    """
    if action == "check" and env is not None:
        raise ValueError("--env is for what is shown; check takes the files of rows")
    if action == "show":
        found = leaderboard.rows(folder)
        if not found:
            raise ValueError(f"{folder} has no rows: in a checkout it is leaderboard/")
        if env is not None:
            require_one_of(env, dict.fromkeys(row.env for row in found), f"{folder} has no row of {env!r}")
            found = [row for row in found if row.env == env]
        print("\n".join(aligned(leaderboard.cells(found))))
    else:
        for path in files or leaderboard.paths(folder):
            row = leaderboard.check(path)
            print("; ".join([f"{path}: {row.agent} in {row.env} holds", *leaderboard.lacks(row)]))
