"""`jaxenv profile`: where a superstep of training goes."""

from pathlib import Path

from tyro.conf import Positional

import jaxenv
from jaxenv.host.names import did_you_mean_one_of
from train.benchmark import hardware, learning
from train.benchmark import profile as profiling
from train.cli.benchmark import progress


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
    if env not in jaxenv.registered():
        raise ValueError(f"no environment {env!r}.{did_you_mean_one_of(env, jaxenv.registered())}")
    config = learning.config_of(env, num_envs=num_envs, num_steps=num_steps, bank=scenarios)
    print(f"{env}, {config.rollout.num_envs:,} environments x {config.rollout.num_steps} steps; {hardware.line()}")
    with progress("compiling and timing") as tick:
        found = profiling.profile(config, trace_dir / env, rounds=rounds, tick=tick)
    print(profiling.describe(found))
