"""`jaxenv bench`: steps per second of environments, rollouts and training, beside other suites."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tqdm import tqdm

import jaxenv
from train.benchmark import hardware, report
from train.benchmark import parts as ablation
from train.benchmark import plot as picture
from train.benchmark.measure import Result, in_turns
from train.benchmark.selection import select
from train.benchmark.workload import STEPS, Workload
from train.cli import compiling, whole_numbers
from train.run import plots


def benchmark(
    *,
    num_envs: str = "4096",
    rounds: int = 5,
    peers: bool = True,
    out: Path | None = None,
    only: str = "",
    measure: str = "environments",
    scenarios: str = "library",
    against: str = "jumanji,gymnax",
    parts: bool = False,
    steps: int = STEPS,
    num_steps: int | None = None,
    threads: int | None = None,
    plot: Path | None = None,
    compile_for: str = "",
) -> list[Result]:
    """Measure steps per second of every registered environment, beside other suites.

    Each environment runs twice: as it is, and counted, as training uses it. All programs of one size are compiled
    first, then run in turns. `of floor` is the time that copying the bytes of a step takes (the state read and
    written, the observation written), measured beside it, over the time of the step.

    Args:
        num_envs: Parallel environments; several sizes with commas: 64,4096,1048576.
        rounds: Timed rounds per program, in turns; the median is reported, with minimum and maximum.
        peers: Also run other suites (extra `peers`).
        out: A JSON file for the measurements, with hardware, versions, threads and command.
        only: Run only programs whose name contains this.
        measure: Any of environments, rollout (a policy acts, nothing is learned) and training (the superstep of the
            preset), with commas.
        scenarios: The banks that environments and rollout play: library, generated (65,536 scenarios with start
            weights, as training has them), or both with a comma. Training generates its own.
        against: The other suites: jumanji, gymnax, or both with a comma.
        parts: Also the share of random draws, mask, observation and reset in a step, by leaving each out; at the
            first of the sizes.
        steps: Of each environment in one compiled call, of environments and rollout.
        num_steps: Of each environment and update in training; default: the preset's.
        threads: Run on that many cores, chosen before JAX starts; default: all that this process may use.
        plot: A picture of speed against num_envs: .png, .svg or .pdf.
        compile_for: Measure nothing and compile for chips that are not there: tpu-v5e, h100, or both with a comma
            (extras `aot-tpu` and `aot-gpu`). Tells memory, kernels, gathers and padding of the programs.
    """
    sizes = [number_of_envs(text) for text in listed(num_envs)]
    chosen = select(
        listed(measure),
        listed(scenarios),
        listed(against) if peers else [],
        only=only,
        steps=steps,
        num_steps=num_steps,
    )
    if compile_for:
        compiling.compile_for(listed(compile_for), chosen, sizes, out=out)
        return []
    if threads is not None:
        hardware.pin(threads)
    print(f"random legal actions, automatic reset, {steps} steps per scan; {hardware.line()}")
    results: list[Result] = []
    for size in sizes:
        results += _measured([build(size) for build in chosen.values()], rounds, title=f"{size:,} environments")
    shares = _shares(sizes[0], rounds, listed(scenarios), only, steps) if parts else {}
    if out is not None:
        settings = {"num_envs": sizes, "rounds": rounds, "steps": steps}
        report.write(out, report.document(results, settings=settings, shares=shares))
    if plot is not None:
        draw(results, plot)
    return results


def _measured(workloads: Sequence[Workload], rounds: int, *, title: str) -> list[Result]:
    """Measures workloads beside each other, with a bar, and prints their table."""
    with progress(title, len(workloads) * (1 + rounds)) as tick:
        results = in_turns(workloads, rounds=rounds, floor=True, tick=tick)
    if rounds:
        print(f"\n{title}\n{report.table(results)}")
    return results


def _shares(num_envs: int, rounds: int, banks: Sequence[str], only: str, steps: int) -> dict[str, dict[str, float]]:
    """Environment -> part -> share of a step; an environment at a time, since its variants are compared alone."""
    found: dict[str, dict[str, float]] = {}
    for bank in banks:
        for id in jaxenv.registered():
            if only in id:
                workloads = ablation.variants(id, num_envs, steps=steps, bank=bank)
                name = id + (", generated" if bank == "generated" else "")
                found[name] = ablation.shares(in_turns(workloads, rounds=max(1, rounds)))
    if found:
        print(f"\n{num_envs:,} environments\n{report.parts_table(found)}")
    return found


@contextlib.contextmanager
def progress(title: str, total: int | None = None) -> Iterator[Callable[[str], None]]:
    """A bar in a terminal, which each call moves by one and shows a name."""
    with tqdm(total=total, desc=title, disable=None, leave=False) as bar:

        def tick(name: str) -> None:
            bar.set_postfix_str(name, refresh=False)
            bar.update()

        yield tick


def draw(results: Sequence[Result], path: Path) -> None:
    """Draws the picture, if matplotlib is there."""
    if not plots.is_possible():
        raise ValueError(f"{path} needs matplotlib (extra `viz`)")
    picture.speeds(results, path, title=hardware.line())
    print(f"written to {path}")


def listed(text: str) -> list[str]:
    """The entries of a list with commas.

    >>> listed("library, generated")
    ['library', 'generated']
    """
    return [part.strip() for part in text.split(",") if part.strip()]


def number_of_envs(text: str) -> int:
    """A number of environments, from 1 on."""
    try:
        number = whole_numbers.parse(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ValueError(f"--num-envs {text}: expected whole numbers from 1 on, such as 64,4096")
    return number
