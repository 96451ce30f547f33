"""Small edits of scenarios: a table of named ones, of which a draw makes one where it can be made."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxenv.core.environment import select
from jaxenv.core.numbers import as_integer
from jaxenv.core.types import Key

NUMBERS = 4  # uniform numbers in [0, 1) that an edit may use


class Edit(NamedTuple):
    """A change of a scenario at one of several places, such as its events; a single place where it has no such parts.

    Both functions are pure. An edit keeps whatever holds for scenarios, and changes something in nearly every draw.
    """

    where: Callable[[Any], jax.Array]  # scenario -> [n] bool, the places at which it can be made
    make: Callable[[Any, jax.Array, jax.Array], Any]  # (scenario, place [] int32, u [NUMBERS]) -> scenario


def edited(key: Key, scenario: Any, edits: Mapping[str, Edit]) -> Any:
    """The scenario after one edit, drawn uniformly among those that can be made somewhere, at a place drawn likewise.

    Where none can be made, the scenario stays as it is. Under `jax.vmap` every edit is computed and one is kept.

    >>> import jax, jax.numpy as jnp
    >>> from jaxenv.core.edits import Edit, edited
    >>> doubled = Edit(where=lambda row: row > 0, make=lambda row, place, u: row.at[place].multiply(2))
    >>> edited(jax.random.key(0), jnp.array([0, 3, 0]), {"doubled": doubled}).tolist()
    [0, 6, 0]

    Args:
        key: consumed.
        scenario: a record of one scenario.
        edits: name -> edit.
    """
    uniform = jax.random.uniform(key, (2 + NUMBERS,), jnp.float32)
    places = [edit.where(scenario) for edit in edits.values()]
    can_be_made = jnp.stack([jnp.any(mask) for mask in places])

    def branch(edit: Edit, mask: jax.Array) -> Callable[[Any, jax.Array], Any]:
        return lambda scenario, u: edit.make(scenario, among(mask, u[1]), u[2:])

    branches = [branch(*pair) for pair in zip(edits.values(), places, strict=True)]
    changed = lax.switch(among(can_be_made, uniform[0]), branches, scenario, uniform)
    return select(jnp.any(can_be_made), changed, scenario)


def first_slots(count: jax.Array, size: int) -> jax.Array:
    """[size] bool: the first `count` ([], an integer) slots of a table.

    >>> import jax.numpy as jnp
    >>> from jaxenv.core.edits import first_slots
    >>> first_slots(jnp.int8(2), 3).tolist()
    [True, True, False]
    """
    return count.astype(jnp.int32) > np.arange(size, dtype=np.int32)


def among(mask: jax.Array, u: jax.Array) -> jax.Array:
    """[] int32: an entry drawn uniformly among the True ones of `mask` ([n] bool) by `u` ([] in [0, 1)); 0 if none is.

    >>> import jax.numpy as jnp
    >>> from jaxenv.core.edits import among
    >>> int(among(jnp.array([False, True, False, True]), jnp.float32(0.7)))
    3
    """
    ranks = jnp.cumsum(mask, dtype=jnp.int32)
    drawn = as_integer(u, 0, jnp.maximum(ranks[-1] - 1, 0))
    return jnp.argmax(ranks > drawn).astype(jnp.int32)


def other(table: Any, value: jax.Array, u: jax.Array) -> jax.Array:
    """[] int32: an entry of a table of integers ([n]) that is not `value` ([]), drawn by `u` ([] in [0, 1)).

    >>> import jax.numpy as jnp
    >>> from jaxenv.core.edits import other
    >>> int(other((15, 30, 60), jnp.int32(30), jnp.float32(0.5)))
    60
    """
    entries = np.asarray(table, np.int32)
    return jnp.asarray(entries)[among(entries != value.astype(jnp.int32), u)]


def put(table: jax.Array, place: Any, value: Any) -> jax.Array:
    """The table with a value at a place, in its own dtype.

    >>> import jax.numpy as jnp
    >>> from jaxenv.core.edits import put
    >>> put(jnp.zeros(3, jnp.int8), 1, jnp.int32(5)).tolist()
    [0, 5, 0]
    """
    table = jnp.asarray(table)
    return table.at[place].set(jnp.asarray(value).astype(table.dtype))


def without_row(table: jax.Array, row: jax.Array, padding: Any) -> jax.Array:
    """The table ([n, ...]) without a row ([] int32), and with padding at its end.

    >>> import jax.numpy as jnp
    >>> from jaxenv.core.edits import without_row
    >>> without_row(jnp.array([1, 7, 2]), jnp.int32(1), 0).tolist()
    [1, 2, 0]
    """
    index = np.arange(table.shape[0], dtype=np.int32)
    from_there = jnp.expand_dims(index >= row.astype(jnp.int32), tuple(range(1, table.ndim)))
    return put(jnp.where(from_there, jnp.roll(table, -1, axis=0), table), -1, padding)
