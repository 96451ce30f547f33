"""The commands: train, evaluate, collect, watch, plot, baselines, bench, bench-gpu, profile, scenarios."""

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import tyro
from tyro.conf import Positional

from jaxenv.core import Environment, process
from jaxenv.core.companions import command
from scenarios import __main__ as documents
from train import ppo
from train.algorithms import ALGORITHMS
from train.cli import (
    baselines,
    benchmark,
    benchmark_gpu,
    collecting,
    comparison,
    compile_cache,
    option_bounds,
    options,
    profiling,
    trained,
    watching,
    whole_numbers,
)
from train.run import console, folder, plots, population, processes, runner, start
from train.run.checkpoint import Progress
from train.settings import task
from train.settings.members import is_population, members


def train(algorithm: str, argv: Sequence[str]) -> int:
    """Trains, then prints the table on the library, or on the user's own scenarios if it trained on them."""
    compile_cache.keep_compiled_programs()
    if options.DISTRIBUTED in argv:
        processes.join()
    parsed = options.parse(algorithm, argv)
    config = parsed.config
    env, params = task.make(config)
    runner.check(ALGORITHMS[algorithm], config, env, params)
    source = config.training.scenarios
    path = None if source in ("generated", "library") else source
    library = comparison.library_for(env, path)
    if not config.is_generated and library is not None:
        params = params.replace(bank=library.bank)
    if parsed.resumed is None:
        start.starting_weights(ALGORITHMS[algorithm], config, env, params)  # before there is a folder
    comparison.tell_warnings(library, path)
    if is_population(config):
        return _train_population(algorithm, parsed, env, params, library)
    config, lanes = processes.place(config)
    say = functools.partial(print, flush=True) if processes.is_writer() else lambda text: None
    with folder.of_run(config, parsed.resumed) as run_folder:
        where = f"{processes.in_words(config, lanes)}, written to {run_folder.path}"
        say("\n".join([f"{config.env} on {where}", *parsed.scaled, console.length(config, env.num_agents)]))
        on_start = _tell_start(say, is_resumed=parsed.resumed is not None)
        try:
            outcome = runner.run(ALGORITHMS[algorithm], config, env, params, run_folder, on_start=on_start)
        except KeyboardInterrupt:  # before the first superstep; from then on a signal ends the run in good order
            return _interrupted(algorithm, run_folder)
    if not processes.is_writer():
        return process.INTERRUPTED if outcome.stopped else 0
    if plots.is_possible():
        plots.learning_curves([run_folder], run_folder.learning_curve)
    say(f"{outcome.env_steps:,} steps in {outcome.seconds:.0f} s, after {outcome.compile_seconds:.0f} s of compilation")
    if outcome.stopped:
        return _interrupted(algorithm, run_folder)
    say("scoring …")
    table = comparison.compare(outcome.policy, env, env.default_params, library, name=algorithm.upper())
    print(f"\n{table}{comparison.training_note(task.describe_params(params), env)}")
    return 0


def _train_population(algorithm: str, parsed: options.Options, env: Environment, params: Any, library: Any) -> int:
    """Trains the members on one device, then prints a line for each."""
    config, resumed = parsed.config, parsed.resumed
    if jax.process_count() > 1:
        raise ValueError("a population trains in one process: leave out --distributed, or --seeds and --sweep")
    if config.devices not in (None, 1):
        raise ValueError(f"a population trains on one device: leave out --devices {config.devices}")
    number = len(members(config))  # raises for a sweep that cannot be, before there is a folder
    say = functools.partial(print, flush=True)
    with folder.of_run(config, resumed) as run_folder:
        where = f"{number} members on one device, written to {run_folder.path}"
        say("\n".join([where, *parsed.scaled, f"each {console.length(config, env.num_agents)}"]))
        on_start = _tell_start(say, is_resumed=resumed is not None)
        learner = ALGORITHMS[algorithm]
        try:
            outcomes = population.run_population(learner, config, env, params, run_folder, on_start=on_start)
        except KeyboardInterrupt:
            return _interrupted(algorithm, run_folder)
    if plots.is_possible():
        plots.learning_curves(folder.runs_in(run_folder.path), run_folder.learning_curve)
    say("scoring …")
    print(comparison.members_table(outcomes, env, env.default_params, library))
    if any(outcome.stopped for outcome in outcomes.values()):
        return _interrupted(algorithm, run_folder)
    return 0


