"""Several processes that train one run together: who writes, joint decisions, and devices.

Each process runs the same program. JAX finds the others on a TPU pod, under SLURM, Open MPI and Kubernetes; elsewhere
the variables JAX_COORDINATOR_ADDRESS (HOST:PORT of the first process), JAX_NUM_PROCESSES and JAX_PROCESS_ID name them.
"""

import dataclasses
import math
import os
import re
import socket
import sys
import threading
from typing import Any

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import AxisType

from jaxenv.host.companions import command
from jaxenv.host.names import short
from train.lanes import DEVICE, Lanes
from train.settings.config import Config

HEARTBEAT = 60  # seconds without a sign of life after which a process counts as dead, and JAX ends the others
MAX_WAIT = 86_400  # seconds for the others
ADDRESS, NUMBER, OWN = "JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID"


def join(seconds: int) -> None:
    """Joins the other processes; to be called before any use of JAX's devices.

    Where not all of them are there in time, it ends the process with a sentence and status 2: from within JAX's call
    there is no way back, and JAX itself would abort.

    Args:
        seconds: to wait for the others.

    Raises:
        ValueError: if a variable is not what it should be, or no others are named.
        OSError: if the port of the first process, where this is the one, is taken.
    """
    if not 1 <= seconds <= MAX_WAIT:
        raise ValueError(f"--join-timeout must be within 1 to {MAX_WAIT:,} seconds, got {seconds}")
    named = {**_named(), "initialization_timeout": seconds + HEARTBEAT}
    late = threading.Timer(seconds, _give_up, (seconds,))
    late.start()
    try:
        jax.distributed.initialize(**named, heartbeat_timeout_seconds=HEARTBEAT)
    except ValueError as error:
        raise ValueError(
            f"--distributed finds no other processes: no cluster that JAX knows, and {ADDRESS}, "
            f"{NUMBER} and {OWN} are not all set ({error})"
        ) from error
    finally:
        late.cancel()


def _named() -> Any:
    """What the variables say of the processes, for JAX, which reads the address itself."""
    address, number, own = map(os.environ.get, (ADDRESS, NUMBER, OWN))
    place = re.fullmatch(r".+:(\d{1,5})", address or "")
    if address is not None and (place is None or not 0 < int(place[1]) < 2**16):
        raise ValueError(f"{ADDRESS}={short(address)}: expected HOST:PORT of the first process, such as 10.0.0.1:1234")
    for name, text in ((NUMBER, number), (OWN, own)):
        if text is not None and not re.fullmatch(r"\d{1,6}", text):
            raise ValueError(f"{name}={short(text)}: expected a whole number")
    if number is None or own is None:
        return {}
    if int(own) >= int(number):
        raise ValueError(f"{OWN}={own}: expected 0 to {NUMBER} - 1, and {NUMBER}={number}")
    if place and int(own) == 0 and "JAX_COORDINATOR_BIND_ADDRESS" not in os.environ:
        socket.create_server(("", int(place[1]))).close()  # or JAX 0.10 ends in a segmentation fault
    return {"num_processes": int(number), "process_id": int(own)}


def _give_up(seconds: int) -> None:
    """Ends the process, in whatever thread."""
    where = f" at {ADDRESS}={short(os.environ[ADDRESS])}" if ADDRESS in os.environ else ""
    problem = f"--distributed: the processes did not meet{where} within {seconds} s; see that all are started, and that"
    print(f"{command('train')}: {problem} they reach it; --join-timeout waits longer", file=sys.stderr, flush=True)
    os._exit(2)


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
    if lanes is None:
        lanes = wanted if config.devices is not None else _most_lanes(config, wanted)
        config = dataclasses.replace(config, rollout=dataclasses.replace(config.rollout, lanes=lanes))
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
    sequences = sizes.samples_at_once // (1 if config.network.core == "none" else sizes.num_steps)
    shared = math.gcd(sizes.num_envs, sizes.samples_per_step, sequences, scenarios)
    return _greatest_divisor(shared, devices)


def _greatest_divisor(number: int, limit: int) -> int:
    """The greatest number up to a limit that divides another."""
    return max(count for count in range(1, limit + 1) if number % count == 0)
