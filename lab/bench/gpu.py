"""`python -m lab bench-gpu`: all measurements of a GPU within a few minutes, in one JSON file."""

import dataclasses
import functools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jax
import numpy as np

import jaxenv
from lab.bench.speeds import YARDSTICKS, others
from train import ppo
from train.benchmark import hardware, measure
from train.benchmark.measure import Result, Running, Tick, compile_one, in_turns, warm
from train.benchmark.selection import select
from train.benchmark.workload import Workload, copies
from train.cli.benchmark import numbers_of_envs, progress
from train.cli.numbers import call
from train.protocol import shipped
from train.score.scores import score as score_by
from train.settings.config import Config
from train.settings.presets import preset

GIBI = 2**30
# Share of the time at which a stage must be done; the program reports the stages that it leaves out.
ENVIRONMENTS_UNTIL, TRAINING_UNTIL = 0.5, 0.8


class Clock:
    """The time that is left."""

    def __init__(self, minutes: float) -> None:
        """Starts now."""
        self.began, self.total = time.perf_counter(), 60 * minutes

    def left(self, share: float = 1.0) -> float:
        """Seconds until that share of the time is over."""
        return self.began + share * self.total - time.perf_counter()


def bench_gpu(
    num_envs: str = "4096,16384,65536,262144,1048576",
    training_envs: str = "4096,32768",
    only: str = "",
    minutes: float = 8.0,
    score: float = 0.97,
    score_env: str = "LifeOps-Shaped-v0",
    bandwidth_bytes: int = GIBI,
    rounds: int = 3,
    peers: bool = True,
    out: Path = Path("bench-gpu.json"),
) -> dict[str, Any]:
    """Measure environments, rollout, training and the share of the memory bandwidth, then train to a score.

    Programs of one size are compiled at once, on all cores. The file is written after each stage.

    Args:
        num_envs: Parallel environments, with commas.
        training_envs: The same for rollout and training.
        only: Run only environments whose name contains this.
        minutes: When it should be over; sizes that do not fit are left out.
        score: To train to, on the library; 0 is the random policy, 1 the exact best return or its upper bound.
        score_env: Id of the environment to train.
        bandwidth_bytes: Size of the array whose copying tells the memory bandwidth.
        rounds: Timed rounds per program, in turns.
        peers: Also run other suites (extra `peers`).
        out: The JSON file.
    """
    clock = Clock(minutes)
    stages = (
        (["environments"], numbers_of_envs(num_envs), ENVIRONMENTS_UNTIL),
        (["rollout", "training"], numbers_of_envs(training_envs), TRAINING_UNTIL),
    )
    score_of = library_score(score_env)
    bandwidth = copy_bandwidth(bandwidth_bytes)
    print(f"{hardware.line()}\nmemory bandwidth, measured: {bandwidth / 1e9:,.0f} GB/s (an addition in place)")
    found: dict[str, Any] = {"bandwidth_bytes_per_s": bandwidth, "left_out": []}
    results: list[Result] = []
    suites = ["jumanji", "gymnax"] if peers else []

    def write() -> None:
        settings = {"rounds": rounds, "minutes": minutes}
        measure.write(out, results, settings=settings, **found)

    for kinds, sizes, until in stages:
        took = 0.0
        for size in sizes:
            title, before = f"{', '.join(kinds)}: {size:,} environments", clock.left()
            if clock.left(until) > 2 * took:  # a larger size takes longer, and compiles as long as the one before
                programs = select(kinds, ["library"], only=only, others=others(kinds, suites))
                # Counted ones are nearly the same, and each program costs a compilation.
                chosen = {name: build(size) for name, build in programs.items() if ", counted" not in name}
                problem = _measure(chosen, results, rounds, bandwidth, title)
                took = before - clock.left()
            else:
                problem = "no time left"
            if problem:
                print(f"\nleft out: {title}: {problem}")
                found["left_out"].append(f"{title}: {problem}")
            write()
    limit = max(1.0, clock.left())
    reached = train_to(score, score_of, preset(score_env), limit=limit)
    found["to_score"] = dataclasses.asdict(reached)
    write()
    print(f"\n{describe(reached)}\nwritten to {out}, {clock.total - clock.left():.0f} s in all")
    return found


def compile_side_by_side(workloads: Mapping[str, Workload], tick: Tick) -> list[Running]:
    """The same as `compile_all`, on all cores: XLA compiles outside of Python's lock."""
    running = []
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for each in pool.map(compile_one, workloads, workloads.values()):
            running.append(each)
            tick(each.result.name)
    return [warm(each) for each in running]


