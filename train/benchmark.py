"""Environment throughput beside the suites that people know, measured in one run.

Every program is the same: uniformly random legal actions, one jitted `lax.scan` over a batch, the suite's own automatic
reset; state, observation, reward and a count of ends are carried and returned, so that nothing can be left out. All
programs are compiled first and then run in turns, round after round, so that a noisy machine is noisy to all of them.
"""

import dataclasses
import functools
import importlib.util
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import tyro

import jaxenv
from jaxenv.core import masking

STEPS = 128  # of one scan


@dataclasses.dataclass(frozen=True)
class Program:
    """One environment, batched: `reset(key, params) -> carry`, `step(key, carry, params) -> (carry, ended [B])`."""

    name: str
    params: Any
    reset: Callable[[jax.Array, Any], Any]
    step: Callable[[jax.Array, Any, Any], tuple[Any, jax.Array]]
    count_bytes: Callable[[Any], int]  # carry -> bytes of one environment's state and observation


@dataclasses.dataclass
class Result:
    """What one program took."""

    name: str
    compile_s: float
    bytes_per_env: int
    steps_per_s: list[float] = dataclasses.field(default_factory=list)

    @property
    def median(self) -> float:
        """Steps per second, median over the rounds."""
        return statistics.median(self.steps_per_s)


def benchmark(
    *, num_envs: int = 4096, rounds: int = 5, peers: bool = True, out: Path | None = None, only: str = ""
) -> list[Result]:
    """Measures steps per second of every registered environment and, where they are installed, of other suites.

    Args:
        num_envs: environments side by side.
        rounds: timed scans of each program, in turns; the median is told, with the least and the most.
        peers: whether other suites run too (extra `peers`).
        out: a JSON file for the figures.
        only: runs only programs whose name contains this.
    """
    programs = [functools.partial(_jaxenv_program, id) for id in jaxenv.registered()]
    programs += _peer_programs() if peers else []
    compiled = [_compile(build(num_envs), num_envs) for build in programs if only in _name_of(build)]
    for _ in range(rounds):
        for result, run in compiled:
            result.steps_per_s.append(num_envs * STEPS / run())
    results = [result for result, _ in compiled]
    print(_table(results, num_envs))
    if out is not None:
        out.write_text(json.dumps([dataclasses.asdict(r) | {"device": _device()} for r in results], indent=1))
    return results


def _name_of(build: functools.partial) -> str:
    return " ".join(build.args)


def _compile(program: Program, num_envs: int) -> tuple[Result, Callable[[], float]]:
    """Compiles one scan and warms it up; the function that comes back runs it on and returns its seconds."""

    def scan_steps(key: jax.Array, carry: Any, ends: jax.Array, params: Any) -> tuple[Any, jax.Array]:
        def step(carry: tuple[Any, jax.Array], key: jax.Array) -> tuple[tuple[Any, jax.Array], None]:
            inner, ends = carry
            inner, ended = program.step(key, inner, params)
            return (inner, ends + jnp.sum(ended, dtype=jnp.int32)), None

        return jax.lax.scan(step, (carry, ends), jax.random.split(key, STEPS))[0]

    key = jax.random.key(0)
    params = program.params
    carry = jax.jit(program.reset)(key, params)
    began = time.perf_counter()
    run = jax.jit(scan_steps).lower(key, carry, jnp.int32(0), params).compile()
    result = Result(program.name, time.perf_counter() - began, program.count_bytes(carry))
    latest = run(key, carry, jnp.int32(0), params)

    def timed() -> float:
        nonlocal latest, key
        key, scan_key = jax.random.split(key)
        jax.block_until_ready(latest)
        began = time.perf_counter()
        latest = jax.block_until_ready(run(scan_key, *latest, params))
        return time.perf_counter() - began

    return result, timed


def _jaxenv_program(id: str, num_envs: int) -> Program:
    env, params = jaxenv.make(id)

    def pick(key: jax.Array, observation: Any) -> jax.Array:
        mask = observation.action_mask
        rows = mask.reshape(-1, mask.shape[-1])  # of each agent, where there are several
        return jax.vmap(masking.sample_uniform)(jax.random.split(key, len(rows)), rows).reshape(mask.shape[:-1])

    def reset(key: jax.Array, params: Any) -> Any:
        keys = jax.random.split(key, num_envs)
        observation, state = jax.vmap(env.reset_env, in_axes=(0, None))(keys, params)
        return observation, state, pick(key, observation), jnp.float32(0)

    def step(key: jax.Array, carry: Any, params: Any) -> tuple[Any, jax.Array]:
        # The next action is picked ahead and carried: within one program XLA works a chain of scalars, as picking is,
        # out anew wherever the action is used.
        _, state, action, total = carry
        action_key, step_key = jax.random.split(key)
        observation, state, reward, terminated, truncated, _ = jax.vmap(env.step, in_axes=(0, 0, 0, None))(
            jax.random.split(step_key, num_envs), state, action, params
        )
        action = pick(action_key, observation)
        return (observation, state, action, total + jnp.sum(reward)), terminated | truncated

    return Program(id, params, reset, step, lambda carry: _bytes_per_env(carry[:2]))


