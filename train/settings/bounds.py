"""Types and bounds of settings: values of the declared types, and numbers that a run can be made with."""

import contextlib
import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

import jax
import numpy as np
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


def settled(record: Any) -> dict[str, Any]:
    """The settings of a record in their types, by name; arrays, as compiled programs have them, stay.

    A value that stands exactly for one of its type becomes it: `1e6` and `np.int64(8)` whole numbers, `"3e-4"` (which
    YAML reads as text) a number, a text a path, a list a tuple.

    >>> from train.settings.groups import Rollout
    >>> Rollout(num_envs=64.0).num_envs
    64

    Raises:
        ValueError: for the first value that stands for none of its type, or number that is NaN or out of its bounds.
    """
    found = {}
    for name, (low, high) in bounds_of(type(record)).items():
        value = getattr(record, name)
        if isinstance(value, jax.Array | np.ndarray):
            continue
        found[name] = value = of_type(type(record), name, value)
        for each in value if isinstance(value, tuple) else (value,):
            is_number = isinstance(each, int | float) and not isinstance(each, bool)
            if is_number and not low <= each <= high:
                raise ValueError(f"{name} must be within {low:,} to {high:,}, got {short(str(each))}")
    return found


def settle(record: Any) -> None:
    """Puts the `settled` values into a frozen record that is being made."""
    for name, value in settled(record).items():
        object.__setattr__(record, name, value)


@functools.cache
def bounds_of(kind: type) -> dict[str, Within]:
    """Setting -> the bounds that stand in its type."""
    return {name: _within(hint) or COUNT for name, hint in get_type_hints(kind, include_extras=True).items()}


def _within(hint: Any) -> Within | None:
    """The bounds within a type, such as `Fraction | None`."""
    if isinstance(hint, Within):
        return hint
    return next(filter(None, map(_within, get_args(hint))), None)


def of_type(kind: type, name: str, value: Any) -> Any:
    """A value as one of the type that a record declares for its field `name`, or an exact form of it."""
    problems = []
    for form in _forms(value):
        try:
            return _adapter(kind, name).validate_python(form, strict=True)
        except ValidationError as error:
            problems.append(error.errors(include_url=False)[0]["msg"])
    raise ValueError(f"{name} is {short(repr(value))}: {problems[0][0].lower()}{problems[0][1:]}")


def local(path: str | Path) -> Path:
    """A path with `~` as the home folder.

    Raises:
        ValueError: for a URL, such as that of a bucket.
    """
    if re.match(r"[A-Za-z][\w+-]+:/", str(path)):
        raise ValueError(f"{path} is a URL, expected a folder: mount the bucket, or copy the run there when it is done")
    return Path(os.path.expanduser(path))


@functools.cache
def _adapter(kind: type, name: str) -> TypeAdapter[Any]:
    return TypeAdapter(get_type_hints(kind)[name])


def _forms(value: Any) -> Iterator[Any]:
    """A value, and the values of other types that it stands for."""
    yield value
    if isinstance(value, list | tuple):
        yield tuple(value)
        yield tuple(list(_forms(each))[-1] for each in value)
    if isinstance(value, np.generic):
        yield from _forms(value.item())
    if isinstance(value, PurePath):
        yield str(value)
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            yield from _forms(float(value))
        yield Path(value)
    if isinstance(value, float) and value.is_integer():
        yield int(value)
