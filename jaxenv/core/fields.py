"""Array fields of records, declared once: padding and spaces follow from them, and the tables of the documentation.

A record names its axes by letters and declares the range of each field:

>>> import jax, numpy as np
>>> from flax import struct
>>> from jaxenv.core import fields
>>> class Task(struct.PyTreeNode):
...     minutes: jax.Array = fields.array("T", np.int32, 0, 480, doc="minutes of work")
...     due_days: jax.Array = fields.array("T", np.int16, 0, fill=32767, doc="days from today")
>>> class Day(struct.PyTreeNode):
...     tasks: Task = fields.record(Task, {"T": "tasks"})
...     travel: jax.Array = fields.array("L L", np.int16, 0, 1440, doc="minutes from row to column")
>>> day = fields.padding(Day, {"tasks": 2, "L": 3})
>>> day.tasks.due_days, day.travel.shape
(array([32767, 32767], dtype=int16), (3, 3))
>>> fields.space(Day, {"tasks": 2, "L": 3})["tasks"]["minutes"].high
480
"""

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np
from flax import struct

from jaxenv.core import spaces

Sizes = Mapping[str, int]
"""Axis -> its length, and whatever other sizes bounds depend on."""

Axes = Mapping[str, str]
"""Axis -> its name elsewhere, or its length in digits."""

Bound = float | str | Callable[[Sizes], Any] | None
"""A number, the name of a size, a function of the sizes, or None for the bound of the dtype."""

_DECLARATION = "jaxenv.field"  # the key in the metadata of a dataclass field


@dataclasses.dataclass(frozen=True)
class Array:
    """The declaration of an array field.

    Attributes:
        shape: the axes, by letter or number, separated by blanks; empty for a scalar.
        dtype: of NumPy, or a function of the sizes.
        low: the least value.
        high: the greatest value.
        fill: the value where nothing exists.
        doc: its meaning and unit.
    """

    shape: str
    dtype: Any
    low: Bound
    high: Bound
    fill: float
    doc: str

    def sized(self, sizes: Sizes) -> tuple[tuple[int, ...], np.dtype]:
        """The shape and the dtype."""
        dtype = np.dtype(self.dtype(sizes) if inspect.isfunction(self.dtype) else self.dtype)
        return tuple(_size(axis, sizes) for axis in self.shape.split()), dtype

    def renamed(self, axes: Axes) -> "Array":
        """The same with other names of axes."""
        return dataclasses.replace(self, shape=" ".join(axes.get(axis, axis) for axis in self.shape.split()))

    def lengths(self, array: Any) -> dict[str, int]:
        """Axis -> its length in an array, which may have more axes before these."""
        axes = self.shape.split()
        return dict(zip(axes, np.shape(array)[-len(axes) :], strict=True)) if axes else {}

    def padding(self, sizes: Sizes) -> np.ndarray:
        """An array of `fill`."""
        shape, dtype = self.sized(sizes)
        return np.full(shape, self.fill, dtype)

    def space(self, sizes: Sizes) -> spaces.Box:
        """All arrays within the bounds."""
        shape, dtype = self.sized(sizes)
        least, greatest = _range(dtype)
        return spaces.Box(_bound(self.low, least, sizes), _bound(self.high, greatest, sizes), shape, dtype.type)


@dataclasses.dataclass(frozen=True)
class Nested:
    """The declaration of a field that is a record itself.

    Attributes:
        kind: its class.
        axes: axis of that class -> axis of the record around it, or its length, where they differ; "" drops it.
        changes: field of that class -> arguments of its declaration that differ here.
        doc: its meaning.
    """

    kind: type
    axes: Axes
    changes: Mapping[str, Mapping[str, Any]]
    doc: str

    @property
    def fields(self) -> dict[str, "Array | Nested"]:
        """The declarations of its fields, with the axes as they are called around it."""
        declared = declarations(self.kind)
        changed = {name: dataclasses.replace(declared[name], **change) for name, change in self.changes.items()}
        return {name: each.renamed(self.axes) for name, each in (declared | changed).items()}

    def renamed(self, axes: Axes) -> "Nested":
        """The same with other names of axes."""
        mapped = {ours: axes.get(name, name) for ours, name in self.axes.items()}
        return dataclasses.replace(self, axes={**axes, **mapped})

    def lengths(self, record: Any) -> dict[str, int]:
        """Axis -> its length in the arrays of a record."""
        parts = [each.lengths(getattr(record, name)) for name, each in self.fields.items()]
        return {axis: length for part in parts for axis, length in part.items()}

    def padding(self, sizes: Sizes) -> Any:
        """A record of padding only."""
        return self.kind(**{name: each.padding(sizes) for name, each in self.fields.items()})

    def space(self, sizes: Sizes) -> spaces.Record:
        """The space of each field."""
        return spaces.Record.of(self.kind, {name: each.space(sizes) for name, each in self.fields.items()})


