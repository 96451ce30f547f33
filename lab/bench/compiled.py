"""Programs compiled for chips that are not there: facts of the compiled program, and no speed.

Memory, kernels, gathers, layouts and so padding are those of the program that would run. It reports no speed, which
would be an estimate.
"""

import dataclasses
import functools
import importlib.util
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
from tyro.conf import Positional

from jaxenv.host.companions import installing
from jaxenv.host.names import did_you_mean_one_of
from lab.bench import hlo
from lab.bench.speeds import others
from train.benchmark import hardware
from train.benchmark.selection import select
from train.benchmark.workload import STEPS, Workload, sizes
from train.cli.benchmark import listed, numbers_of_envs
from train.cli.numbers import call
from train.run.group import program_bytes

GIBI, GIGA = 2**30, 1e9


@dataclasses.dataclass(frozen=True)
class Target:
    """A chip."""

    name: str
    platform: str  # the plug-in's: tpu or cuda
    topology: str
    memory_bytes: int
    package: str  # the module that has its compiler
    extra: str  # of jaxenv, which installs it
    description: str | None = None  # a file beside this one, in XLA's format for GPUs (public figures)

    @property
    def is_installed(self) -> bool:
        """Whether its compiler is here."""
        return importlib.util.find_spec(self.package) is not None


def _tpu(name: str, topology: str, gibibytes: int) -> Target:
    return Target(name, "tpu", topology, gibibytes * GIBI, "libtpu", "aot-tpu")


TARGETS = {
    target.name: target
    for target in (
        _tpu("tpu-v5e", "v5e:2x2", 16),
        _tpu("tpu-v5p", "v5p:2x2x1", 95),
        _tpu("tpu-v6e", "v6e:2x2", 32),
        Target("h100", "cuda", "1x1x1", 80 * 10**9, "jax_cuda12_plugin", "aot-gpu", "h100.txtpb"),
    )
}


def target(name: str) -> Target:
    """The chip of that name.

    >>> TARGETS["h100"].memory_bytes  # what `target("h100")` gives where its compiler is installed
    80000000000

    Raises:
        ValueError: for an unknown name, with the nearest one, and where its compiler is not installed.
    """
    if name not in TARGETS:
        raise ValueError(f"no target {name!r}.{did_you_mean_one_of(name, TARGETS)}")
    found = TARGETS[name]
    if not found.is_installed:
        raise ValueError(f"{name} needs a compiler that is not installed: {installing(f'train,{found.extra}')}")
    return found


# Without these libtpu queries a metadata server for its identity, and waits for other hosts.
ENVIRONMENT = {
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "ABSL_MIN_LOG_LEVEL": "2",
}
# No GPU is there to try kernels on.
OPTIONS = {"tpu": None, "cuda": {"xla_gpu_autotune_level": 0}}


def prepare() -> None:
    """Lets JAX start nothing but the CPU: call it before JAX starts, or have JAX_PLATFORMS=cpu."""
    os.environ.update(ENVIRONMENT)  # where libtpu is installed, importing JAX has put error messages there
    jax.config.update("jax_platforms", "cpu")


@functools.cache
def device(target: Target) -> Any:
    """A device of the chip that compiles and cannot run."""
    from jax.experimental import topologies

    prepare()
    if target.description is None:
        topology = topologies.get_topology_desc(platform=target.platform, topology_name=target.topology)
    else:
        description = (Path(__file__).parent / target.description).read_text()
        topology = topologies.get_topology_desc(
            platform=target.platform, target_config=description, topology=target.topology
        )
    return topology.devices[0]


def on(device: Any, tree: Any) -> Any:
    """The shapes of a tree of arrays (or of shapes), placed on a device."""
    sharding = jax.sharding.SingleDeviceSharding(device)

    def place(leaf: Any) -> jax.ShapeDtypeStruct:
        shape = jax.typeof(leaf) if not isinstance(leaf, jax.ShapeDtypeStruct) else leaf
        return jax.ShapeDtypeStruct(shape.shape, shape.dtype, sharding=sharding, weak_type=shape.weak_type)

    return jax.tree.map(place, tree)


@dataclasses.dataclass(frozen=True)
class Compiled:
    """A workload compiled for a chip."""

    target: str
    name: str
    num_envs: int
    memory_bytes: int  # of the chip
    seconds: float = 0.0  # to compile
    program_bytes: int = 0  # arguments, results that do not lie in them, and temporaries
    temporary_bytes: int = 0
    launches: int = 0  # kernels or calls in the body of the step's loop; without one, of the whole program
    gathers: int = 0  # likewise
    waste: float = 1.0  # bytes that arrays made there occupy over the bytes of their elements
    kinds: dict[str, int] = dataclasses.field(default_factory=dict)  # operation -> launches
    state_and_observation: int | None = None  # bytes of an environment
    problem: str | None = None  # why it does not compile

    @property
    def share_of_memory(self) -> float:
        """Of the chip's."""
        return self.program_bytes / self.memory_bytes


