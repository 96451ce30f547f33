"""Where a superstep of training goes: its parts compiled apart and timed in turns with the whole, and its buffers.

A part that is compiled alone differs a little from the same part within the whole, where XLA fuses it. But it
is the same work in the same sizes, and it is timed in the same way on every platform. The gradients and the minibatches
that they are taken on have no separate program: they are the rest.
"""

import dataclasses
import functools
import math
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

import jaxenv
from jaxenv.core import Environment
from jaxenv.core.types import Key
from train.benchmark import selection
from train.benchmark.measure import Running, compile_all, take_turns
from train.benchmark.workload import Workload, registered, steps_of
from train.experience.bank import generate_bank
from train.learning.returns import generalized_advantages
from train.learning.state import initial_weights
from train.ppo import learner
from train.settings.config import Config

WHOLE, ACTING = "superstep", "acting"
REST = "network: gradients, and the minibatches for them"


@dataclasses.dataclass(frozen=True)
class Profile:
    """The measurements of one superstep."""

    env_steps: int  # of a superstep
    seconds: float  # of it, median over the rounds
    shares: dict[str, float]  # part -> of that time, median over the rounds; they sum to about 1
    memory: dict[str, int]  # bytes of arguments, results and temporaries; results inside arguments apart
    arrays: list[tuple[str, float, int, str]]  # see `largest_arrays`
    trace: Path


def profile(
    config: Config, trace: Path, *, rounds: int = 5, tick: Callable[[str], None] = lambda name: None
) -> Profile:
    """Profiles the superstep of a config.

    Args:
        config: the settings.
        trace: the folder for one superstep under `jax.profiler`, for TensorBoard, XProf or Perfetto.
        rounds: of the whole and each part, in turns.
        tick: called after each compilation and each timing.
    """
    running = compile_all(workloads(config), tick=tick)
    take_turns(running, [None] * len(running), rounds=rounds, tick=tick)
    whole = running[0]
    whole.calls = 1
    with jax.profiler.trace(trace):
        whole.round()
    compiled: Any = whole.program
    memory = compiled.memory_analysis()
    names = ("argument", "output", "alias", "temp")
    return Profile(
        env_steps=config.steps_per_superstep,
        seconds=config.steps_per_superstep / whole.result.median,
        shares=shares(running),
        memory={name: getattr(memory, f"{name}_size_in_bytes") for name in names},
        arrays=largest_arrays(compiled.as_text()),
        trace=trace,
    )


def workloads(config: Config) -> list[Workload]:
    """The superstep and its parts, each in the sizes of one update, so that all have seconds by environment step."""
    env, _ = jaxenv.make(config.env)
    sizes = config.rollout
    program = registered(config.env, counted=True)
    found = [
        dataclasses.replace(selection.training(config), name=WHOLE),
        dataclasses.replace(steps_of(program, sizes.num_envs, steps=sizes.num_steps), name="environment"),
        dataclasses.replace(selection.acting(config, steps=sizes.num_steps), name=ACTING),
        _alone("advantages", config, functools.partial(_returns, config, env), _advantages(config)),
        _alone("optimizer", config, functools.partial(_weights, config, env), _optimizer(config, env.num_agents)),
    ]
    if config.is_generated and config.training.refresh:
        draw = _alone("new scenarios", config, lambda key, params: key, _scenarios(config, env))
        found.append(dataclasses.replace(draw, env_steps=draw.env_steps * config.training.refresh))
    return found


def shares(running: list[Running]) -> dict[str, float]:
    """Part -> share of the superstep, from the timings; the remainder has its own name."""
    seconds = {each.workload.name: [1 / speed for speed in each.result.steps_per_s] for each in running}
    rounds = [dict(zip(seconds, values, strict=True)) for values in zip(*seconds.values(), strict=True)]
    for found in rounds:
        # The environment's own program picks random actions, which stands in acting for the sampling of the policy.
        found["network: acting"] = found.pop(ACTING) - found["environment"]
        found[REST] = found[WHOLE] - sum(value for name, value in found.items() if name != WHOLE)
    return {
        name: statistics.median(found[name] / found[WHOLE] for found in rounds) for name in rounds[0] if name != WHOLE
    }


def _alone(name: str, config: Config, start: Callable[..., Any], run: Callable[..., Any]) -> Workload:
    """A part that takes the params and makes one update."""
    params = jaxenv.make(config.env)[1]
    return Workload(name, config.rollout.num_envs, config.rollout.batch_size, lambda: params, start, run)


def _returns(config: Config, env: Environment, key: Key, params: Any) -> jax.Array:
    return jax.random.normal(key, (config.rollout.num_steps, config.rollout.num_envs * env.num_agents))


