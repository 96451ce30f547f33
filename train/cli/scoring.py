"""`jaxenv score` and `jaxenv leaderboard`: a policy on the sets that agents are compared on, and the table of all."""

import dataclasses
from pathlib import Path

from tyro.conf import Positional

from jaxenv.host.names import did_you_mean_one_of
from train.benchmark import hardware
from train.cli import options, policies
from train.cli.benchmark import listed
from train.networks import custom
from train.protocol import Score, leaderboard, scoring
from train.save.folder import RunFolder, runs_in
from train.score.scores import aligned


def score(
    policy: Positional[str],
    env: str | None = None,
    network: str | None = None,
    sets: str = ",".join(scoring.NAMES),
    best: bool = False,
    greedy: bool = True,
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
            params) -> action, or a list of them.
        env: The environment of MODULE:POLICY; of a run in one of your own, MODULE:FACTORY.
        network: MODULE:FACTORY of a network of your own that a run was trained with.
        sets: Of easy, medium, hard, shifted and library, with commas.
        best: Score the policies that had the best validation return, not the last ones.
        greedy: Take the most probable action instead of sampling one.
        less: What was stored of another agent, .npz, such as leaderboard/LifeOps-v0/PPO.npz in a checkout; the paired
            differences to it are printed.
        out: A file for the arrays, .npz, or .json for a row of the leaderboard beside them.
        name: Of the agent, in that row.
        code: The address of its code, or its command.
        env_steps: Steps of the training of each seed, of MODULE:POLICY; runs say it themselves.
        seconds: Of the training of each seed, likewise.
    """
    if out is not None and out.suffix not in (".npz", ".json"):
        raise ValueError(f"--out {out}: expected .npz, or .json for a row of the leaderboard")
    if out is not None and out.suffix == ".json" and (name is None or code is None):
        raise ValueError(f"--out {out}: a row needs --name NAME and --code ADDRESS")
    if Path(policy).exists():
        runs = [policies.read(run.path, env, network, best=best, greedy=greedy) for run in runs_in(Path(policy))]
        found, env_id = [run.policy for run in runs], runs[0].env.name
        is_run = RunFolder(Path(policy)).config.exists()
        trained = scoring.cost(Path(policy)) if is_run else {"env_steps": env_steps, "seconds": seconds}
    elif ":" in policy:
        if env is None:
            raise ValueError(f"{policy} needs --env ID, the environment that it is for")
        if ":" in env:
            options.register_own(env)
        found, env_id = custom.import_named(policy, "policy"), env
        trained = {"env_steps": env_steps, "seconds": seconds}
    else:
        raise ValueError(f"{policy}: no such folder or file; a function is MODULE:POLICY")
    other = None if less is None else Score.load(less)
    scored = scoring.score(found, env_id, sets=listed(sets))
    print(scored)
    if other is not None:
        for each in scored.sets:
            if each in other.sets:
                print(f"{each}, less {less}: {scored.less(other, each):+.2f}")
    if out is not None:
        scored = dataclasses.replace(scored, about={**scored.about, **trained, **hardware.describe()})
        scored.save(out.with_suffix(".npz"))
        if out.suffix == ".json":
            leaderboard.write(out, leaderboard.row_of(scored, env_id, name or "", code or ""))


def ranking(
    action: Positional[str] = "show", files: Positional[tuple[Path, ...]] = (), folder: Path = Path("leaderboard")
) -> None:
    """Show the leaderboard, or check rows of it: that their figures follow from their arrays, on today's scenarios.

    Args:
        action: show, or check.
        files: The rows to check, .json; default: all.
        folder: The folder of the rows.
    """
    if action == "show":
        found = leaderboard.rows(folder)
        if not found:
            raise ValueError(f"{folder} has no rows: in a checkout it is leaderboard/")
        print("\n".join(aligned(leaderboard.cells(found))))
    elif action == "check":
        for path in files or leaderboard.paths(folder):
            row = leaderboard.check(path)
            print(f"{path}: {row.agent} in {row.env} holds")
    else:
        raise ValueError(f"no action {action!r}.{did_you_mean_one_of(action, ('show', 'check'))}")
