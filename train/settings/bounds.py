"""Bounds of settings: values of the declared types, and numbers that a run can be made with."""

import dataclasses
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from jaxenv.host.names import short

COUNT = (1, 2**30)  # of a whole number without bounds of its own; a program counts in 32 bits
FRACTION = (0.0, 1.0)
GREATEST = 1e30  # of a number that a program computes with in float32, far below where that ends
NOT_NEGATIVE = (0.0, GREATEST)
POSITIVE = (1e-12, GREATEST)

MAX_LAYERS = 64
MAX_BATCH = 2**31 - 1
"""Samples of an update, which are counted in 32 bits."""

BOUNDS: Mapping[str, tuple[float, float]] = {
    "seed": (0, 2**32 - 1),
    "seeds": (1, 65_536),  # each is made on the host
    "devices": (1, 2**20),  # likewise
    "total_steps": (1, 10**13),
    "validate_every": (0, 10**9),
    "checkpoint_every": (0.0, math.inf),  # never before the end
    "difficulty": FRACTION,
    "refresh": (0, 10**9),
    "epsilon_start": FRACTION,
    "epsilon_end": FRACTION,
    "epsilon_fraction": FRACTION,
    "learning_starts": (0, 10**13),
    "action_embedding": (0, 2**16),
    "target_rate": FRACTION,
    "learning_rate": NOT_NEGATIVE,
    "learning_rate_end": NOT_NEGATIVE,
    "max_grad_norm": POSITIVE,
    "gamma": FRACTION,
    "gae_lambda": FRACTION,
    "clip": POSITIVE,
    "clip_end": NOT_NEGATIVE,
    "target_kl": (1e-12, math.inf),  # infinite: all gradient steps are made
    "value_clip": POSITIVE,
    "value_coef": NOT_NEGATIVE,
    "reward_scale": POSITIVE,
    "entropy_coef": NOT_NEGATIVE,
    "entropy_coef_end": NOT_NEGATIVE,
    "replay_share": FRACTION,
    "rank_temperature": (1e-6, 1e6),
    "staleness": FRACTION,
}
"""Setting -> the least and the greatest number, where they are not `COUNT`; so for each entry of a sequence."""


def check_numbers(record: Any) -> None:
    """A ValueError for the first number of a record that is out of its bounds, or NaN; arrays are not looked at."""
    for name, value in _numbers(record):
        low, high = BOUNDS.get(name, COUNT)
        if not low <= value <= high:
            raise ValueError(f"{name} must be within {low:,} to {high:,}, got {short(str(value))}")


def _numbers(record: Any) -> Iterator[tuple[str, float]]:
    """(setting, number) of a record and of its sequences."""
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, int | float) and not isinstance(each, bool):
                yield field.name, each


def check_paths(record: Any) -> None:
    """A ValueError for the first path or name of a record that no file system can have."""
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if isinstance(value, Path | str) and "\0" in str(value):
            raise ValueError(f"{field.name} is {short(repr(str(value)))}: it must not have a NUL character")


def check_type(kind: type, name: str, value: Any) -> None:
    """A ValueError for a value that is not of the type that a record declares for its field `name`."""
    try:
        TypeAdapter(get_type_hints(kind)[name]).validate_python(value, strict=True)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]["msg"]
        raise ValueError(f"{name} is {short(repr(value))}: {problem[0].lower()}{problem[1:]}") from None
