"""The replay buffer: the last steps of a lane, in arrays of a fixed shape that are overwritten in a circle.

It holds the records that the environment returns; their features are computed where they are used.
"""

from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

from jaxenv.core.types import Key


class Step(struct.PyTreeNode):
    """A stored step of an agent; leading axes [C] in the buffer, [N] as added, [M, N] as sampled."""

    observation: Any  # the record in which the action was taken, its mask included
    action: jax.Array  # [...] int32
    reward: jax.Array  # [...] float32, unscaled
    following: Any  # the record after the step, before any reset
    is_last: jax.Array  # [...] bool, nothing follows


class Buffer(struct.PyTreeNode):
    """Up to C steps."""

    steps: Step
    next: jax.Array  # [] int32, where the next step is written
    size: jax.Array  # [] int32, steps held: those at 0 .. size - 1

    @property
    def capacity(self) -> int:
        """C."""
        return self.steps.action.shape[-1]


def empty(record: Any, capacity: int) -> Buffer:
    """A buffer without steps, for records like this one, of which only shapes and dtypes count.

    >>> buffer = empty(jnp.zeros(2), 4)
    >>> number = jnp.array([7, 8, 9])
    >>> steps = Step(jnp.ones((3, 2)), number, jnp.zeros(3), jnp.ones((3, 2)), jnp.zeros(3, bool))
    >>> add(add(buffer, steps), steps).steps.action
    Array([8, 9, 9, 7], dtype=int32)
    """
    one = Step(observation=record, action=jnp.int32(0), reward=jnp.float32(0), following=record, is_last=jnp.bool_(0))
    steps = jax.tree.map(lambda x: jnp.zeros((capacity, *x.shape), x.dtype), one)
    return Buffer(steps, jnp.int32(0), jnp.int32(0))


def add(buffer: Buffer, steps: Step) -> Buffer:
    """The buffer with N more steps, instead of the oldest where it is full."""
    number = steps.action.shape[0]
    at = _slots(buffer, number)
    written = jax.tree.map(lambda old, new: old.at[at].set(new, unique_indices=True), buffer.steps, steps)
    size = jnp.minimum(buffer.size + number, buffer.capacity)
    return Buffer(written, (buffer.next + number) % buffer.capacity, size)


def add_unless(failed: jax.Array, after: Buffer, before: Buffer, steps: Step, overwritten: Step) -> Buffer:
    """`after`, which is `before` with added steps; or `before` again where `failed` ([] bool).

    Only the rows that were written are chosen, since a choice between two whole buffers would copy both.

    Args:
        failed: whether the steps are taken back.
        after: the buffer with the steps.
        before: the buffer without them, of which only the counters are read.
        steps: [N], the steps.
        overwritten: [N], the earlier contents of their places, see `due`.
    """
    at = _slots(before, steps.action.shape[0])

    def put(whole: jax.Array, old: jax.Array, new: jax.Array) -> jax.Array:
        return whole.at[at].set(jnp.where(failed, old, new), unique_indices=True)

    rows = jax.tree.map(put, after.steps, overwritten, steps)
    return Buffer(rows, jnp.where(failed, before.next, after.next), jnp.where(failed, before.size, after.size))


def due(buffer: Buffer, number: int) -> Step:
    """[N]: the contents of the places where the next N steps are written."""
    at = _slots(buffer, number)
    return jax.tree.map(lambda x: x[at], buffer.steps)


def sample(key: Key, buffer: Buffer, shape: tuple[int, ...]) -> Step:
    """Steps drawn uniformly with replacement from those held, of which there must be one: leading axes `shape`."""
    drawn = jax.random.randint(key, shape, 0, buffer.size)
    return jax.tree.map(lambda x: x[drawn], buffer.steps)


def _slots(buffer: Buffer, number: int) -> jax.Array:
    """[N] int32: where the next N steps are written."""
    return (buffer.next + jnp.arange(number, dtype=jnp.int32)) % buffer.capacity