def compiled_for(target: Target, name: str, workload: Workload) -> Compiled:
    """Compiles a workload for a chip; a workload that does not fit into its memory gives the reason."""
    place = device(target)
    key = jax.random.key(0)
    params = workload.params()
    carry = jax.eval_shape(workload.start, key, params)
    base = Compiled(target.name, name, workload.num_envs, target.memory_bytes)
    lowered = jax.jit(workload.run, donate_argnums=1).lower(*on(place, (key, carry, params)))
    began = time.perf_counter()
    try:
        program: Any = lowered.compile(compiler_options=OPTIONS[target.platform])
    except jax.errors.JaxRuntimeError as error:
        return dataclasses.replace(base, problem=str(error).splitlines()[0])
    seconds = time.perf_counter() - began
    counts = body_counts(program.as_text(), workload.loop_steps)
    of_one = sizes(workload, carry)
    return dataclasses.replace(
        base,
        seconds=seconds,
        program_bytes=program_bytes(program),
        temporary_bytes=program.memory_analysis().temp_size_in_bytes,
        launches=counts.launches,
        gathers=counts.gathers,
        waste=counts.waste,
        kinds=dict(counts.kinds),
        state_and_observation=of_one and of_one.state + of_one.observation,
    )


def body_counts(text: str, loop_steps: int) -> hlo.Counts:
    """The counts of the body of the loop of so many steps, or without one of the whole program.

    Raises:
        ValueError: where the program has no such loop.
    """
    module = hlo.parse(text)
    name = module.step_body(loop_steps) if loop_steps else module.entry
    if name is None:
        raise ValueError(f"the compiled program has no loop of {loop_steps} steps")
    return hlo.count(module, name)


HEAD = (
    f"{'target':<9}{'program':<36}{'envs':>9}{'GB':>9}{'of memory':>11}{'launches':>10}{'gathers':>9}{'padding':>9}"
    f"{'compile s':>11}"
)


def row(found: Compiled) -> str:
    """A line of the table, under `HEAD`.

    >>> found = Compiled("h100", "LifeOps-v0", 8, 80 * 10**9, 2.5, 8 * 10**9, 0, 30, 2, 1.5)
    >>> for line in (HEAD, row(found)):
    ...     print(line)
    target   program                                  envs       GB  of memory  launches  gathers  padding  compile s
    h100     LifeOps-v0                                  8    8.000      10.0%        30        2     1.50        2.5
    """
    start = f"{found.target:<9}{found.name:<36}{found.num_envs:>9,}"
    if found.problem is not None:
        return f"{start}  does not compile: {found.problem}"
    memory = f"{found.program_bytes / GIGA:>9.3f}{found.share_of_memory:>11.1%}"
    return f"{start}{memory}{found.launches:>10,}{found.gathers:>9}{found.waste:>9.2f}{found.seconds:>11.1f}"


def as_json(found: Sequence[Compiled]) -> list[dict[str, Any]]:
    """The same for a JSON file."""
    return [dataclasses.asdict(each) | {"share_of_memory": each.share_of_memory} for each in found]


LEGEND = """\
GB: memory of the compiled program, of the chip's. launches: kernels or calls in one step of all environments (in a
superstep: in all of it). gathers: likewise; a TPU runs each one serially. padding: bytes that the arrays made in a step
occupy over those of their elements. All are facts of the compiled program; none is a speed."""


def compile_for(
    chips: Positional[str],
    *,
    num_envs: str = "4096",
    only: str = "",
    measure: str = "environments",
    scenarios: str = "library",
    against: str = "jumanji,gymnax",
    steps: int = STEPS,
    num_steps: int | None = None,
    out: Path | None = None,
) -> list[Compiled]:
    """Compile every workload for chips that need not be here, and tell memory, kernels, gathers and padding.

    Args:
        chips: tpu-v5e, tpu-v5p, tpu-v6e, h100, or several with commas (extras `aot-tpu` and `aot-gpu`).
        num_envs: Parallel environments; several sizes with commas.
        only: Compile only programs whose name contains this.
        measure: Any of environments, rollout and training, with commas.
        scenarios: The banks: library, generated, or both with a comma.
        against: The other suites: jumanji, gymnax, or both with a comma.
        steps: Of each environment in one compiled call, of environments and rollout.
        num_steps: Of each environment and update in training; default: the preset's.
        out: A JSON file.
    """
    sizes, kinds = numbers_of_envs(num_envs), listed(measure)
    beside = others(kinds, listed(against), steps)
    builds = select(kinds, listed(scenarios), only=only, steps=steps, num_steps=num_steps, others=beside)
    chosen = [target(name) for name in listed(chips)]
    prepare()
    found: list[Compiled] = []
    print(f"{LEGEND}\n\n{HEAD}", flush=True)
    for chip in chosen:
        for size in sizes:
            for name, build in builds.items():
                found.append(compiled_for(chip, name, build(size)))
                print(row(found[-1]), flush=True)
                if out is not None:
                    document = {"hardware": hardware.describe(), "compiled": as_json(found)}
                    out.write_text(json.dumps(document, indent=1) + "\n")
    return found


def main(argv: Sequence[str]) -> int:
    """Runs the command."""
    return call(compile_for, argv, "python -m lab compile-for")
