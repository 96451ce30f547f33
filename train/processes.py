"""Several processes that train one run together: who writes, joint decisions, and devices.

Each process runs the same program. JAX finds the others on a TPU pod, under SLURM, Open MPI and Kubernetes; elsewhere
the variables JAX_COORDINATOR_ADDRESS (HOST:PORT of the first process), JAX_NUM_PROCESSES and JAX_PROCESS_ID name them.
"""

import dataclasses
import math
import os
from typing import Any

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import AxisType

from train.lanes import DEVICE, Lanes
from train.settings.config import Config


def join() -> None:
    """Joins the other processes; to be called before any use of JAX's devices.

    Raises:
        ValueError: if the others cannot be found.
    """
    number, own = os.environ.get("JAX_NUM_PROCESSES"), os.environ.get("JAX_PROCESS_ID")
    named: Any = {} if number is None or own is None else {"num_processes": int(number), "process_id": int(own)}
    try:
        jax.distributed.initialize(**named)
    except ValueError as error:
        raise ValueError(
            "--distributed finds no other processes: no cluster that JAX knows, and JAX_COORDINATOR_ADDRESS, "
            f"JAX_NUM_PROCESSES and JAX_PROCESS_ID are not all set ({error})"
        ) from error


def is_writer() -> bool:
    """Whether this process writes the files that one process writes for all."""
    return jax.process_index() == 0


def any_of(*flags: bool) -> tuple[bool, ...]:
    """Each flag, True where it is True in any process; all processes must ask."""
    if jax.process_count() == 1:
        return flags
    return tuple(bool(flag) for flag in multihost_utils.process_allgather(np.array(flags)).any(axis=0))


def merged(part: np.ndarray) -> np.ndarray:
    """An array of which each process has filled a part and left the rest 0; all processes must ask."""
    return part if jax.process_count() == 1 else multihost_utils.process_allgather(part).max(axis=0)


def wait_for_all(what: str) -> None:
    """Returns when all processes have come to the same point, which has a name."""
    if jax.process_count() > 1:
        multihost_utils.sync_global_devices(what)


def place(config: Config) -> tuple[Config, Lanes]:
    """The settings with their number of lanes, and the devices that the lanes lie on.

    By default as many lanes as devices, or as many of them as the sizes can be split into; a given number of lanes lies
    on the greatest number of devices that divides it, if that is not given too.

    Raises:
        ValueError: if there are not so many devices, if the sizes cannot be split, if the given devices do not divide
            the given lanes, or if a process would have none.
    """
    devices, lanes = jax.devices(), config.rollout.lanes
    if lanes is not None and config.devices is not None and lanes % config.devices:
        raise ValueError(
            f"--devices {config.devices}: {lanes} lanes cannot be shared equally by {config.devices} devices; choose "
            f"--devices {_greatest_divisor(lanes, config.devices)}, or a number of lanes that {config.devices} divides"
        )
    wanted = len(devices) if config.devices is None else config.devices
    if wanted > len(devices):
        raise ValueError(f"--devices {wanted}: there are {len(devices)} ({devices[0].platform})")
    if config.rollout.lanes is None:
        lanes = wanted if config.devices is not None else _most_lanes(config, wanted)
        config = dataclasses.replace(config, rollout=dataclasses.replace(config.rollout, lanes=lanes))
    lanes = config.rollout.num_lanes
    number = _greatest_divisor(lanes, wanted)
    if number == 1 and jax.process_count() == 1:
        return config, Lanes(lanes)
    if jax.process_count() > 1 and number < len(devices):
        raise ValueError(f"{lanes} lanes do not lie on all {len(devices)} devices of {jax.process_count()} processes")
    mesh = jax.make_mesh((number,), (DEVICE,), (AxisType.Auto,), devices=devices[:number])
    return config, Lanes(lanes // number, mesh)


def in_words(config: Config, lanes: Lanes) -> str:
    """Where a run trains: `4 devices (gpu), 8 lanes`."""
    number = 1 if lanes.mesh is None else lanes.mesh.size
    devices = f"{number} device{'s' if number > 1 else ''} ({jax.devices()[0].platform})"
    count = config.rollout.num_lanes
    processes = f" of {jax.process_count()} processes" if jax.process_count() > 1 else ""
    return f"{devices}{processes}, {count} lane{'s' if count > 1 else ''}"


def _most_lanes(config: Config, devices: int) -> int:
    """The greatest number up to `devices` that splits all that lanes share out."""
    sizes = config.rollout
    scenarios = config.num_scenarios if config.is_generated else 0
    shared = math.gcd(sizes.num_envs, sizes.samples_per_step, sizes.samples_at_once, scenarios)
    return _greatest_divisor(shared, devices)


def _greatest_divisor(number: int, limit: int) -> int:
    """The greatest number up to a limit that divides another."""
    return max(count for count in range(1, limit + 1) if number % count == 0)
