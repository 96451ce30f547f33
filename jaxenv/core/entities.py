"""An observation as entities with features, for networks over sets."""

from collections.abc import Mapping, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct


class EntityGroup(struct.PyTreeNode):
    """Entities of one kind."""

    features: jax.Array  # [n, f] float32, zeros where there is no entity
    mask: jax.Array  # [n] bool, True where there is an entity


class ActionTables(struct.PyTreeNode):
    """Features of actions that share them: those of an action are its rows of all tables, side by side.

    It represents an array [A, f] with fewer numbers: 118 actions of LifeStack have 31 features each, of 8 routes,
    16 keys and 19 activities. A network that is linear in the features works on the tables alone.

    >>> import jax.numpy as jnp
    >>> import numpy as np
    >>> table = jnp.array([[1.0, 2.0], [3.0, 4.0]])
    >>> features = ActionTables.of((table,), (np.array([1, 0, 1]),), jnp.array([True, True, False]))
    >>> features.dense().tolist()
    [[3.0, 4.0], [1.0, 2.0], [0.0, 0.0]]
    """

    tables: tuple[jax.Array, ...]  # [n, f] float32 each
    rows: tuple[tuple[int, ...], ...] = struct.field(pytree_node=False)  # of each table, the row of each action
    legal: jax.Array  # [A] bool; the features of an action that is not legal are zeros

    @classmethod
    def of(cls, tables: Sequence[jax.Array], rows: Sequence[np.ndarray], legal: jax.Array) -> "ActionTables":
        """From the row that each action has of each table, [A] whole numbers each."""
        return cls(tuple(tables), tuple(tuple(each.tolist()) for each in rows), legal)

    @property
    def width(self) -> int:
        """The number of features of an action."""
        return sum(table.shape[-1] for table in self.tables)

    def dense(self) -> jax.Array:
        """[A, f] float32; leading axes are kept."""
        columns = [table[..., np.array(rows), :] for table, rows in zip(self.tables, self.rows, strict=True)]
        return jnp.where(self.legal[..., None], jnp.concatenate(columns, axis=-1), 0.0)


class Entities(struct.PyTreeNode):
    """An observation for networks over sets; `Environment.flatten` is the same numbers in one row."""

    context: jax.Array  # [F] float32, features that belong to no entity
    groups: Mapping[str, EntityGroup]  # by name, in alphabetical order
    actions: jax.Array | ActionTables  # [A, f] float32, features of each action, or tables of which they are rows


def dense(actions: jax.Array | ActionTables) -> jax.Array:
    """[A, f] float32, the features of each action; leading axes are kept."""
    return actions.dense() if isinstance(actions, ActionTables) else actions
