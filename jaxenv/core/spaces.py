"""Spaces: the values that an action, an observation or a state may take, with jittable `sample` and `contains`."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core import masking
from jaxenv.core.types import ActionMask, Key


class Space(Protocol):
    """A set of values of one shape (or one tree of shapes)."""

    def sample(self, key: Key) -> Any:
        """Draws uniformly."""
        ...

    def contains(self, value: Any) -> jax.Array:
        """[] bool: shape and dtype match (checked while tracing) and every number is within its bounds."""
        ...


@dataclasses.dataclass(frozen=True)
class Discrete:
    """The integers 0 .. n − 1, as int32 scalars.

    >>> import jax.numpy as jnp
    >>> from jaxenv import spaces
    >>> bool(spaces.Discrete(5).contains(jnp.int32(4))), bool(spaces.Discrete(5).contains(jnp.int32(5)))
    (True, False)
    """

    n: int  # how many

    shape = ()
    dtype = jnp.int32

    def sample(self, key: Key, mask: ActionMask | None = None) -> jax.Array:
        """Draws uniformly, among the True entries of `mask` ([n] bool) if one is given."""
        if mask is None:
            return jax.random.randint(key, (), 0, self.n, dtype=jnp.int32)
        return masking.sample_uniform(key, mask)

    def contains(self, value: jax.Array) -> jax.Array:
        """[] bool: a scalar integer within 0 .. n − 1."""
        value = jnp.asarray(value)
        if value.shape != () or not jnp.issubdtype(value.dtype, jnp.integer):
            return jnp.bool_(False)
        return (value >= 0) & (value < self.n)


@dataclasses.dataclass(frozen=True)
class Box:
    """Arrays of one shape and dtype with numbers in [low, high]; bool arrays are a Box of dtype bool.

    >>> import jax.numpy as jnp
    >>> from jaxenv import spaces
    >>> bool(spaces.Box(0, 1, (2,)).contains(jnp.array([0.0, 1.5])))
    False
    """

    low: float  # the least number
    high: float  # the greatest number, itself included
    shape: tuple[int, ...]  # of the array
    dtype: Any = jnp.float32  # of its numbers

    def sample(self, key: Key) -> jax.Array:
        """Draws uniformly, integer bounds included; from a standard normal where floats have no real bounds."""
        dtype = jnp.dtype(self.dtype)
        if dtype == jnp.bool_:
            return jax.random.bernoulli(key, np.float32(0.5), self.shape)
        if jnp.issubdtype(dtype, jnp.integer):
            return self._sample_integers(key).astype(dtype)
        if float(self.high) - float(self.low) <= float(jnp.finfo(dtype).max):
            return jax.random.uniform(key, self.shape, dtype, self.low, self.high)
        return jnp.clip(jax.random.normal(key, self.shape, dtype), self.low, self.high)

    def _sample_integers(self, key: Key) -> jax.Array:
        """Uniform int32 numbers, or uint32 where the bounds need them."""
        low, high = int(self.low), int(self.high)
        if high < 2**31 - 1:
            return jax.random.randint(key, self.shape, low, high + 1, dtype=jnp.int32)
        bits = jax.random.bits(key, self.shape, jnp.uint32)
        return jnp.uint32(low % 2**32) + (bits if high - low == 2**32 - 1 else bits % jnp.uint32(high - low + 1))

    def contains(self, value: jax.Array) -> jax.Array:
        """[] bool: this shape, this dtype, all numbers finite and in [low, high]."""
        value = jnp.asarray(value)
        if value.shape != self.shape or value.dtype != jnp.dtype(self.dtype):
            return jnp.bool_(False)
        if value.dtype == jnp.bool_:
            return jnp.bool_(True)
        return jnp.all((value >= self.low) & (value <= self.high) & jnp.isfinite(value))


@dataclasses.dataclass(frozen=True)
class Record:
    """A record (a `flax.struct.dataclass`) with a space for each field, in the order of the fields.

    >>> import jax, jaxenv
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> observation, state = env.reset(jax.random.key(0), params)
    >>> space = env.observation_space(params)
    >>> space["action_mask"].shape, bool(jax.jit(space.contains)(observation))
    ((16,), True)
    """

    cls: type  # the class of the record
    fields: tuple[tuple[str, Space], ...]  # (name, space) of each of its fields

    @classmethod
    def of(cls, record: type, fields: Mapping[str, Space]) -> "Record":
        """The space of `record`, of which `fields` has a space for each field."""
        return cls(record, tuple((field.name, fields[field.name]) for field in dataclasses.fields(record)))

    def __getitem__(self, name: str) -> Space:
        """The space of one field."""
        return dict(self.fields)[name]

    def stacked(self, size: int) -> "Record":
        """The space of `size` such records stacked: every box has a leading axis."""

        def stack(space: Any) -> Space:
            is_record = isinstance(space, Record)
            return space.stacked(size) if is_record else dataclasses.replace(space, shape=(size, *space.shape))

        return Record(self.cls, tuple((name, stack(space)) for name, space in self.fields))

    def sample(self, key: Key) -> Any:
        """A record of independent uniform draws."""
        keys = jax.random.split(key, len(self.fields))
        return self.cls(**{name: space.sample(k) for (name, space), k in zip(self.fields, keys, strict=True)})

    def contains(self, value: Any) -> jax.Array:
        """[] bool: a record of this class whose every field lies in its space."""
        if not isinstance(value, self.cls):
            return jnp.bool_(False)
        inside = [space.contains(getattr(value, name)) for name, space in self.fields]
        return jnp.stack(inside).all()


def leaves(name: str, space: Any, value: Any) -> Iterator[tuple[str, Any, Any]]:
    """(dotted name, space, value) of every field of a record, as deep as they go; of anything else of itself."""
    if not isinstance(space, Record) or not isinstance(value, space.cls):
        yield name, space, value
        return
    for field, inner in space.fields:
        yield from leaves(f"{name}.{field}".lstrip("."), inner, getattr(value, field))
