"""Records as text that fits into a cell of a notebook."""

import dataclasses
from typing import Any

import jax
import numpy as np
from flax import struct
from jax.core import Tracer

from jaxenv.core.bank import ScenarioBank


class Compact(struct.PyTreeNode):
    """A record that prints its arrays by dtype and shape, and single numbers as they are.

    >>> import jax, jaxenv
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> params.bank
    ScenarioBank(12 scenarios, 7,656 bytes)
    >>> env.reset(jax.random.key(0), params, 3)[1]
    State(scenario=3, clock=0, handled=0, calendar=Event(start=int16[32], ...), ..., minutes_left=int32[8])
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Keeps the representation of this class, which a dataclass would replace."""
        super().__init_subclass__(repr=False, **kwargs)

    def __repr__(self) -> str:
        return _text(self)


def _text(value: Any) -> str:
    if isinstance(value, jax.Array | np.ndarray | np.generic):
        is_number = value.ndim == 0 and isinstance(value.dtype, np.dtype) and not isinstance(value, Tracer)
        return str(value) if is_number else f"{value.dtype}{list(value.shape)}"
    if dataclasses.is_dataclass(value) and not isinstance(value, ScenarioBank):
        entries = (f"{each.name}={_text(getattr(value, each.name))}" for each in dataclasses.fields(value))
        return f"{type(value).__name__}({', '.join(entries)})"
    return repr(value)
