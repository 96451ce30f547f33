"""`jaxenv bench` and `jaxenv profile`: the speed of this machine, and where a superstep of training goes."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tqdm import tqdm
from tyro.conf import Positional

import jaxenv
from jaxenv.host.names import require_one_of
from train.benchmark import hardware
from train.benchmark import profile as profiling
from train.benchmark.measure import Result, compile_all, in_turns, table, three_columns, write
from train.benchmark.selection import Build, config_of, select
from train.benchmark.workload import STEPS
from train.cli import numbers


def benchmark(
    *,
    num_envs: str = "4096",
    rounds: int = 5,
    out: Path | None = None,
    only: str = "",
    measure: str = "environments",
    scenarios: str = "library",
    steps: int = STEPS,
    num_steps: int | None = None,
) -> list[Result]:
    """Measure steps per second of every registered environment.

    Each environment runs twice: as it is, and counted, as training uses it. All programs of one size are compiled
    first, then run in turns. `of floor` is the time that copying the bytes of a step takes (the state read and
    written, the observation written), measured beside it, over the time of the step.

    Args:
        num_envs: Parallel environments; several sizes with commas: 64,4096,1048576.
        rounds: Timed rounds per program, in turns; the median is reported, with minimum and maximum.
        out: A JSON file for the measurements, with hardware, versions, threads and command.
        only: Run only programs whose name contains this.
        measure: Any of environments, rollout (a policy acts, nothing is learned) and training (the superstep of the
            preset), with commas. All three of an environment are also printed in a row.
        scenarios: The banks that environments and rollout play: library, generated (65,536 scenarios with start
            weights, as training has them), or both with a comma. Training generates its own.
        steps: Of each environment in one compiled call, of environments and rollout.
        num_steps: Of each environment and update in training; default: the preset's.
    """
    sizes = numbers_of_envs(num_envs)
    chosen = select(listed(measure), listed(scenarios), only=only, steps=steps, num_steps=num_steps)
    results = run(chosen, sizes, rounds=rounds, steps=steps)
    if out is not None:
        write(out, results, settings={"num_envs": sizes, "rounds": rounds, "steps": steps})
    return results


def profile(
    env: Positional[str],
    num_envs: int | None = None,
    num_steps: int | None = None,
    scenarios: str = "generated",
    rounds: int = 5,
    trace_dir: Path = Path("runs/profile"),
) -> None:
    """Run one superstep of training under the profiler, and tell where its time and memory go.

    Args:
        env: Id of a registered environment, whose preset is profiled.
        num_envs: Parallel environments; default: the preset's.
        num_steps: Steps per environment and update; default: the preset's.
        scenarios: What it trains on: generated or library.
        rounds: Timed rounds of the superstep and of each of its parts, in turns.
        trace_dir: The folder for the trace.
    """
    require_one_of(env, jaxenv.registered(), f"no environment {env!r}")
    config = config_of(env, num_envs=num_envs, num_steps=num_steps, bank=scenarios)
    print(f"{env}, {config.rollout.num_envs:,} environments x {config.rollout.num_steps} steps; {hardware.line()}")
    with progress("compiling and timing") as tick:
        found = profiling.profile(config, trace_dir / env, rounds=rounds, tick=tick)
    print(found)


def run(
    chosen: Mapping[str, Build], sizes: Sequence[int], *, rounds: int, steps: int, yardsticks: Sequence[str] = ()
) -> list[Result]:
    """Measures the workloads of each size beside each other, and prints a table for each."""
    print(f"random legal actions, automatic reset, {steps} steps per scan; {hardware.line()}")
    results: list[Result] = []
    for size in sizes:
        workloads = {name: build(size) for name, build in chosen.items()}
        title = f"{size:,} environments"
        with progress(title, len(workloads) * (1 + rounds)) as tick:
            found = in_turns(compile_all(workloads, tick=tick), rounds=rounds, floor=True, tick=tick)
        results += found
        if rounds:
            print("\n\n".join(filter(None, [f"\n{title}\n{table(found, yardsticks)}", three_columns(found)])))
    return results


@contextlib.contextmanager
def progress(title: str, total: int | None = None) -> Iterator[Callable[[str], None]]:
    """A bar in a terminal, which each call moves by one and shows a name."""
    with tqdm(total=total, desc=title, disable=None, leave=False) as bar:

        def tick(name: str) -> None:
            bar.set_postfix_str(name, refresh=False)
            bar.update()

        yield tick


def listed(text: str) -> list[str]:
    """The entries of a list with commas.

    >>> listed("library, generated")
    ['library', 'generated']
    """
    return [part.strip() for part in text.split(",") if part.strip()]


def numbers_of_envs(text: str) -> list[int]:
    """Numbers of environments, from 1 on, with commas."""
    try:
        found = [numbers.whole_number(part) for part in listed(text)]
    except ValueError:
        found = []
    if min(found, default=0) < 1:
        raise ValueError(f"--num-envs {text}: expected whole numbers from 1 on, such as 64,4096")
    return found
