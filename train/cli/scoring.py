"""`jaxenv score`: a policy on the sets that agents are compared on."""

import dataclasses
from pathlib import Path

from tyro.conf import Positional

from train.benchmark import hardware
from train.cli import options, policies
from train.cli.benchmark import listed
from train.networks import custom
from train.protocol import Score, scoring
from train.save.folder import runs_in


def score(
    policy: Positional[str],
    env: str | None = None,
    network: str | None = None,
    sets: str = ",".join(scoring.NAMES),
    best: bool = False,
    greedy: bool = True,
    less: Path | None = None,
    out: Path | None = None,
) -> None:
    """Score a policy, or the seeds of a population, on held-out scenarios and on the library.

    Args:
        policy: The folder of a run or of a population, a policy file, or MODULE:POLICY, a function (key, observation,
            params) -> action.
        env: The environment of MODULE:POLICY; of a run in one of your own, MODULE:FACTORY.
        network: MODULE:FACTORY of a network of your own that a run was trained with.
        sets: Of easy, medium, hard, shifted and library, with commas.
        best: Score the policies that had the best validation return, not the last ones.
        greedy: Take the most probable action instead of sampling one.
        less: What was stored of another agent, .npz, such as docs/results/LifeOps-v0/PPO.npz in a checkout; the paired
            differences to it are printed.
        out: A file for what was measured, .npz, for --less.
    """
    if Path(policy).exists():
        runs = [policies.read(run.path, env, network, best=best, greedy=greedy) for run in runs_in(Path(policy))]
        found, env_id = [run.policy for run in runs], runs[0].env.name
    elif ":" in policy:
        if env is None:
            raise ValueError(f"{policy} needs --env ID, the environment that it is for")
        if ":" in env:
            options.register_own(env)
        found, env_id = [custom.import_named(policy, "policy")], env
    else:
        raise ValueError(f"{policy}: no such folder or file; a function is MODULE:POLICY")
    other = None if less is None else Score.load(less)
    scored = scoring.score(found, env_id, sets=listed(sets))
    print(scored)
    if other is not None:
        for name in scored.sets:
            if name in other.sets:
                print(f"{name}, less {less}: {scored.less(other, name):+.2f}")
    if out is not None:
        dataclasses.replace(scored, about={**scored.about, **hardware.describe()}).save(out)
