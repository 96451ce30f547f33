"""The vocabulary of the suite: what a key, a mask, an info record and a policy are.

Axis letters used in every shape comment: B batch, N agents, A actions, E events, Q requests, T tasks, L places,
K facts, R routes, V verbs, M milestones, X exogenous events, C channels, U users, F features.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import jax
from flax import struct

Key = jax.Array
"""A typed key of `jax.random.key`, shape []. Legacy `PRNGKey` arrays work as well."""

ActionMask = jax.Array
"""[A] bool, True where the engine accepts the action; all True once the episode is over."""

Info = Mapping[str, Any]
"""What a step tells beside its results.

`reward_parts` (a record of named float32 terms that sum to the reward) and `invalid_action` ([] bool, [N] for N
agents) always; `success` ([] bool) where an environment can be won;
`step` adds `terminated`, `truncated` ([] bool) and `final_observation` (the observation before the reset).
"""

Policy = Callable[[Key, Any, Any], jax.Array]
"""(key, observation, params) -> action, for one unbatched observation of one agent."""


class StatefulPolicy(Protocol):
    """A policy that remembers, such as a rule that counts steps: a pytree, and so is what it carries."""

    def initial_carry(self) -> Any:
        """What it carries into an episode."""
        ...

    def act(self, key: Key, observation: Any, params: Any, carry: Any) -> tuple[jax.Array, Any]:
        """(action, carry) for one unbatched observation of one agent."""
        ...


class EntityGroup(struct.PyTreeNode):
    """Entities of one kind."""

    features: jax.Array  # [n, f] float32, zeros where there is no entity
    mask: jax.Array  # [n] bool, which exist


class Entities(struct.PyTreeNode):
    """An observation as networks over sets take it; `Environment.flatten` is the same numbers in one row."""

    context: jax.Array  # [F] float32, what belongs to no entity
    groups: Mapping[str, EntityGroup]  # by name, in alphabetical order
    actions: jax.Array  # [A, f] float32, what is known of each action
