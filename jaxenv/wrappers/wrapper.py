"""The base of the wrappers: an environment that forwards every call to another one."""

import dataclasses
from typing import Any

import jax

from jaxenv.core import Environment, spaces
from jaxenv.core.entities import Entities
from jaxenv.core.types import ActionMask, Info, Key


@dataclasses.dataclass(frozen=True)
class Wrapper(Environment):
    """Forwards every call to `env`; a subclass overrides methods, and `reset` and `step` follow from them.

    >>> import jaxenv
    >>> class FirstThreeSteps(jaxenv.wrappers.Wrapper):
    ...     def is_truncated(self, state, params):
    ...         return self.env.is_truncated(state, params) | (state.clock >= 3)
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> short = FirstThreeSteps(env)
    >>> short.name, short.num_actions, short.unwrapped == env
    ('LifeOps-v0', 16, True)

    Attributes:
        env: the wrapped environment; like it, the wrapper is equal and hashable by value.
    """

    env: Environment

    @property
    def name(self) -> str:
        """The wrapped environment's id."""
        return self.env.name

    @property
    def num_actions(self) -> int:
        """The size A of the action catalogue."""
        return self.env.num_actions

    @property
    def num_agents(self) -> int:
        """The wrapped environment's agents."""
        return self.env.num_agents

    @property
    def default_params(self) -> Any:
        """The wrapped environment's params."""
        return self.env.default_params

    @property
    def unwrapped(self) -> Environment:
        """The environment under all wrappers."""
        return self.env.unwrapped

    def init(self, key: Key, params: Any, scenario: jax.Array | int | None) -> Any:
        """The wrapped environment's first state."""
        return self.env.init(key, params, scenario)

    def transition(
        self, key: Key, state: Any, action: jax.Array, params: Any
    ) -> tuple[Any, jax.Array, jax.Array, Info]:
        """The wrapped environment's transition."""
        return self.env.transition(key, state, action, params)

    def transition_or_reset(
        self, turn_key: Key, reset_key: Key, state: Any, action: jax.Array, params: Any
    ) -> tuple[Any, Any, jax.Array, jax.Array, jax.Array, Info]:
        """The wrapped environment's transition and reset."""
        return self.env.transition_or_reset(turn_key, reset_key, state, action, params)

    def observe(self, state: Any, params: Any) -> Any:
        """The wrapped environment's observation."""
        return self.env.observe(state, params)

    def is_truncated(self, state: Any, params: Any) -> jax.Array:
        """The wrapped environment's time limit."""
        return self.env.is_truncated(state, params)

    def action_mask(self, state: Any, params: Any) -> ActionMask:
        """The wrapped environment's legal actions."""
        return self.env.action_mask(state, params)

    def action_space(self, params: Any = None) -> spaces.Space:
        """The wrapped environment's actions."""
        return self.env.action_space(params)

    def observation_space(self, params: Any = None) -> spaces.Space:
        """The wrapped environment's observations."""
        return self.env.observation_space(params)

    def state_space(self, params: Any = None) -> spaces.Space:
        """The wrapped environment's states."""
        return self.env.state_space(params)

    def entities(self, observation: Any, params: Any) -> Entities:
        """The wrapped environment's entities."""
        return self.env.entities(observation, params)

    def flatten(self, observation: Any, params: Any) -> jax.Array:
        """The wrapped environment's flat vector."""
        return self.env.flatten(observation, params)

    def generate(self, key: Key, difficulty: jax.Array | float) -> Any:
        """The wrapped environment's generator."""
        return self.env.generate(key, difficulty)

    def scenario_index(self, state: Any) -> jax.Array:
        """The wrapped environment's scenario."""
        return self.env.scenario_index(state)

    def warnings(self, params: Any) -> tuple[str, ...]:
        """The wrapped environment's warnings."""
        return self.env.warnings(params)
