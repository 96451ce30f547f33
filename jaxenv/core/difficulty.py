"""The difficulty of generated scenarios: a number from 0 upward, checked in one place."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

Generate = TypeVar("Generate", bound=Callable[..., Any])
MOST = float(np.finfo(np.float32).max)


def with_difficulty(generate: Generate) -> Generate:
    """A method `generate(self, key, difficulty)`; `as_difficulty` checks its difficulty."""

    @functools.wraps(generate)
    def call(self: Any, key: Any, difficulty: Any) -> Any:
        return generate(self, key, as_difficulty(difficulty))

    return cast(Generate, call)


def as_difficulty(difficulty: Any) -> Any:
    """Returns the difficulty unchanged; a traced one cannot raise, so its negative and NaN values become 0.

    >>> from jaxenv.core.difficulty import as_difficulty
    >>> as_difficulty(1.5)
    1.5
    >>> as_difficulty(-0.5)
    Traceback (most recent call last):
    ValueError: difficulty is -0.5, expected a number from 0 to 1, or a finite one above for what training never draws

    Raises:
        ValueError: if it is not traced and is not a number, or is negative, NaN or infinite in float32.
    """
    if isinstance(difficulty, Tracer):
        return jnp.where(difficulty >= 0, difficulty, jnp.zeros_like(difficulty))
    if not _is_difficulty(np.asarray(jax.device_get(difficulty))):
        raise ValueError(
            f"difficulty is {difficulty!r:.100}, expected a number from 0 to 1, or a finite one above for what "
            "training never draws"
        )
    return difficulty


def _is_difficulty(number: np.ndarray) -> bool:
    """Whether an array is a number from 0 to the greatest float32."""
    is_real = jnp.issubdtype(number.dtype, jnp.floating) or number.dtype.kind in "iu"
    return is_real and number.shape == () and bool(0 <= number <= MOST)
