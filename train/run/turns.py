"""Which members of a population train at once: all, or as many as fit into the memory of the device, in turns."""

import math
import os
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import jax

from train.settings.config import Config


def turns(config: Config, named: Mapping[str, Config]) -> list[dict[str, Config]]:
    """The members that train at once, turn by turn."""
    size = config.at_once or len(named)
    return [dict(list(named.items())[start : start + size]) for start in range(0, len(named), size)]


def within_memory(config: Config, compiled: Callable[[int], Any], number: int) -> Config:
    """The settings with as many members at once as fit into memory; warns where these are not all.

    Args:
        config: the settings, without `at_once`.
        compiled: number of members -> their compiled superstep.
        number: of all members.
    """
    limit = device_bytes()
    at_once = as_many_as_fit(compiled, number, limit)
    if at_once == number:
        return config
    memory = f"{limit / 1e9:,.1f} GB of memory"
    warnings.warn(f"{number} members do not fit into {memory}: they train in turns, {at_once} at once", stacklevel=3)
    return config.replace(at_once=at_once)


def program_bytes(program: Any) -> int:
    """Memory that a compiled program needs: arguments, results that do not lie in them, and temporaries; exact."""
    memory = program.memory_analysis()
    own = memory.argument_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes
    return own + memory.temp_size_in_bytes


def device_bytes() -> float:
    """The device memory that programs may use, on a CPU the machine's; infinite if the device does not report it."""
    device = jax.devices()[0]
    if device.platform == "cpu":
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return (device.memory_stats() or {}).get("bytes_limit", math.inf)


def as_many_as_fit(compiled: Callable[[int], Any], number: int, limit: float) -> int:
    """How many members train at once: all, or half of them, rounded up, and so on until they fit; at least one.

    Args:
        compiled: number of members -> their compiled program.
        number: of all members.
        limit: bytes that a program may need; of an infinite one nothing is compiled.
    """
    while number > 1 and not _fits(compiled, number, limit):
        number = (number + 1) // 2
    return number


def _fits(compiled: Callable[[int], Any], number: int, limit: float) -> bool:
    """Whether the program of so many members fits; compilers for some devices refuse one that does not."""
    try:
        return limit == math.inf or program_bytes(compiled(number)) <= limit
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        return False
