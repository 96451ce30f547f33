"""The commands; `train.cli.main` lists them."""

import functools
from collections.abc import Callable, Sequence
from pathlib import Path

from tyro.conf import Positional

import jaxenv
from jaxenv import registry
from jaxenv.host import process
from jaxenv.host.companions import command
from jaxenv.rendering import text
from scenarios import __main__ as documents
from train import processes
from train.cli import benchmark, comparison, numbers, options, playing, policies, scoring, watching
from train.log import plots
from train.run import progress, runner
from train.run.job import ALONE, Job, prepare
from train.save import folder
from train.save.description import Progress
from train.settings import task
from train.training import ALGORITHMS


def train(algorithm: str, argv: Sequence[str]) -> int:
    """Trains, then prints the scores on the library, or on the user's own scenarios if it trained on them."""
    parsed = options.parse(algorithm, argv, joins=True)
    env, source = parsed.env, parsed.config.training.scenarios
    path = None if source in ("generated", "library") else source
    library = comparison.library_of(env, path)
    params = parsed.params
    if not parsed.config.is_generated and library is not None:
        params = params.replace(bank=library.bank)
    job = prepare(ALGORITHMS[algorithm], parsed.config, env, params, is_new=parsed.resumed is None)
    say = functools.partial(print, flush=True) if processes.is_writer() else lambda text: None
    with folder.of_run(job.config, parsed.resumed) as run_folder:
        try:
            where = f"{_in_words(job)}, written to {run_folder.path}"
            length = f"{'' if job.is_alone else 'each '}{progress.length(job.config, env.num_agents)}"
            say("\n".join([where, *parsed.scaled, length]))
            on_start = functools.partial(_tell_start, say, parsed.resumed is not None)
            outcomes = runner.run_members(job, run_folder, on_start=on_start)
        except KeyboardInterrupt:  # before the first superstep; from then on a signal ends the run in good order
            return _interrupted(algorithm, run_folder)
    is_stopped = any(outcome.stopped for outcome in outcomes.values())
    if not processes.is_writer():
        return process.INTERRUPTED if is_stopped else 0
    if plots.is_possible():
        plots.learning_curves(folder.runs_in(run_folder.path), run_folder.learning_curve)
    if ALONE in outcomes:
        alone = outcomes[ALONE]
        say(f"{alone.env_steps:,} steps in {alone.seconds:.0f} s, after {alone.compile_seconds:.0f} s of compilation")
    if is_stopped:
        return _interrupted(algorithm, run_folder)
    following = "watch" if ALONE in outcomes else "plot"
    say(f"in {run_folder.path}; next: {command('train')} {following} {run_folder.path}\nscoring …")
    if ALONE in outcomes:
        policy = outcomes[ALONE].policy
        name = algorithm.upper()
        table, validation = comparison.compare(policy, env, env.default_params, library, name=name)
        print(f"\n{table}{comparison.training_note(task.describe_params(params), env)}")
        if validation:
            del validation[name]
            run_folder.write_validation(validation)
            if plots.is_possible():
                plots.learning_curves([run_folder], run_folder.learning_curve)
    else:
        print(comparison.members_table(outcomes, env, env.default_params, library))
    return 0


def _in_words(job: Job) -> str:
    """The environment or members, and the place of training."""
    if job.is_alone:
        return f"{job.config.env} on {processes.in_words(job.config, job.lanes)}"
    return f"{len(job.members)} members of {job.config.env} on one device"


def _tell_start(say: Callable[[str], None], is_resumed: bool, progress: Progress | None) -> None:
    """Says where a run starts, and that it compiles."""
    if progress is not None:
        say(f"resuming at step {progress.env_steps:,}")
    elif is_resumed:
        say("there is no checkpoint yet: it starts from the beginning")
    say("compiling …")


def _interrupted(algorithm: str, run_folder: folder.RunFolder) -> int:
    """Prints how to resume the run; the exit status."""
    print(f"interrupted; resume with: {command('train')} {algorithm} --resume {run_folder.path}")
    return process.INTERRUPTED


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


def environments() -> None:
    """List the registered environments, a line each."""
    print("\n".join(text.table([id, registry.summary(id)] for id in jaxenv.registered())))


OTHERS: dict[str, Callable[..., object]] = {
    "evaluate": policies.evaluate,
    "score": scoring.score,
    "leaderboard": scoring.ranking,
    "collect": policies.collect,
    "watch": watching.watch,
    "play": playing.play,
    "plot": plot,
    "bench": benchmark.benchmark,
    "profile": benchmark.profile,
    "list": environments,
}


def _other(name: str, argv: Sequence[str]) -> int:
    """Runs a command that does not train."""
    return numbers.call(OTHERS[name], argv, f"{command('train')} {name}")


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    **{name: functools.partial(train, name) for name in ALGORITHMS},
    **{name: functools.partial(_other, name) for name in OTHERS},
    "scenarios": documents.main,
}
