"""Where a superstep of training goes: its parts compiled apart and timed in turns with the whole, and its buffers.

A part that is compiled alone differs a little from the same part within the whole, where XLA fuses it. But it is the
same work in the same sizes, and it is timed in the same way on every platform. Learning has no separate program: it is
the rest.
"""

import dataclasses
import math
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax

import jaxenv
from jaxenv.core import Environment
from jaxenv.core.types import Key
from train.benchmark import selection
from train.benchmark.measure import Running, compile_all, in_turns
from train.benchmark.workload import Workload, registered, steps_of
from train.experience.bank import generate_bank
from train.run.group import program_bytes
from train.settings.config import Config

WHOLE, ACTING = "superstep", "acting"
REST = "learning: advantages, minibatches, gradients and optimizer"


def profile(config: Config, trace: Path, *, rounds: int = 5, tick: Callable[[str], None] = lambda name: None) -> str:
    """Profiles the superstep of a config, in words.

    Args:
        config: the settings.
        trace: the folder for one superstep under `jax.profiler`, for TensorBoard, XProf or Perfetto.
        rounds: of the whole and each part, in turns.
        tick: called after each compilation and each timing.
    """
    running = compile_all(workloads(config), tick=tick)
    in_turns(running, rounds=rounds, tick=tick)
    whole, steps = running[0], config.steps_per_superstep
    whole.calls = 1
    with jax.profiler.trace(trace):
        whole.round()
    compiled: Any = whole.program
    memory, speed = compiled.memory_analysis(), whole.result.median
    names = {"argument": "arguments", "output": "results", "alias": "in place", "temp": "temporaries"}
    parts = [f"{words} {getattr(memory, f'{name}_size_in_bytes') / 1e9:.3f}" for name, words in names.items()]
    lines = [
        f"superstep of {steps:,} environment steps: {steps / speed:.3f} s, {speed / 1e6:.3f} M steps/s",
        "",
        "share of it, by programs that do one part alone, timed in turns with the whole",
        *(f"  {share:>7.1%}  {name}" for name, share in sorted(shares(running).items(), key=lambda each: -each[1])),
        "",
        f"memory of the program: {program_bytes(compiled) / 1e9:.3f} GB; {', '.join(parts)}",
        "its largest arrays (those that do not live at the same time share memory)",
        *(
            f"  {size / 1e6:>10.3f} MB  {kind:<28} x{times:<4} {source[-70:]}"
            for kind, size, times, source in largest_arrays(compiled.as_text())
        ),
        "",
        f"trace of one superstep: {trace} (tensorboard --logdir, or ui.perfetto.dev)",
    ]
    return "\n".join(lines)


def workloads(config: Config) -> list[Workload]:
    """The superstep and its parts, each in the sizes of one update, so that all have seconds by environment step."""
    env, params = jaxenv.make(config.env)
    sizes = config.rollout
    program = registered(config.env, counted=True)
    found = [
        dataclasses.replace(selection.training(config), name=WHOLE),
        dataclasses.replace(steps_of(program, sizes.num_envs, steps=sizes.num_steps), name="environment"),
        dataclasses.replace(selection.acting(config, steps=sizes.num_steps), name=ACTING),
    ]
    return [*found, _scenarios(config, env, params)] if config.is_generated and config.training.refresh else found


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


def _scenarios(config: Config, env: Environment, params: Any) -> Workload:
    """The draw of a bank, as each refresh does it."""

    def run(key: Key, carry: Key, params: Any) -> Any:
        drawn = generate_bank(env, key, count=config.num_scenarios, difficulty=config.training.difficulty)
        return carry, drawn

    steps = config.rollout.batch_size * config.training.refresh
    return Workload("new scenarios", config.rollout.num_envs, steps, lambda: params, lambda key, params: key, run)


def largest_arrays(text: str, *, count: int = 12) -> list[tuple[str, float, int, str]]:
    """The largest arrays of a compiled program: (type, bytes, instructions that give one, where in JAX one is from).

    Those that do not live at the same time may share memory, and an array updated in place is one with several
    instructions.

    >>> largest_arrays('ENTRY main (x: f32[8]) -> f32[8] { x = f32[8]{0} parameter(0), metadata={op_name="x"} }')
    [('f32[8]', 32.0, 1, 'x')]
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
