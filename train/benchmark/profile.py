"""Where a superstep of training goes: its parts compiled apart and timed in turns with the whole, and its memory.

A part that is compiled alone differs a little from the same part within the whole, where XLA fuses it. But it is the
same work in the same sizes, and it is timed in the same way on every platform. Learning has no separate program: it is
the rest.
"""

import statistics
from pathlib import Path
from typing import Any

import jax

import jaxenv
from jaxenv.core.types import Key
from train.benchmark import selection
from train.benchmark.measure import Running, Tick, compile_all, in_turns
from train.benchmark.workload import Workload, registered, steps_of
from train.experience.bank import generate_bank
from train.run.group import program_bytes
from train.settings.config import Config

WHOLE, ACTING = "superstep", "acting"
REST = "learning: advantages, minibatches, gradients and optimizer"


def profile(config: Config, trace: Path, *, rounds: int = 5, tick: Tick = lambda name: None) -> str:
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
        "",
        f"trace of one superstep: {trace} (tensorboard --logdir, or ui.perfetto.dev)",
    ]
    return "\n".join(lines)


def workloads(config: Config) -> dict[str, Workload]:
    """The superstep and its parts, each in the sizes of one update, so that all have seconds by environment step."""
    sizes = config.rollout
    program = registered(config.env, counted=True)
    found = {
        WHOLE: selection.training(config),
        "environment": steps_of(program, sizes.num_envs, steps=sizes.num_steps),
        ACTING: selection.acting(config, steps=sizes.num_steps),
    }
    if config.is_generated and config.training.refresh:
        found["new scenarios"] = _scenarios(config)
    return found


def shares(running: list[Running]) -> dict[str, float]:
    """Part -> share of the superstep, from the timings; the remainder has its own name."""
    seconds = {each.result.name: [1 / speed for speed in each.result.steps_per_s] for each in running}
    rounds = [dict(zip(seconds, values, strict=True)) for values in zip(*seconds.values(), strict=True)]
    for found in rounds:
        # The environment's own program picks random actions, which stands in acting for the sampling of the policy.
        found["network: acting"] = found.pop(ACTING) - found["environment"]
        found[REST] = found[WHOLE] - sum(value for name, value in found.items() if name != WHOLE)
    return {
        name: statistics.median(found[name] / found[WHOLE] for found in rounds) for name in rounds[0] if name != WHOLE
    }


def _scenarios(config: Config) -> Workload:
    """The draw of a bank, as each refresh does it."""
    env, params = jaxenv.make(config.env)

    def run(key: Key, carry: Key, params: Any) -> Any:
        return carry, generate_bank(env, key, count=config.num_scenarios, difficulty=config.training.difficulty)

    steps = config.rollout.batch_size * config.training.refresh
    return Workload(config.rollout.num_envs, steps, lambda: params, lambda key, params: key, run)
