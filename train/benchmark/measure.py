"""Timing in turns: everything is compiled first, then runs round after round, so that noise meets all alike.

Results are a table in text, and JSON with all that says where they come from.
"""

import dataclasses
import json
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax

from train.benchmark import hardware
from train.benchmark.workload import Sizes, Workload, copies, sizes
from train.run.group import program_bytes

MEBI = 2**20
NAME = 40  # characters
MIN_SECONDS = 0.1  # of a round; a shorter call is repeated
Tick = Callable[[str], None]


@dataclasses.dataclass
class Result:
    """The measurements of one workload."""

    name: str
    num_envs: int
    compile_s: float
    program_bytes: int  # memory of the compiled program: arguments, results and temporaries
    sizes: Sizes | None = None
    steps_per_s: list[float] = dataclasses.field(default_factory=list)  # a round each
    floor: list[float] = dataclasses.field(default_factory=list)  # share of a round that moving the bytes would take

    @property
    def median(self) -> float:
        """Steps per second, median over the rounds."""
        return statistics.median(self.steps_per_s)

    @property
    def share_of_floor(self) -> float | None:
        """1 where a step takes no longer than moving its bytes, median over the rounds."""
        return statistics.median(self.floor) if self.floor else None

    def ratio(self, other: "Result") -> float:
        """How many times faster than another workload, median over the rounds.

        >>> slow = Result("slow", 8, 1.0, 0, steps_per_s=[1e6, 2e6, 4e6])  # on a machine that gets faster
        >>> Result("fast", 8, 1.0, 0, steps_per_s=[2e6, 4e6, 6e6]).ratio(slow)
        2.0
        """
        return statistics.median(a / b for a, b in zip(self.steps_per_s, other.steps_per_s, strict=True))


@dataclasses.dataclass
class Running:
    """A compiled workload between two calls."""

    workload: Workload
    result: Result
    program: Callable[[Any, Any, Any], tuple[Any, Any]]
    carry: Any
    params: Any
    key: Any
    calls: int = 1  # in a round

    def round(self) -> float:
        """Seconds of an environment step, in the calls of a round."""
        self.key, *keys = jax.block_until_ready(list(jax.random.split(self.key, self.calls + 1)))
        jax.block_until_ready(self.carry)
        began = time.perf_counter()
        for key in keys:
            self.carry, _ = self.program(key, self.carry, self.params)
        jax.block_until_ready(self.carry)
        return (time.perf_counter() - began) / (self.calls * self.workload.env_steps)


def in_turns(
    running: Sequence[Running], *, rounds: int, floor: bool = False, tick: Tick = lambda name: None
) -> list[Result]:
    """Runs each workload once a round.

    Args:
        running: workloads to be measured beside each other.
        rounds: of each.
        floor: also time a copy of the bytes that a step must move, beside each workload in each round.
        tick: called with the name of the last workload, `rounds` times for each workload.
    """
    floors = [_floor(each) if floor else None for each in running]
    for _ in range(rounds):
        for each, under in zip(running, floors, strict=True):
            seconds = each.round()
            each.result.steps_per_s.append(1 / seconds)
            if under is not None:
                each.result.floor.append(under.round() / seconds)
            tick(each.result.name)
    return [each.result for each in running]


def compile_all(workloads: Mapping[str, Workload], *, tick: Tick = lambda name: None) -> list[Running]:
    """Compiles all, then warms them up; `tick` is called with the name of each that is compiled."""
    running = []
    for name, workload in workloads.items():
        running.append(compile_one(name, workload))
        tick(name)
    return [warm(each) for each in running]


def compile_one(name: str, workload: Workload) -> Running:
    """A workload of that name with its first carry, compiled; the carry is donated."""
    key, params = jax.random.key(0), workload.params()
    carry = jax.jit(workload.start)(key, params)
    began = time.perf_counter()
    program = jax.jit(workload.run, donate_argnums=1).lower(key, carry, params).compile()
    seconds = time.perf_counter() - began
    result = Result(name, workload.num_envs, seconds, program_bytes(program), sizes(workload, carry))
    return Running(workload, result, program, carry, params, key)


def warm(running: Running) -> Running:
    """Warms up with one call, and sets the number of calls in a round from the time of another."""
    running.round()
    seconds = running.round() * running.workload.env_steps
    running.calls = min(1000, max(1, math.ceil(MIN_SECONDS / seconds)))
    return running


