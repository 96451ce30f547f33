"""Environment throughput beside well-known suites, measured in one run.

Every program has the same form: one jitted `lax.scan` over a batch, the suite's own automatic reset, and uniformly
random legal actions picked in the same way (`masking.sample_uniform`, one random number per agent); in a suite without
masks every action is legal. State, observation, reward and a count of episode ends are carried and returned, so that
nothing can be optimized away. All programs are compiled first and then run in turns, round after round, so that a noisy
machine affects all of them alike, and ratios are taken within a round.
"""

import dataclasses
import functools
import importlib.util
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

import jaxenv
from jaxenv.core import Environment, masking
from jaxenv.wrappers import EpisodeStatistics

STEPS = 128  # per scan
YARDSTICKS = ("Knapsack-v1", "Breakout-MinAtar")  # the speed of the others is also given as a multiple of these


@dataclasses.dataclass(frozen=True)
class Program:
    """One environment, batched."""

    params: Any
    reset: Callable[[jax.Array, Any], tuple[Any, Any]]  # (keys [B], params) -> (observation, state)
    # (keys [B], state, action, params) -> (observation, state, reward, done [B])
    step: Callable[[jax.Array, Any, jax.Array, Any], tuple[Any, Any, jax.Array, jax.Array]]
    mask: Callable[[Any], jax.Array]  # observation -> [B, ..., A] bool


Build = Callable[[], Program]


@dataclasses.dataclass
class Result:
    """The measurements of one program."""

    name: str
    compile_s: float
    bytes_per_env: int  # of state and observation
    steps_per_s: list[float] = dataclasses.field(default_factory=list)

    @property
    def median(self) -> float:
        """Steps per second, median over the rounds."""
        return statistics.median(self.steps_per_s)

    def ratio(self, other: "Result") -> float:
        """How many times faster than another program, median over the rounds."""
        return statistics.median(a / b for a, b in zip(self.steps_per_s, other.steps_per_s, strict=True))


def benchmark(
    *, num_envs: int = 4096, rounds: int = 5, peers: bool = True, out: Path | None = None, only: str = ""
) -> list[Result]:
    """Measures steps per second of every registered environment and of other suites, if they are installed.

    Each registered environment runs twice: as it is, and in `EpisodeStatistics`, as training uses it.

    Args:
        num_envs: parallel environments.
        rounds: timed scans per program, in turns; the median is reported, with minimum and maximum.
        peers: also run other suites (extra `peers`).
        out: a JSON file for the measurements.
        only: run only programs whose name contains this.
    """
    programs = {**_programs(), **(_peer_programs() if peers else {})}
    chosen = {name: build() for name, build in programs.items() if only in name}
    if not chosen:
        raise ValueError(f"no program's name contains {only!r}. Available: {'; '.join(programs)}.")
    compiled = [_compile(name, program, num_envs) for name, program in chosen.items()]
    for _ in range(rounds):
        for result, run in compiled:
            result.steps_per_s.append(num_envs * STEPS / run())
    results = [result for result, _ in compiled]
    print(_table(results, num_envs))
    if out is not None:
        out.write_text(json.dumps([dataclasses.asdict(r) | {"device": _device()} for r in results], indent=1))
    return results


def _compile(name: str, program: Program, num_envs: int) -> tuple[Result, Callable[[], float]]:
    """Compiles one scan and warms it up; the returned function continues it and returns its seconds."""

    def start(key: jax.Array, params: Any) -> Any:
        observation, state = program.reset(jax.random.split(key, num_envs), params)
        return observation, state, masking.sample_uniform(key, program.mask(observation)), jnp.float32(0)

    def scan_steps(key: jax.Array, carry: Any, params: Any) -> tuple[Any, jax.Array]:
        def step(carry: Any, key: jax.Array) -> tuple[Any, jax.Array]:
            # The next action is picked ahead and carried: picking is a chain of scalar operations, which XLA would
            # otherwise recompute wherever the action is used.
            _, state, action, total = carry
            action_key, step_key = jax.random.split(key)
            keys = jax.random.split(step_key, num_envs)
            observation, state, reward, done = program.step(keys, state, action, params)
            action = masking.sample_uniform(action_key, program.mask(observation))
            return (observation, state, action, total + jnp.sum(reward)), jnp.sum(done, dtype=jnp.int32)

        carry, ends = jax.lax.scan(step, carry, jax.random.split(key, STEPS))
        return carry, ends

    key, params = jax.random.key(0), program.params
    carry = jax.jit(start)(key, params)
    began = time.perf_counter()
    run = jax.jit(scan_steps).lower(key, carry, params).compile()
    result = Result(name, time.perf_counter() - began, _bytes_per_env(carry[:2]))
    carry, _ = run(key, carry, params)

    def timed() -> float:
        nonlocal carry, key
        key, scan_key = jax.random.split(key)
        jax.block_until_ready(carry)
        began = time.perf_counter()
        carry, _ = jax.block_until_ready(run(scan_key, carry, params))
        return time.perf_counter() - began

    return result, timed


