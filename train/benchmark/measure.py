"""Timing in turns: everything is compiled first, then runs round after round, so that noise meets all alike."""

import dataclasses
import math
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax

from train.benchmark.workload import Sizes, Workload, copies, sizes
from train.run.group import program_bytes

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
        keys = jax.block_until_ready(list(jax.random.split(self.key, self.calls + 1)))
        self.key, *keys = keys
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
            tick(each.workload.name)
    return [each.result for each in running]


def compile_all(workloads: Sequence[Workload], *, tick: Tick = lambda name: None) -> list[Running]:
    """Compiles all, then warms them up; `tick` is called with the name of each that is compiled."""
    running = []
    for workload in workloads:
        running.append(compile_one(workload))
        tick(workload.name)
    return [warm(each) for each in running]


def compile_one(workload: Workload) -> Running:
    """A workload with its first carry, compiled; the carry is donated."""
    key, params = jax.random.key(0), workload.params()
    carry = jax.jit(workload.start)(key, params)
    began = time.perf_counter()
    program = jax.jit(workload.run, donate_argnums=1).lower(key, carry, params).compile()
    seconds = time.perf_counter() - began
    result = Result(workload.name, workload.num_envs, seconds, program_bytes(program), sizes(workload, carry))
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
    return warm(compile_one(copies(work.num_envs, running.result.sizes.floor, steps=steps)))
