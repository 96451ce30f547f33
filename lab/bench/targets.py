"""Chips to compile for that need not be there: XLA's compilers for them run on any machine."""

import dataclasses
import functools
import importlib.util
import os
from pathlib import Path
from typing import Any

import jax

from jaxenv.host.names import did_you_mean_one_of

GIBI = 2**30


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
        raise ValueError(f"{name} needs a compiler that is not installed: pip install 'jaxenv[train,{found.extra}]'")
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