def _peer_programs() -> list[functools.partial]:
    """Jumanji's structured tasks and gymnax's best known games, as far as they are installed."""
    ids = {"jumanji": ("TSP-v1", "Knapsack-v1", "JobShop-v0"), "gymnax": ("Breakout-MinAtar", "CartPole-v1")}
    programs: list[functools.partial] = []
    for suite, program in (("jumanji", _jumanji_program), ("gymnax", _gymnax_program)):
        if importlib.util.find_spec(suite) is None:
            print(f"{suite} is not installed (extra `peers`): left out", file=sys.stderr)
        else:
            programs += [functools.partial(program, id) for id in ids[suite]]
    return programs


def _jumanji_program(id: str, num_envs: int) -> Program:
    from jumanji import make  # pyright: ignore[reportPrivateImportUsage]
    from jumanji.wrappers import VmapAutoResetWrapper

    env = VmapAutoResetWrapper(make(id))

    def pick(key: jax.Array, mask: jax.Array) -> jax.Array:
        noise = jax.random.uniform(key, mask.shape)
        return jnp.argmax(jnp.where(mask, noise, -1.0), axis=-1).astype(jnp.int32)

    def reset(key: jax.Array, params: Any) -> Any:
        return *env.reset(jax.random.split(key, num_envs)), jnp.float32(0)

    def step(key: jax.Array, carry: Any, params: Any) -> tuple[Any, jax.Array]:
        state, timestep, total = carry
        mask = timestep.observation.action_mask
        action = pick(key, mask)
        state, timestep = env.step(state, action)
        return (state, timestep, total + jnp.sum(timestep.reward)), jnp.asarray(timestep.last())

    return Program(f"jumanji {id}", None, reset, step, lambda carry: _bytes_per_env((carry[0], carry[1].observation)))


def _gymnax_program(id: str, num_envs: int) -> Program:
    import gymnax

    env, params = gymnax.make(id)

    def reset(key: jax.Array, params: Any) -> Any:
        return *jax.vmap(env.reset, in_axes=(0, None))(jax.random.split(key, num_envs), params), jnp.float32(0)

    def step(key: jax.Array, carry: Any, params: Any) -> tuple[Any, jax.Array]:
        observation, state, total = carry
        action_key, step_key = jax.random.split(key)
        action = jax.random.randint(action_key, (num_envs,), 0, env.num_actions)
        observation, state, reward, terminated, truncated, _ = jax.vmap(env.step, in_axes=(0, 0, 0, None))(
            jax.random.split(step_key, num_envs), state, action, params
        )
        return (observation, state, total + jnp.sum(reward)), terminated | truncated

    return Program(f"gymnax {id}", params, reset, step, lambda carry: _bytes_per_env(carry[:2]))


def _bytes_per_env(tree: Any) -> int:
    return sum(leaf.nbytes // leaf.shape[0] for leaf in jax.tree.leaves(tree))


def _device() -> str:
    device = jax.devices()[0]
    return (
        f"{device.device_kind} x{jax.device_count()}, {len(os.sched_getaffinity(0))} CPU cores, jax {jax.__version__}"
    )


def _table(results: list[Result], num_envs: int) -> str:
    lines = [
        f"{num_envs} environments, random legal actions, automatic reset, {STEPS} steps a scan; {_device()}",
        f"{'environment':<28}{'M steps/s':>10}{'least':>9}{'most':>9}{'bytes/env':>11}{'compile s':>11}",
    ]
    for r in results:
        figures = (r.median / 1e6, min(r.steps_per_s) / 1e6, max(r.steps_per_s) / 1e6)
        speeds = f"{figures[0]:>10.3f}{figures[1]:>9.3f}{figures[2]:>9.3f}"
        lines.append(f"{r.name:<28}{speeds}{r.bytes_per_env:>11,}{r.compile_s:>11.1f}")
    return "\n".join(lines)


def main(argv: Sequence[str]) -> int:
    """The command `python -m train bench`."""
    tyro.cli(benchmark, args=argv, prog="python -m train bench")
    return 0
