"""The types that every environment shares: keys, masks, info, policies and entities.

Axis letters that all share: B batch, N agents, A actions, F features. Each `types.py` names its own.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

StateT = TypeVar("StateT")

Key = jax.Array
"""A typed key of `jax.random.key`, shape []. Legacy `PRNGKey` arrays work as well."""

ActionMask = jax.Array
"""[A] bool, True where the engine accepts the action; all True once the episode is over."""

Info = Mapping[str, Any]
"""The extra outputs of a step.

Always `reward_parts` (a record or dictionary of named float32 terms that sum to the reward) and `invalid_action`
([] bool, [N] for N agents). `success` ([] bool) where an environment can be won, and whatever else it documents
(`ends`, `statistics`). `step` adds `terminated`, `truncated` ([] bool) and `final_observation` (the observation before
the reset).
"""

TurnResult = tuple[StateT, jax.Array, jax.Array, Info]
"""One turn: (next state, reward [] float32 ([N] for N agents), terminated [] bool, info)."""

Policy = Callable[[Key, Any, Any], jax.Array]
"""(key, observation, params) -> action, for one unbatched observation of one agent."""


class StatefulPolicy(Protocol):
    """A policy with memory, such as a rule that counts steps: a pytree, as is its carry.

    >>> import jax, jax.numpy as jnp
    >>> from flax import struct
    >>> from jaxenv import masking
    >>> class AcceptTwice(struct.PyTreeNode):
    ...     def initial_carry(self):
    ...         return jnp.int32(0)
    ...     def act(self, key, observation, params, carry):
    ...         action = jnp.where(carry < 2, 0, masking.sample_uniform(key, observation.action_mask))
    ...         return action, carry + 1
    >>> import jaxenv
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> observation, state = env.reset(jax.random.key(0), params)
    >>> policy = AcceptTwice()
    >>> action, carry = jax.jit(policy.act)(jax.random.key(1), observation, params, policy.initial_carry())
    >>> int(action), int(carry)
    (0, 1)
    """

    def initial_carry(self) -> Any:
        """The carry at the start of an episode."""
        ...

    def act(self, key: Key, observation: Any, params: Any, carry: Any) -> tuple[jax.Array, Any]:
        """(action, carry) for one unbatched observation of one agent."""
        ...


class StatePolicy(Protocol):
    """A policy that sees the true state, including hidden parts: a reference point, not an agent.

    `jaxenv.baselines.Myopic` is an example. It is a pytree, and acts for all agents at once.
    """

    act_on_state: Callable[..., Any]
    """(key, state, params) -> an action for one unbatched state: [] int32, [N] for N agents. Of one that has an
    `initial_carry`, (key, state, params, carry) -> (action, carry)."""


AnyPolicy = Policy | StatefulPolicy | StatePolicy
"""What `jaxenv.evaluate` plays."""


class ActionCatalogue:
    """The base of a catalogue of actions whose table has a row for each index and begins with what it does."""

    table: Any  # [A, columns] int32

    @property
    def size(self) -> int:
        """The number of actions A."""
        return len(self.table)

    def first(self, kind: int) -> int:
        """The index of the first entry of a kind."""
        return int(np.flatnonzero(self.table[:, 0] == kind)[0])


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
    >>> features = ActionTables.of((table,), (np.array([1, 0, -1]),), jnp.array([True, True, True]))
    >>> features.dense().tolist()
    [[3.0, 4.0], [1.0, 2.0], [0.0, 0.0]]
    """

    tables: tuple[jax.Array, ...]  # [n, f] float32 each
    rows: tuple[tuple[int, ...], ...] = struct.field(pytree_node=False)  # of each table, the row of each action or -1
    legal: jax.Array  # [A] bool; the features of an action that is not legal are zeros

    @classmethod
    def of(cls, tables: Sequence[jax.Array], rows: Sequence[np.ndarray], legal: jax.Array) -> "ActionTables":
        """From the row that each action has of each table, [A] whole numbers each; -1 is a row of zeros."""
        return cls(tuple(tables), tuple(tuple(each.tolist()) for each in rows), legal)

    @property
    def width(self) -> int:
        """The number of features of an action."""
        return sum(table.shape[-1] for table in self.tables)

    def dense(self) -> jax.Array:
        """[A, f] float32; leading axes are kept."""
        columns = [
            jnp.append(table, jnp.zeros_like(table[..., :1, :]), axis=-2)[..., np.array(rows), :]
            for table, rows in zip(self.tables, self.rows, strict=True)
        ]
        return jnp.where(self.legal[..., None], jnp.concatenate(columns, axis=-1), 0.0)


class Entities(struct.PyTreeNode):
    """An observation for networks over sets; `Environment.flatten` is the same numbers in one row."""

    context: jax.Array  # [F] float32, features that belong to no entity
    groups: Mapping[str, EntityGroup]  # by name, in alphabetical order
    actions: jax.Array | ActionTables  # [A, f] float32, features of each action, or tables of which they are rows


def dense(actions: jax.Array | ActionTables) -> jax.Array:
    """[A, f] float32, the features of each action; leading axes are kept."""
    return actions.dense() if isinstance(actions, ActionTables) else actions
