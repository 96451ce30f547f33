"""The memory that compiled programs need and that the device has, and how many members train at once within it."""

import math
import os
from collections.abc import Callable
from typing import Any

import jax


def program_bytes(program: Any) -> int:
    """Memory that a compiled program needs: arguments, results that do not lie in them, and temporaries; exact."""
    memory = program.memory_analysis()
    own = memory.argument_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes
    return own + memory.temp_size_in_bytes


def device_bytes() -> float:
    """The memory of the device that programs may use, on a CPU that of the machine; infinite where it does not tell."""
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