def array(shape: str, dtype: Any, low: Bound = None, high: Bound = None, *, fill: float = 0, doc: str) -> Any:
    """Declares an array field of a `flax.struct` record; see `Array`."""
    return struct.field(metadata={_DECLARATION: Array(shape, dtype, low, high, fill, doc)})


def record(kind: type, axes: Axes | None = None, *, doc: str = "", **changes: Any) -> Any:
    """Declares a field that is a record itself; `start={"fill": 0}` overrides its class. See `Nested`."""
    return struct.field(metadata={_DECLARATION: Nested(kind, axes or {}, changes, doc)})


def last(axis: str) -> Callable[[Sizes], int]:
    """The bound of an index into an axis."""
    return lambda sizes: sizes[axis] - 1


def declarations(kind: type) -> dict[str, Array | Nested]:
    """Field -> declaration of a record, in the order of the fields.

    Raises:
        TypeError: where a field has none.
    """
    return declared_with(_DECLARATION, kind, "fields.array or fields.record")


def declared_with(key: str, kind: type, how: str) -> dict[str, Any]:
    """Field -> its metadata under `key`.

    Raises:
        TypeError: where a field has nothing there; it says `how` to declare it.
    """
    fields = dataclasses.fields(kind)
    undeclared = [field.name for field in fields if key not in field.metadata]
    if undeclared:
        raise TypeError(f"{kind.__name__}: declare {', '.join(undeclared)} with {how}")
    return {field.name: field.metadata[key] for field in fields}


def padding(kind: type, sizes: Sizes) -> Any:
    """A record of padding only, as NumPy arrays: its shapes, dtypes and fill values."""
    return Nested(kind, {}, {}, "").padding(sizes)


def lengths(record: Any) -> dict[str, int]:
    """Axis -> its length in the arrays of a record, or of several stacked along a leading axis."""
    return Nested(type(record), {}, {}, "").lengths(record)


def widened(record: Any) -> Any:
    """A record, or any tree, with its integers as int32: arithmetic needs no casts, and costs a CPU nothing more."""
    return jax.tree.map(lambda leaf: leaf.astype(np.int32) if leaf.dtype.kind in "iu" else leaf, record)


def taken(record: Any, *names: str) -> dict[str, Any]:
    """Some fields by name, to build another record that has them.

    >>> from flax import struct
    >>> from jaxenv.core import fields
    >>> class Task(struct.PyTreeNode):
    ...     minutes: int
    ...     priority: int
    >>> fields.taken(Task(30, 2), "minutes")
    {'minutes': 30}
    """
    return {name: getattr(record, name) for name in names}


def declared(record: Any, sizes: Sizes) -> Any:
    """A record with each field in the dtype that it declares.

    >>> import jax.numpy as jnp, numpy as np
    >>> from flax import struct
    >>> from jaxenv.core import fields
    >>> class Task(struct.PyTreeNode):
    ...     minutes: jax.Array = fields.array("", np.int8, doc="of work")
    >>> fields.declared(fields.widened(Task(jnp.int8(5))), {}).minutes.dtype
    dtype('int8')
    """
    found = {}
    for name, each in declarations(type(record)).items():
        value = getattr(record, name)
        found[name] = declared(value, sizes) if isinstance(each, Nested) else value.astype(each.sized(sizes)[1])
    return record.replace(**found)


def space(kind: type, sizes: Sizes) -> spaces.Record:
    """The space of a record: each field within its bounds."""
    return Nested(kind, {}, {}, "").space(sizes)


def _size(axis: str, sizes: Sizes) -> int:
    """The length of an axis, given by name or in digits."""
    if axis.isdecimal():
        return int(axis)
    if axis not in sizes:
        raise ValueError(f"no size {axis!r} among {', '.join(sizes)}: add it to `sizes`, or map it in fields.record")
    return sizes[axis]


def _bound(bound: Bound, default: float, sizes: Sizes) -> Any:
    if bound is None:
        return default
    if isinstance(bound, str):
        return _size(bound, sizes)
    return bound(sizes) if callable(bound) else bound


def _range(dtype: np.dtype) -> tuple[Any, Any]:
    """The least and the greatest finite value of a dtype."""
    if np.issubdtype(dtype, np.bool_):
        return 0, 1
    limits = np.finfo(dtype) if np.issubdtype(dtype, np.floating) else np.iinfo(dtype)
    return dtype.type(limits.min), dtype.type(limits.max)  # typed: 32 bits do not fit a Python int
