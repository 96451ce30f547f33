"""What the numbers of the commands that do not train may be; those of training are in `train.settings.bounds`."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

BOUNDS: Mapping[str, tuple[float, float]] = {
    "seed": (0, 2**32 - 1),
    "episodes": (1, 10**9),
    "repetitions": (1, 10**6),
    "at_once": (1, 2**24),
    "agent": (0, 2**16),
    "rounds": (0, 10**6),
    "steps": (1, 2**24),
    "minutes": (0, 10**6),
    "bandwidth_bytes": (1, 2**50),
}
"""Option -> the least and the greatest number, wherever it occurs."""


def checked(function: Callable[..., object]) -> Callable[..., object]:
    """The same command, which a number out of its bounds does not reach.

    >>> checked(lambda seed=0: seed)(seed=2**64)
    Traceback (most recent call last):
    ValueError: --seed 18446744073709551616: expected 0 to 4,294,967,295
    """

    @functools.wraps(function)
    def command(*args: Any, **kwargs: Any) -> object:
        for name, value in inspect.signature(function).bind(*args, **kwargs).arguments.items():
            low, high = BOUNDS.get(name, (None, None))
            if low is not None and high is not None and not low <= value <= high:
                raise ValueError(f"--{name.replace('_', '-')} {value}: expected {low:,} to {high:,}")
        return function(*args, **kwargs)

    return command
