"""`python -m lab bench`: the speed of the environments beside that of other suites."""

import functools
import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from jaxenv.host.names import did_you_mean_one_of
from train.benchmark.measure import Result, write
from train.benchmark.selection import Build, select, stepped
from train.benchmark.workload import STEPS, Program, rows
from train.cli.benchmark import listed, numbers_of_envs, run
from train.cli.numbers import call

YARDSTICKS = ("Knapsack-v1", "Breakout-MinAtar")  # the speed of the others is also given as a multiple of these
IDS = {"jumanji": ("TSP-v1", "Knapsack-v1", "JobShop-v0"), "gymnax": ("Breakout-MinAtar", "CartPole-v1")}


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
    """
    sizes, kinds = numbers_of_envs(num_envs), listed(measure)
    beside = others(kinds, listed(against), steps)
    chosen = select(kinds, listed(scenarios), only=only, steps=steps, num_steps=num_steps, others=beside)
    results = run(chosen, sizes, rounds=rounds, steps=steps, yardsticks=YARDSTICKS)
    if out is not None:
        write(out, results, settings={"num_envs": sizes, "rounds": rounds, "steps": steps})
    return results


def others(kinds: Sequence[str], suites: Sequence[str], steps: int = STEPS) -> dict[str, Build]:
    """Name -> builder of the steps of an environment of another suite, where environments are measured."""
    found = programs(suites) if "environments" in kinds else {}
    return {name: functools.partial(stepped, build, steps) for name, build in found.items()}


def main(argv: Sequence[str]) -> int:
    """Runs the command."""
    return call(bench, argv, "python -m lab bench")


def programs(suites: Sequence[str]) -> dict[str, Callable[[], Program]]:
    """Name -> its builder, of the suites that are installed; a line for a suite that is not.

    Raises:
        ValueError: for an unknown suite.
    """
    found: dict[str, Callable[[], Program]] = {}
    for suite in suites:
        if suite not in IDS:
            raise ValueError(f"no suite {suite!r}.{did_you_mean_one_of(suite, IDS)}")
        if importlib.util.find_spec(suite) is None:
            print(f"{suite} is not installed (extra `peers`): skipped", file=sys.stderr)
        else:
            found |= {f"{suite} {id}": functools.partial(_BUILDERS[suite], id) for id in IDS[suite]}
    return found


def jumanji(id: str) -> Program:
    """A Jumanji environment under its automatic reset."""
    from jumanji import make  # pyright: ignore[reportPrivateImportUsage]
    from jumanji.wrappers import VmapAutoResetWrapper

    env = VmapAutoResetWrapper(make(id))

    def reset(keys: jax.Array, params: Any) -> tuple[Any, Any]:
        state, timestep = env.reset(keys)
        return timestep.observation, state

    def step(keys: jax.Array, state: Any, action: jax.Array, params: Any) -> tuple[Any, Any, jax.Array, jax.Array]:
        state, timestep = env.step(state, action)  # Jumanji's states hold their own keys
        return timestep.observation, state, jnp.asarray(timestep.reward), jnp.asarray(timestep.last())

    return Program(lambda: None, reset, step, lambda observation: observation.action_mask)


def gymnax(id: str) -> Program:
    """A gymnax environment, whose step resets itself; all of its actions are legal."""
    import gymnax as suite

    env, params = suite.make(id)

    def all_legal(observation: jax.Array) -> jax.Array:
        return jnp.ones((len(observation), env.num_actions), bool)

    return Program(lambda: params, jax.vmap(env.reset, in_axes=(0, None)), rows(env), all_legal)


_BUILDERS: dict[str, Callable[[str], Program]] = {"jumanji": jumanji, "gymnax": gymnax}