def _programs() -> dict[str, Build]:
    """Every registered environment, as it is and as training uses it."""
    programs: dict[str, Build] = {}
    for id in jaxenv.registered():
        programs |= {id: functools.partial(_bare, id), f"{id}, counted": functools.partial(_counted, id)}
    return programs


def _bare(id: str) -> Program:
    """A registered environment."""
    return _jaxenv_program(*jaxenv.make(id))


def _counted(id: str) -> Program:
    """The same in the wrapper that training uses."""
    env, params = jaxenv.make(id)
    return _jaxenv_program(EpisodeStatistics(env), params)


def _jaxenv_program(env: Environment, params: Any) -> Program:
    def step(keys: jax.Array, state: Any, action: jax.Array, params: Any) -> tuple[Any, Any, jax.Array, jax.Array]:
        observation, state, reward, terminated, truncated, _ = jax.vmap(env.step, in_axes=(0, 0, 0, None))(
            keys, state, action, params
        )
        return observation, state, reward, terminated | truncated

    reset = jax.vmap(env.reset_env, in_axes=(0, None))
    return Program(params, reset, step, lambda observation: observation.action_mask)


def _peer_programs() -> dict[str, Build]:
    """Structured tasks of Jumanji and well-known games of gymnax, if they are installed."""
    ids = {"jumanji": ("TSP-v1", "Knapsack-v1", "JobShop-v0"), "gymnax": ("Breakout-MinAtar", "CartPole-v1")}
    programs: dict[str, Build] = {}
    for suite, program in (("jumanji", _jumanji_program), ("gymnax", _gymnax_program)):
        if importlib.util.find_spec(suite) is None:
            print(f"{suite} is not installed (extra `peers`): skipped", file=sys.stderr)
        else:
            programs |= {f"{suite} {id}": functools.partial(program, id) for id in ids[suite]}
    return programs


def _jumanji_program(id: str) -> Program:
    from jumanji import make  # pyright: ignore[reportPrivateImportUsage]
    from jumanji.wrappers import VmapAutoResetWrapper

    env = VmapAutoResetWrapper(make(id))

    def reset(keys: jax.Array, params: Any) -> tuple[Any, Any]:
        state, timestep = env.reset(keys)
        return timestep.observation, state

    def step(keys: jax.Array, state: Any, action: jax.Array, params: Any) -> tuple[Any, Any, jax.Array, jax.Array]:
        state, timestep = env.step(state, action)  # Jumanji's states hold their own keys
        return timestep.observation, state, jnp.asarray(timestep.reward), jnp.asarray(timestep.last())

    return Program(None, reset, step, lambda observation: observation.action_mask)


def _gymnax_program(id: str) -> Program:
    import gymnax

    env, params = gymnax.make(id)

    def step(keys: jax.Array, state: Any, action: jax.Array, params: Any) -> tuple[Any, Any, jax.Array, jax.Array]:
        observation, state, reward, terminated, truncated, _ = jax.vmap(env.step, in_axes=(0, 0, 0, None))(
            keys, state, action, params
        )
        return observation, state, reward, terminated | truncated

    def all_legal(observation: jax.Array) -> jax.Array:
        return jnp.ones((len(observation), env.num_actions), bool)

    return Program(params, jax.vmap(env.reset, in_axes=(0, None)), step, all_legal)


def _bytes_per_env(tree: Any) -> int:
    return sum(leaf.nbytes // leaf.shape[0] for leaf in jax.tree.leaves(tree))


def _device() -> str:
    device = jax.devices()[0]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()  # it is Linux's alone
    return f"{device.device_kind} x{jax.device_count()}, {cores} CPU cores, jax {jax.__version__}"


def _table(results: list[Result], num_envs: int) -> str:
    """A row per program, with its speed as a multiple of each yardstick that ran beside it."""
    yardsticks = {name: r for name in YARDSTICKS for r in results if r.name.endswith(name)}
    ratios = "".join(f"{'x ' + name:>20}" for name in yardsticks)
    lines = [
        f"{num_envs} environments, random legal actions, automatic reset, {STEPS} steps per scan; {_device()}",
        f"{'environment':<36}{'M steps/s':>10}{'min':>9}{'max':>9}{ratios}{'bytes/env':>11}{'compile s':>11}",
    ]
    for r in results:
        figures = (r.median / 1e6, min(r.steps_per_s) / 1e6, max(r.steps_per_s) / 1e6)
        speeds = f"{figures[0]:>10.3f}{figures[1]:>9.3f}{figures[2]:>9.3f}"
        ratios = "".join(f"{r.ratio(other):>20.2f}" for other in yardsticks.values())
        lines.append(f"{r.name:<36}{speeds}{ratios}{r.bytes_per_env:>11,}{r.compile_s:>11.1f}")
    return "\n".join(lines)