def _advantages(config: Config) -> Callable[..., Any]:
    def run(key: Key, carry: jax.Array, params: Any) -> Any:
        ends = carry > 2.0
        found = generalized_advantages(
            rewards=carry,
            values=carry,
            next_values=carry,
            terminated=ends,
            truncated=~ends,
            gamma=config.hyper.gamma,
            gae_lambda=config.hyper.gae_lambda,
        )
        return carry, found

    return run


def _weights(config: Config, env: Environment, key: Key, params: Any) -> Any:
    weights = initial_weights(key, params, config, env)
    return weights, learner.make_optimizer(config.hyper.max_grad_norm).init(weights)


def _optimizer(config: Config, agents: int) -> Callable[..., Any]:
    """As many optimizer steps as an update takes, with the weights for gradients."""
    sizes = config.rollout
    steps = sizes.epochs * sizes.batch_size * agents // sizes.samples_per_step

    def run(key: Key, carry: Any, params: Any) -> Any:
        def step(carry: Any, _: None) -> tuple[Any, None]:
            weights, state = carry
            changes, state = learner.make_optimizer(config.hyper.max_grad_norm).update(weights, state)
            return (jax.tree.map(lambda w, change: w - 1e-3 * change, weights, changes), state), None

        return lax.scan(step, carry, length=steps)[0], jnp.int32(0)

    return run


def _scenarios(config: Config, env: Environment) -> Callable[..., Any]:
    """The draw of a bank, as each refresh does it."""

    def run(key: Key, carry: Key, params: Any) -> Any:
        drawn = generate_bank(env, key, count=config.num_scenarios, difficulty=config.training.difficulty)
        return carry, drawn

    return run


def largest_arrays(text: str, *, count: int = 12) -> list[tuple[str, float, int, str]]:
    """The largest arrays of a compiled program: (type, bytes, instructions that give one, where in JAX one is from).

    Those that do not live at the same time may share memory, and an array updated in place is one with several
    instructions.

    >>> text = jax.jit(lambda x: jnp.sort(x)).lower(jnp.zeros(8)).compile().as_text()
    >>> [(kind, size) for kind, size, *_ in largest_arrays(text)]
    [('f32[8]', 32.0)]
    """
    fused, found = set(re.findall(r"(?:calls|to_apply)=%?([\w.\-]+)", text)), {}
    for computation in re.split(r"^\}", text, flags=re.MULTILINE):
        name = re.search(r"^(?:ENTRY )?%?([\w.\-]+) \(", computation, re.MULTILINE)
        if name is None or name[1] in fused:
            continue
        for dtype, dims, op, rest in re.findall(r"= ([a-z]\w*)\[([\d,]*)\]\S* ([a-z][\w\-]*)\((.*)", computation):
            if op not in ("get-tuple-element", "bitcast", "constant"):
                bits = re.search(r"\d+", dtype)
                size = math.prod(int(n) for n in dims.split(",") if n) * int(bits[0] if bits else 8) / 8
                source = re.search(r'op_name="([^"]*)"', rest)
                kind, before = f"{dtype}[{dims}]", found.get(f"{dtype}[{dims}]")
                first = before[3] if before else source[1] if source else ""
                found[kind] = (kind, size, (before[2] if before else 0) + 1, first)
    return sorted(found.values(), key=lambda each: -each[1])[:count]


def describe(found: Profile) -> str:
    """A profile as text."""
    giga = {name: size / 1e9 for name, size in found.memory.items()}
    own = giga["argument"] + giga["output"] - giga["alias"] + giga["temp"]
    lines = [
        f"superstep of {found.env_steps:,} environment steps: {found.seconds:.3f} s, "
        f"{found.env_steps / found.seconds / 1e6:.3f} M steps/s",
        "",
        "share of it, by programs that do one part alone, timed in turns with the whole",
        *(f"  {share:>7.1%}  {name}" for name, share in sorted(found.shares.items(), key=lambda each: -each[1])),
        "",
        f"memory of the program: {own:.3f} GB = arguments {giga['argument']:.3f} + results {giga['output']:.3f} "
        f"- in place {giga['alias']:.3f} + temporaries {giga['temp']:.3f}",
        "its largest arrays (those that do not live at the same time share memory)",
        *(
            f"  {size / 1e6:>10.3f} MB  {kind:<28} x{times:<4} {source[-70:]}"
            for kind, size, times, source in found.arrays
        ),
        "",
        f"trace of one superstep: {found.trace} (tensorboard --logdir, or ui.perfetto.dev)",
    ]
    return "\n".join(lines)
