"""Bounds of settings: values of the declared types, and numbers that a run can be made with."""

import functools
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

from pydantic import TypeAdapter, ValidationError

from jaxenv.host.names import short


class Within(NamedTuple):
    """The least and the greatest number of a setting, beside its type; so for each entry of a sequence."""

    low: float
    high: float


COUNT = Within(1, 2**30)  # of a number without bounds of its own; a program counts in 32 bits
GREATEST = 1e30  # of a number that a program computes with in float32, far below where that ends

Fraction = Annotated[float, Within(0.0, 1.0)]
NotNegative = Annotated[float, Within(0.0, GREATEST)]
Positive = Annotated[float, Within(1e-12, GREATEST)]
Interval = Annotated[int, Within(0, 10**9)]  # 0: never
Steps = Annotated[int, Within(1, 10**13)]

MAX_BATCH = 2**31 - 1
"""Samples of an update, which are counted in 32 bits."""


def check_numbers(record: Any) -> None:
    """A ValueError for the first number of a record that is out of its bounds, or NaN; arrays are not looked at."""
    for name, (low, high) in bounds_of(type(record)).items():
        value = getattr(record, name)
        for each in value if isinstance(value, tuple) else (value,):
            is_number = isinstance(each, int | float) and not isinstance(each, bool)
            if is_number and not low <= each <= high:
                raise ValueError(f"{name} must be within {low:,} to {high:,}, got {short(str(each))}")


@functools.cache
def bounds_of(kind: type) -> dict[str, Within]:
    """Setting -> the bounds that stand in its type."""
    return {name: _within(hint) or COUNT for name, hint in get_type_hints(kind, include_extras=True).items()}


def _within(hint: Any) -> Within | None:
    """The bounds within a type, such as `Fraction | None`."""
    if isinstance(hint, Within):
        return hint
    return next(filter(None, map(_within, get_args(hint))), None)


def check_type(kind: type, name: str, value: Any) -> None:
    """A ValueError for a value that is not of the type that a record declares for its field `name`."""
    try:
        TypeAdapter(get_type_hints(kind)[name]).validate_python(value, strict=True)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]["msg"]
        raise ValueError(f"{name} is {short(repr(value))}: {problem[0].lower()}{problem[1:]}") from None
