"""`python -m lab bench`: the speed of the environments beside that of other suites."""

import functools
from collections.abc import Sequence
from pathlib import Path

from lab.bench import peers
from train.benchmark import hardware
from train.benchmark.measure import Result
from train.benchmark.selection import Build, select, stepped
from train.benchmark.workload import STEPS
from train.cli.benchmark import keep, listed, numbers_of_envs, run
from train.cli.numbers import call

YARDSTICKS = ("Knapsack-v1", "Breakout-MinAtar")  # the speed of the others is also given as a multiple of these


def bench(
    *,
    num_envs: str = "4096",
    rounds: int = 5,
    out: Path | None = None,
    only: str = "",
    measure: str = "environments",
    scenarios: str = "library",
    against: str = "jumanji,gymnax",
    steps: int = STEPS,
    num_steps: int | None = None,
    threads: int | None = None,
    plot: Path | None = None,
) -> list[Result]:
    """Measure steps per second of every registered environment, beside other suites; see `jaxenv bench`.

    Args:
        num_envs: Parallel environments; several sizes with commas: 64,4096,1048576.
        rounds: Timed rounds per program, in turns; the median is reported, with minimum and maximum.
        out: A JSON file for the measurements, with hardware, versions, threads and command.
        only: Run only programs whose name contains this.
        measure: Any of environments, rollout and training, with commas.
        scenarios: The banks that environments and rollout play: library, generated, or both with a comma.
        against: The other suites (extra `peers`): jumanji, gymnax, or both with a comma.
        steps: Of each environment in one compiled call, of environments and rollout.
        num_steps: Of each environment and update in training; default: the preset's.
        threads: Run on that many cores, chosen before JAX starts; default: all that this process may use.
        plot: A picture of speed against num_envs: .png, .svg or .pdf (extra `viz`).
    """
    sizes, kinds = numbers_of_envs(num_envs), listed(measure)
    beside = others(kinds, listed(against), steps)
    chosen = select(kinds, listed(scenarios), only=only, steps=steps, num_steps=num_steps, others=beside)
    if threads is not None:
        hardware.pin(threads)
    results = run(chosen, sizes, rounds=rounds, steps=steps, yardsticks=YARDSTICKS)
    keep(results, out, plot, settings={"num_envs": sizes, "rounds": rounds, "steps": steps})
    return results


def others(kinds: Sequence[str], suites: Sequence[str], steps: int = STEPS) -> dict[str, Build]:
    """Name -> builder of the steps of an environment of another suite, where environments are measured."""
    found = peers.programs(suites) if "environments" in kinds else {}
    return {name: functools.partial(stepped, build, steps) for name, build in found.items()}


def main(argv: Sequence[str]) -> int:
    """Runs the command."""
    return call(bench, argv, "python -m lab bench")
