"""The command line: `python -m train ppo|evaluate|plot|bench`, installed also as `jaxenv`."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
import tyro

import scenarios
from jaxenv import baselines
from jaxenv.core import Environment
from jaxenv.evaluation import evaluate
from train import console, options, plots, presets, run_folder, runner, settings, task
from train.config import Config
from train.policy import load_policy, read_header
from train.report import table
from train.scores import Known
from train.validation import validation_returns

USAGE = """\
usage: python -m train COMMAND ...

  ppo --env ID            train a policy and score it on the environment's library
  ppo --resume RUN_DIR    go on with a run that was killed or stopped
  evaluate RUN_DIR        score the policy of a run
  plot RUN_DIR ...        draw the learning curves of runs
  bench                   measure steps per second

Each tells its options with --help."""

STOPPED = 130  # the exit status that shells give to what SIGINT ends
EPISODES = 64  # of each scenario, for the table: more than one for environments that draw
RANDOM_EPISODES = 1000  # of each scenario whose random return is not known
UNKNOWN = {"random": np.nan, "best": np.nan}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status.

    2 where it cannot do what it is asked, 1 where training came to a loss that is not finite, 130 where it was stopped.
    """
    name, *arguments = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    if name in ("-h", "--help"):
        print(USAGE)
        return 0
    try:
        if name not in COMMANDS:
            raise ValueError(f"no command {name!r}.{presets.nearest(name, COMMANDS)}")
        return COMMANDS[name](arguments)
    except (ValueError, OSError) as error:
        print(f"python -m train: {error}", file=sys.stderr)
        return 2
    except runner.NotFinite as error:
        print(f"python -m train: {error}", file=sys.stderr)
        return 1
    except SystemExit as exit:  # how argument parsers end
        return exit.code if isinstance(exit.code, int) else 2


def ppo(argv: Sequence[str]) -> int:
    """Trains, then prints the table on the library, or on the scenarios of one's own that were trained on."""
    asked = options.parse(argv)
    config = asked.config
    env, params = task.make(config)
    source = config.training.scenarios
    library = load_library(env, None if source in ("generated", "library") else source)
    if not config.is_generated:
        params = params.replace(bank=library.bank)
    folder = asked.resumed or run_folder.create(config)
    print(
        f"{config.env} on {jax.devices()[0].platform}, written to {folder.path}\n{console.length(config)}", flush=True
    )
    outcome = runner.run(config, env, params, folder)
    if plots.is_possible():
        plots.learning_curves([folder], folder.learning_curve)
    print(
        f"{outcome.env_steps:,} steps in {outcome.seconds:.0f} s, after {outcome.compile_seconds:.0f} s of compilation",
        flush=True,
    )
    if outcome.stopped:
        print(f"stopped by a signal; to go on: python -m train ppo --resume {folder.path}")
        return STOPPED
    scored = compare(outcome.policy, env, env.default_params, library)
    print(f"\n{scored}{trained_with(task.describe_params(params), env)}")
    return 0


def trained_with(params: Mapping[str, Any], env: Environment) -> str:
    """A line on params that were trained with and not scored by, where there are any; `params` as `task` tells them."""
    rules = task.describe_params(env.default_params)
    other = settings.differences(params, {name: rules.get(name) for name in params})
    told = ", ".join(f"{name} {trained} (scored by {rule})" for name, trained, rule in other)
    return f"\ntrained with other numbers than the rules have: {told}" if other else ""


def evaluate_run(argv: Sequence[str]) -> int:
    """Prints the table of a run's policy."""

    def parse(
        run_dir: tyro.conf.Positional[Path],
        scenarios: str | None = None,
        greedy: bool = True,
        repetitions: int = EPISODES,
    ) -> tuple[Path, str | None, bool, int]:
        """Score the policy of a run on the scenarios of the library.

        Args:
            run_dir: The folder of a run, or its policy file.
            scenarios: A file or folder of scenarios; the environment's library where not given.
            greedy: Take the most probable action, or draw one.
            repetitions: Episodes of each scenario, whose returns are averaged.
        """
        return run_dir, scenarios, greedy, repetitions

    run_dir, source, greedy, repetitions = tyro.cli(parse, args=argv, prog="python -m train evaluate")
    path = run_folder.RunFolder(run_dir).policy if run_dir.is_dir() else run_dir
    header = read_header(path)
    env, params = task.make(Config(env=header["env"], env_args=header.get("env_args", {})))
    policy = load_policy(path, env, params, any_params=True).replace(greedy=greedy)
    table = compare(policy, env, params, load_library(env, source), repetitions=repetitions)
    print(f"{table}{trained_with(header.get('params', {}), env)}")
    return 0


