"""The command line: `python -m train ppo|evaluate|bench`, installed also as `jaxenv`."""

import argparse
import dataclasses
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
import tyro

import jaxenv
import scenarios
from jaxenv import baselines
from jaxenv.core import Environment
from train import presets, run_folder, runner
from train.config import Config
from train.evaluation import evaluate
from train.policy import load_policy, read_header
from train.report import table
from train.scores import Known

USAGE = """\
usage: python -m train COMMAND ...

  ppo --env ID            train a policy and score it on the environment's library
  evaluate RUN_DIR        score the policy of a run
  bench                   measure steps per second

Each tells its options with --help."""

STOPPED = 130  # the exit status that shells give to what SIGINT ends
RANDOM_EPISODES = 1000  # of each scenario whose random return is not known


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status: 2 where it cannot do what it is asked, 130 where it was stopped."""
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
    except SystemExit as exit:  # how argument parsers end
        return exit.code if isinstance(exit.code, int) else 2


def ppo(argv: Sequence[str]) -> int:
    """Trains, then prints the table on the library."""
    config = parse_config(argv)
    env, params = jaxenv.make(config.env)
    library = load_library(env)
    source = config.training.scenarios
    if source != "generated":
        bank = library.bank if source == "library" else load_library(env, source).bank
        params = params.replace(bank=bank)
    folder = run_folder.create(config)
    print(f"{config.env} on {jax.devices()[0].platform}, written to {folder.path}", flush=True)
    outcome = runner.run(config, env, params, folder)
    print(
        f"{outcome.env_steps:,} steps in {outcome.seconds:.0f} s ({outcome.env_steps / outcome.seconds:,.0f} steps/s), "
        f"after {outcome.compile_seconds:.0f} s of compilation",
        flush=True,
    )
    if outcome.stopped:
        print(f"stopped by a signal; to score what was learned: python -m train evaluate {folder.path}")
        return STOPPED
    print("\n" + compare(outcome.policy, env, params, library))
    return 0


def evaluate_run(argv: Sequence[str]) -> int:
    """Prints the table of a run's policy."""

    def parse(run_dir: tyro.conf.Positional[Path], scenarios: str | None = None) -> tuple[Path, str | None]:
        """Score the policy of a run, greedily, on the first episode of each scenario.

        Args:
            run_dir: The folder of a run, or its policy file.
            scenarios: A file or folder of scenarios; the environment's library where not given.
        """
        return run_dir, scenarios

    run_dir, source = tyro.cli(parse, args=argv, prog="python -m train evaluate")
    path = run_folder.RunFolder(run_dir).policy if run_dir.is_dir() else run_dir
    env, params = jaxenv.make(read_header(path)["env"])
    print(compare(load_policy(path, env, params), env, params, load_library(env, source)))
    return 0


def bench(argv: Sequence[str]) -> int:
    """Measures steps per second."""
    from train import benchmark  # it imports other suites, where they are installed

    return benchmark.main(argv)


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {"ppo": ppo, "evaluate": evaluate_run, "bench": bench}


def parse_config(argv: Sequence[str]) -> Config:
    """The settings: the preset of the environment, or the one asked for, changed by the options given."""
    first = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    first.add_argument("--env")
    first.add_argument("--preset")
    named, rest = first.parse_known_args(list(argv))
    default = presets.preset(named.preset) if named.preset else presets.for_environment(named.env or "ID")
    default = dataclasses.replace(default, env=named.env or default.env)
    if default.env not in jaxenv.registered() and not {"-h", "--help"} & set(rest):
        wanted = f"no environment {named.env!r}." if named.env else "which environment? Name it by --env ID."
        raise ValueError(wanted + presets.nearest(default.env, jaxenv.registered()))
    description = (
        "Train PPO. What is not given comes from the preset of the environment, or from --preset NAME: "
        f"{', '.join(presets.PRESETS)}."
    )
    settings = tyro.conf.configure(tyro.conf.OmitArgPrefixes)(Config)
    return tyro.cli(settings, args=rest, default=default, prog="python -m train ppo", description=description)


def load_library(env: Environment, path: str | None = None) -> scenarios.Library:
    """The scenarios of a file or folder, or the library of the environment, in the environment's shapes."""
    family = env.name.split("-")[0].lower()
    return scenarios.load(path or family, limits=getattr(env, "limits", None), environment=family)


def compare(policy: Any, env: Environment, params: Any, library: scenarios.Library) -> str:
    """The table of every baseline and this policy on a library."""
    params = params.replace(bank=library.bank)
    rules = baselines.for_environment(env)
    known = known_returns(env, params, library, rules.pop("Random"))
    policies = {**rules, "PPO": policy}
    return table(known, {name: evaluate(each, env, params) for name, each in policies.items()})


def known_returns(env: Environment, params: Any, library: scenarios.Library, random_policy: Any) -> Known:
    """The stored returns of a library; where there are none, Random is played and the best is not known."""
    stored = library.returns(env.name)
    if all(id in stored for id in library.ids):
        random = np.array([stored[id]["random"] for id in library.ids])
        return Known(library.ids, random, np.array([stored[id]["best"] for id in library.ids]))
    played = evaluate(random_policy, env, params, repetitions=RANDOM_EPISODES)
    return Known(library.ids, np.asarray(played.returns).mean(axis=1), np.full(len(library.ids), np.nan))


if __name__ == "__main__":
    sys.exit(main())
