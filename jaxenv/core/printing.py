"""Records as notebooks use them: as text that fits into a cell, and with an error that tells where a field is."""

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
        """Keeps what this class defines, which a dataclass of Flax would replace."""
        super().__init_subclass__(repr=False, **kwargs)
        cls.replace = _replace

    def __repr__(self) -> str:
        return _text(self)


def _replace(self: Compact, **changes: Any) -> Any:
    """A copy with some fields changed.

    >>> import jaxenv
    >>> _, params = jaxenv.make("LifeOps-v0")
    >>> params.replace(overlap_penalty=-1.0)
    Traceback (most recent call last):
    TypeError: Params has no field 'overlap_penalty'; weights has it: params.weights.replace(overlap_penalty=...)

    Raises:
        TypeError: for a name that is no field, with the field whose record has one of that name.
    """
    fields = [field.name for field in dataclasses.fields(self)]
    for name in (name for name in changes if name not in fields):
        inner = (each for each in fields if name in getattr(getattr(self, each), "__dataclass_fields__", ()))
        place = next((f"; {each} has it: params.{each}.replace({name}=...)" for each in inner), "")
        raise TypeError(f"{type(self).__name__} has no field {name!r}{place}")
    return dataclasses.replace(self, **changes)


def _text(value: Any) -> str:
    if isinstance(value, jax.Array | np.ndarray | np.generic):
        is_number = value.ndim == 0 and isinstance(value.dtype, np.dtype) and not isinstance(value, Tracer)
        return str(value) if is_number else f"{value.dtype}{list(value.shape)}"
    if dataclasses.is_dataclass(value) and not isinstance(value, ScenarioBank):
        entries = (f"{each.name}={_text(getattr(value, each.name))}" for each in dataclasses.fields(value))
        return f"{type(value).__name__}({', '.join(entries)})"
    return repr(value)