def plot(argv: Sequence[str]) -> int:
    """Draws learning curves."""

    def parse(run_dirs: tyro.conf.Positional[tuple[Path, ...]], out: Path | None = None) -> tuple[Any, Path | None]:
        """Draw the learning curves of one run, or of several in one picture.

        Args:
            run_dirs: Folders of runs, finished or not.
            out: The picture, .png, .svg or .pdf; learning_curve.png in the folder of a single run, or here.
        """
        return run_dirs, out

    run_dirs, out = tyro.cli(parse, args=argv, prog="python -m train plot")
    if not run_dirs:
        raise ValueError("which runs? Name their folders: python -m train plot RUN_DIR ...")
    folders = [run_folder.RunFolder(path) for path in run_dirs]
    default = folders[0].learning_curve
    out = out or (default if len(folders) == 1 else Path(default.name))
    plots.learning_curves(folders, out)
    print(f"written to {out}")
    return 0


def bench(argv: Sequence[str]) -> int:
    """Measures steps per second."""
    from train import benchmark  # it imports other suites, where they are installed

    return benchmark.main(argv)


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "ppo": ppo,
    "evaluate": evaluate_run,
    "plot": plot,
    "bench": bench,
}


def load_library(env: Environment, path: str | None = None) -> scenarios.Library:
    """The scenarios of a file or folder, or the library of the environment, in the environment's shapes.

    By convention the part of an id before the first hyphen, in small letters, is the name that the environment has in
    `scenarios`: documents and library of `LifeOps-Shaped-v0` are those of `lifeops`.
    """
    family = env.name.split("-")[0].lower()
    return scenarios.load(path or family, limits=getattr(env, "limits", None), environment=family)


def compare(
    policy: Any, env: Environment, params: Any, library: scenarios.Library, *, repetitions: int = EPISODES
) -> str:
    """The table of every baseline and this policy on a library; on a shipped one their validation returns too."""
    params = params.replace(bank=library.bank)
    rules = baselines.for_environment(env)
    validation = validation_returns({**rules, "PPO": policy}, env, params) if library.is_shipped else {}
    known = known_returns(env, params, library, rules.pop("Random"))
    policies = {**rules, "PPO": policy}
    results = {name: evaluate(each, env, params, repetitions=repetitions) for name, each in policies.items()}
    return table(known, results, validation)


def known_returns(env: Environment, params: Any, library: scenarios.Library, random_policy: Any) -> Known:
    """The stored returns of shipped scenarios; for others Random is played and the best is not known."""
    stored = stored_returns(env, library)
    random = np.array([stored.get(id, UNKNOWN)["random"] for id in library.ids])
    best = np.array([stored.get(id, UNKNOWN)["best"] for id in library.ids])
    if np.isnan(random).any():
        played = evaluate(random_policy, env, params, repetitions=RANDOM_EPISODES)
        random = np.where(np.isnan(random), np.asarray(played.returns).mean(axis=1), random)
    return Known(library.ids, random, best)


def stored_returns(env: Environment, library: scenarios.Library) -> dict[str, dict[str, float]]:
    """The returns that are shipped for scenarios of a library: for all that are the same as the shipped ones."""
    shipped = library if library.is_shipped else load_library(env)
    documents = dict(zip(library.ids, library.documents, strict=True))
    same = {id for id, document in zip(shipped.ids, shipped.documents, strict=True) if documents.get(id) == document}
    return {id: known for id, known in shipped.returns(env.name).items() if id in same}


if __name__ == "__main__":
    sys.exit(main())