def copy_bandwidth(num_bytes: int, *, rounds: int = 5, steps: int = 16) -> float:
    """Bytes a second that an addition in place reads and writes over an array of so many bytes, the best round."""
    running = warm(compile_one("copy", copies(1, 2 * num_bytes, steps=steps)))
    return 2 * num_bytes * max(1 / running.round() for _ in range(rounds))


def _measure(
    workloads: Mapping[str, Workload], results: list[Result], rounds: int, bandwidth: float, title: str
) -> str | None:
    """Adds the measurements of all workloads of one size to the results, or the reason why there are none."""
    try:
        with progress(title, len(workloads) * (1 + rounds)) as tick:
            found = in_turns(compile_side_by_side(workloads, tick), rounds=rounds, floor=True, tick=tick)
    except jax.errors.JaxRuntimeError as error:  # mostly: the memory does not suffice
        return str(error).splitlines()[0]
    print(f"\n{title}\n{measure.table(found, YARDSTICKS)}")
    for each in found:
        if each.sizes is not None:
            moved = each.sizes.floor * each.median
            print(f"{each.name}: {moved / 1e9:,.1f} GB/s must move, {moved / bandwidth:.1%} of the bandwidth")
    results += found
    return None


def library_score(id: str) -> Any:
    """Policy -> mean score on the shipped scenarios of an environment, in one compiled program.

    Raises:
        ValueError: if the best returns are unknown.
    """
    env, params = jaxenv.make(id)
    library = shipped.load_library(env)
    stored = shipped.stored_returns(env, library)
    if not stored:
        raise ValueError(f"{id} has no scores: the best returns of its library are not known")
    reference = shipped.reference_returns(env, params, library, None)
    play = functools.partial(jaxenv.evaluate, env=env, params=params.replace(bank=library.bank))

    def score_of(policy: Any) -> float:
        returns = np.asarray(play(policy).returns).mean(axis=1)
        return float(np.nanmean(score_by(returns, reference)))

    return score_of


def main(argv: Sequence[str]) -> int:
    """Runs the command."""
    return call(bench_gpu, argv, "python -m lab bench-gpu")


@dataclasses.dataclass(frozen=True)
class Reached:
    """How far a training came, and when."""

    env: str
    target: float
    score: float  # the last, of a policy that takes the most probable actions
    is_reached: bool
    env_steps: int
    seconds: float  # of supersteps alone
    seconds_in_all: float  # with the tests between them
    compile_s: float  # before: compilation, and the first scenarios and episodes


def train_to(target: float, score_of: Callable[[Any], float], config: Config, *, limit: float = 1e9) -> Reached:
    """Trains by a config until a score is reached, its steps are done, or time is up.

    Args:
        target: the score.
        score_of: policy -> score; called after each superstep.
        config: the settings; its learning rate falls over its own `total_steps`, reached or not.
        limit: seconds of all of it; the superstep that runs then is the last.
    """
    env, params = jaxenv.make(config.env)
    policy_of = functools.partial(ppo.policy_of, config=config, env=env)
    entered = time.perf_counter()
    state = ppo.init(jax.random.key(config.seed), params, config=config, env=env)
    superstep = ppo.make_superstep(config, env).lower(state, params, config.hyper).compile()
    score = score_of(policy_of(state))  # compiles it
    compile_s = time.perf_counter() - entered
    started, seconds, done = time.perf_counter(), 0.0, 0
    while score < target and done < config.num_supersteps and time.perf_counter() - entered < limit:
        began = time.perf_counter()
        state, _ = jax.block_until_ready(superstep(state, params, config.hyper))
        seconds, done = seconds + time.perf_counter() - began, done + 1
        score = score_of(policy_of(state))
    in_all = time.perf_counter() - started
    steps = done * config.steps_per_superstep
    return Reached(config.env, target, score, score >= target, steps, seconds, in_all, compile_s)


def describe(found: Reached) -> str:
    """In one line.

    >>> describe(Reached("LifeOps-v0", 0.97, 0.981, True, 655_360, 2.0, 3.0, 30.0))
    'LifeOps-v0: score 0.981 (target 0.970) after 655,360 steps, 2.0 s of training (3.0 s with tests, 30.0 s before)'
    """
    short = "" if found.is_reached else ", not reached"
    return (
        f"{found.env}: score {found.score:.3f} (target {found.target:.3f}{short}) after {found.env_steps:,} steps, "
        f"{found.seconds:.1f} s of training ({found.seconds_in_all:.1f} s with tests, {found.compile_s:.1f} s before)"
    )
