"""Records as notebooks use them: as text that fits into a cell, with an error that tells where a field is, and with
numbers that keep their dtype.
"""

import contextlib
import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
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
    """A copy with some fields changed; a Python number takes the dtype of the array in its place.

    >>> import jaxenv
    >>> _, params = jaxenv.make("LifeOps-v0")
    >>> params.replace(overlap_penalty=-1.0)
    Traceback (most recent call last):
    TypeError: Params has no field 'overlap_penalty'; weights has it: params.weights.replace(overlap_penalty=...)

    Raises:
        TypeError: for a name that is no field, with the field whose record has one of that name.
    """
    kind, fields = type(self).__name__, [field.name for field in dataclasses.fields(self)]
    for name in (name for name in changes if name not in fields):
        inner = (each for each in fields if name in getattr(getattr(self, each), "__dataclass_fields__", ()))
        place = next((f"; {each} has it: {kind.lower()}.{each}.replace({name}=...)" for each in inner), "")
        raise TypeError(f"{kind} has no field {name!r}{place}")
    return dataclasses.replace(self, **{name: _like(getattr(self, name), value) for name, value in changes.items()})


def _like(before: Any, value: Any) -> Any:
    """A Python number as an array of the dtype that it replaces, or a compiled function would compile anew for it."""
    if type(value) not in (int, float) or not isinstance(before, jax.Array | np.ndarray):
        return value
    with contextlib.suppress(OverflowError), np.errstate(all="ignore"):
        number = np.asarray(value).astype(before.dtype)
        if number == value:
            return jnp.asarray(number)
    return value  # what the dtype cannot hold, for `validate` to refuse


def _text(value: Any) -> str:
    if isinstance(value, jax.Array | np.ndarray | np.generic):
        is_number = value.ndim == 0 and isinstance(value.dtype, np.dtype) and not isinstance(value, Tracer)
        return str(value) if is_number else f"{value.dtype}{list(value.shape)}"
    if dataclasses.is_dataclass(value) and not isinstance(value, ScenarioBank):
        entries = (f"{each.name}={_text(getattr(value, each.name))}" for each in dataclasses.fields(value))
        return f"{type(value).__name__}({', '.join(entries)})"
    return repr(value)