def _tell_start(say: Callable[[str], None], *, is_resumed: bool) -> runner.OnStart:
    """Says where a run starts, and that it compiles."""

    def tell(progress: Progress | None) -> None:
        if is_resumed and progress is None:
            say("there is no checkpoint yet: it starts from the beginning")
        elif progress is not None:
            say(f"resuming at step {progress.env_steps:,}")
        say("compiling …")

    return tell


def _interrupted(algorithm: str, run_folder: folder.RunFolder) -> int:
    """Says how the run goes on; the exit status."""
    print(f"interrupted; resume with: {command('train')} {algorithm} --resume {run_folder.path}")
    return process.INTERRUPTED


def evaluate(
    run_dir: Positional[Path],
    env: str | None = None,
    network: str | None = None,
    scenarios: str | None = None,
    best: bool = False,
    greedy: bool = True,
    repetitions: int = comparison.EPISODES,
) -> None:
    """Score the policy of a run on the scenarios of the library.

    Args:
        run_dir: The folder of a run, or its policy file.
        env: MODULE:FACTORY of an environment of your own that it was trained in.
        network: MODULE:FACTORY of a network of your own that it was trained with.
        scenarios: A file or folder of scenarios; default: the environment's library.
        best: Score the policy that had the best validation return, not the last one.
        greedy: Take the most probable action instead of sampling one.
        repetitions: Episodes per scenario, whose returns are averaged.
    """
    compile_cache.keep_compiled_programs()
    policy, made, params, header = trained.read(run_dir, env, network, best=best, greedy=greedy)
    library = comparison.library_for(made, scenarios)
    comparison.tell_warnings(library, scenarios)
    name = header.get("algorithm", ppo.name).upper()
    table = comparison.compare(policy, made, params, library, name=name, repetitions=repetitions)
    print(f"{table}{comparison.training_note(header.get('params', {}), made)}")


def plot(run_dirs: Positional[tuple[Path, ...]], out: Path | None = None) -> None:
    """Draw the learning curves of one run, or of several in one picture.

    Three or more that differ by their seed alone are drawn as their mean, in a band from the least to the greatest.

    Args:
        run_dirs: Folders of runs, finished or not.
        out: The picture: .png, .svg or .pdf; default: learning_curve.png, beside a single run or in the current folder.
    """
    if not run_dirs:
        raise ValueError(f"missing run folders: {command('train')} plot RUN_DIR ...")
    folders = [run for path in run_dirs for run in folder.runs_in(path)]
    default = folder.RunFolder(run_dirs[0]).learning_curve
    out = out or (default if len(run_dirs) == 1 else Path(default.name))
    plots.learning_curves(folders, out)
    print(f"written to {out}")


def _with_options(name: str, function: Callable[..., object]) -> Callable[[Sequence[str]], int]:
    """A command whose options are the arguments of a function, with their docstring as `--help`."""

    def run(argv: Sequence[str]) -> int:
        tyro.cli(
            option_bounds.checked(function),
            args=argv,
            prog=f"{command('train')} {name}",
            registry=whole_numbers.REGISTRY,
        )
        return 0

    return run


OTHERS: dict[str, Callable[..., object]] = {
    "evaluate": evaluate,
    "collect": collecting.collect,
    "watch": watching.watch,
    "plot": plot,
    "baselines": baselines.baselines,
    "bench": benchmark.benchmark,
    "bench-gpu": benchmark_gpu.bench_gpu,
    "profile": profiling.profile,
}
COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    **{name: functools.partial(train, name) for name in ALGORITHMS},
    **{name: _with_options(name, function) for name, function in OTHERS.items()},
    "scenarios": documents.main,
}
