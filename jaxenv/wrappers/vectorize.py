"""Many episodes side by side, with the signatures of one."""

import dataclasses
from typing import Any

import jax

from jaxenv.core import Environment
from jaxenv.core.types import Info, Key
from jaxenv.host.arguments import as_index, jit_method
from jaxenv.lowering import draws


@dataclasses.dataclass(frozen=True)
class Vectorize:
    """`reset` and `step` over a leading axis [B] of states, actions and results; params are shared.

    The key is split into B, so a batch has the same bits as B calls with those keys.

    >>> import jax, jaxenv
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> many = jaxenv.wrappers.Vectorize(env, 4)
    >>> observation, state = many.reset(jax.random.key(0), params)
    >>> observation.action_mask.shape, state.scenario.shape
    ((4, 16), (4,))

    Attributes:
        env: the environment, wrapped or not.
        num_envs: B.
    """

    env: Environment
    num_envs: int

    def __post_init__(self) -> None:
        """Rejects an empty batch."""
        if self.num_envs < 1:
            raise ValueError(f"Vectorize(num_envs={self.num_envs}): expected at least 1")

    @jit_method
    def reset(self, key: Key, params: Any = None, scenario: jax.Array | None = None) -> tuple[Any, Any]:
        """Starts B episodes, of the given scenarios ([B] int32) or of scenarios drawn at random."""
        params = self.env.default_params if params is None else params
        if scenario is not None:
            scenario = as_index("scenario", scenario, (self.num_envs,), self.env.name)
        keys = draws.split(key, self.num_envs)
        scenario_axis = None if scenario is None else 0
        return jax.vmap(self.env.reset_env, in_axes=(0, None, scenario_axis))(keys, params, scenario)

    @jit_method
    def step(
        self, key: Key, state: Any, action: jax.Array, params: Any = None
    ) -> tuple[Any, Any, jax.Array, jax.Array, jax.Array, Info]:
        """Takes one step in all B episodes and resets those that end."""
        params = self.env.default_params if params is None else params
        agents = (self.env.num_agents,) if self.env.num_agents > 1 else ()
        action = as_index("action", action, (self.num_envs, *agents), self.env.name)
        keys = draws.split(key, self.num_envs)
        return jax.vmap(self.env.step, in_axes=(0, 0, 0, None))(keys, state, action, params)
