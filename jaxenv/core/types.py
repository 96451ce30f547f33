"""The types that every environment shares: keys, masks, info and policies.

Axis letters that all share: B batch, N agents, A actions, F features. Each `types.py` names its own.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import jax

Key = jax.Array
"""A typed key of `jax.random.key`, shape []. Legacy `PRNGKey` arrays work as well."""

ActionMask = jax.Array
"""[A] bool, True where the engine accepts the action; all True once the episode is over."""

Info = Mapping[str, Any]
"""The extra outputs of a step.

Always `reward_parts` (a record of named float32 terms that sum to the reward) and `invalid_action` ([] bool, [N] for N
agents). `success` ([] bool) where an environment can be won, and whatever else it documents (`ends`, `statistics`).
`step` adds `terminated`, `truncated` ([] bool) and `final_observation` (the observation before the reset).
"""

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

    def act_on_state(self, key: Key, state: Any, params: Any) -> jax.Array:
        """An action for one unbatched state: [] int32, [N] for N agents."""
        ...
