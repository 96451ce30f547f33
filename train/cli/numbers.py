"""Commands whose options are the arguments of a function, and numbers on the command line: 4e6, 4_000_000, 4000000.

The bounds of training are in `train.settings.bounds`.
"""

import contextlib
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tyro
import tyro.constructors as tc

BOUNDS: Mapping[str, tuple[float, float]] = {
    "seed": (0, 2**32 - 1),
    "episodes": (1, 10**9),
    "repetitions": (1, 10**6),
    "at_once": (1, 2**24),
    "agent": (0, 2**16),
    "rounds": (0, 10**6),
    "steps": (1, 2**24),
}
"""Option -> the least and the greatest number, wherever it occurs."""


def call(function: Callable[..., object], argv: Sequence[str], program: str) -> int:
    """Calls a function with arguments from a command line, its docstring as `--help`; the exit status is 0.

    Args:
        function: its parameters are the options.
        argv: the arguments.
        program: its name in `--help`.

    Raises:
        ValueError: for a number out of its bounds.
        SystemExit: for arguments that the function does not take, and after `--help`.
    """
    tyro.cli(checked(function), args=argv, prog=program, registry=REGISTRY)
    return 0


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


REGISTRY = tc.ConstructorRegistry()
"""For `tyro.cli`: how it reads integers."""


def whole_number(text: str) -> int:
    """The integer that a text stands for.

    >>> whole_number("1e6"), whole_number("4_000")
    (1000000, 4000)

    Raises:
        ValueError: if the text is not an integer.
    """
    for read in (int, float):
        with contextlib.suppress(ValueError, OverflowError):
            number = read(text)
            if number == int(number):
                return int(number)
    raise ValueError(f"expected a whole number such as 4000 or 1e6, got {text!r}")


@REGISTRY.primitive_rule
def _integers(type_info: tc.PrimitiveTypeInfo) -> tc.PrimitiveConstructorSpec[Any] | None:
    if type_info.type is not int:
        return None
    return tc.PrimitiveConstructorSpec(
        nargs=1,
        metavar="INT",
        instance_from_str=lambda texts: whole_number(texts[0]),
        is_instance=lambda value: isinstance(value, int),
        str_from_instance=lambda value: [str(value)],
    )