def _floor(running: Running) -> Running | None:
    """The copy that stands under a workload, if its carry shows its environments."""
    if running.result.sizes is None:
        return None
    work = running.workload
    steps = work.env_steps // work.num_envs
    return warm(compile_one("copy", copies(work.num_envs, running.result.sizes.floor, steps=steps)))


def table(results: Sequence[Result], yardsticks: Sequence[str] = ()) -> str:
    """A row for each workload of one batch size, with its speed as a multiple of that of each yardstick.

    >>> from train.benchmark.workload import Sizes
    >>> print(table([Result("LifeOps-v0", 8, 2.0, 2**20, Sizes(331, 587), [1e6, 3e6, 2e6], [0.1, 0.2, 0.3])]))
    environment                                M steps/s      min      max  of floor  state    obs     MiB  compile s
    LifeOps-v0                                     2.000    1.000    3.000     20.0%    331    587     1.0        2.0
    """
    beside = {name: r for name in yardsticks for r in results if r.name.endswith(name)}
    ratios = "".join(f"{'x ' + name:>19}" for name in beside)
    head = f"{'environment':<{NAME}}{'M steps/s':>12}{'min':>9}{'max':>9}{ratios}{'of floor':>10}"
    lines = [f"{head}{'state':>7}{'obs':>7}{'MiB':>8}{'compile s':>11}"]
    for r in results:
        speeds = f"{r.median / 1e6:>12.3f}{min(r.steps_per_s) / 1e6:>9.3f}{max(r.steps_per_s) / 1e6:>9.3f}"
        ratios = "".join(f"{r.ratio(other):>19.2f}" for other in beside.values())
        floor = "" if r.share_of_floor is None else f"{r.share_of_floor:.1%}"
        state, observation = ("", "") if r.sizes is None else (f"{r.sizes.state:,}", f"{r.sizes.observation:,}")
        memory = f"{floor:>10}{state:>7}{observation:>7}{r.program_bytes / MEBI:>8,.1f}{r.compile_s:>11.1f}"
        lines.append(f"{r.name:<{NAME}}{speeds}{ratios}{memory}")
    return "\n".join(lines)


def three_columns(results: Sequence[Result]) -> str:
    """Of each environment measured in all three kinds: M steps/s alone, with inference, and with training.

    Alone it is counted, as training steps it; where two banks were measured, generated scenarios stand.

    >>> names = ("A-v0, counted", "A-v0, rollout", "A-v0, training")
    >>> print(three_columns([Result(name, 8, 1.0, 0, steps_per_s=[1e6 / n]) for n, name in enumerate(names, 1)]))
    M steps/s                                        alone  with inference   with training
    A-v0                                             1.000           0.500           0.333
    """
    speeds = {result.name.removesuffix(", generated"): result.median / 1e6 for result in results}
    lines = [f"{'M steps/s':<{NAME}}{'alone':>14}{'with inference':>16}{'with training':>16}"]
    for id in (name.removesuffix(", training") for name in speeds if name.endswith(", training")):
        found = [speeds.get(f"{id}, {kind}") for kind in ("counted", "rollout", "training")]
        if None not in found:
            lines.append(f"{id:<{NAME}}{found[0]:>14.3f}{found[1]:>16.3f}{found[2]:>16.3f}")
    return "\n".join(lines) if len(lines) > 1 else ""


def write(path: Path, results: Sequence[Result], *, settings: Mapping[str, Any], **more: Any) -> None:
    """Writes all that was measured as JSON, with hardware, versions, threads and the command."""
    found = {
        "hardware": hardware.describe(),
        "settings": dict(settings),
        "peak_memory_bytes": hardware.peak_memory(),
        "results": [as_json(result) for result in results],
        **more,
    }
    path.write_text(json.dumps(found, indent=1) + "\n")


def as_json(result: Result) -> dict[str, Any]:
    """A measurement with derived figures."""
    if not result.steps_per_s:
        return dataclasses.asdict(result)
    moved = None if result.sizes is None else result.sizes.floor * result.median
    derived = {"median": result.median, "share_of_floor": result.share_of_floor, "must_move_bytes_per_s": moved}
    return dataclasses.asdict(result) | derived
