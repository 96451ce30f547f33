"""A gymnax environment as an environment of jaxenv, for programs written for `jaxenv`, such as its trainer."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

from jaxenv.core import Environment, spaces
from jaxenv.core.types import ActionMask, Info, Key


class GymnaxState(struct.PyTreeNode):
    """The environment's state and last observation: some observations do not follow from the state."""

    env_state: Any
    observation: jax.Array


class GymnaxObservation(struct.PyTreeNode):
    """The environment's observation."""

    array: jax.Array
    action_mask: ActionMask  # [A] bool, all True: gymnax knows no illegal actions


class GymnaxReward(struct.PyTreeNode):
    """The reward, which has one part."""

    reward: jax.Array  # [] float32


@dataclasses.dataclass(frozen=True)
class FromGymnax(Environment):
    """A gymnax environment with discrete actions, of gymnax 1.0 or later, which separates truncation from termination.

    Its params are the environment's own. They have no bank of scenarios: each episode starts as gymnax starts it.

    >>> import gymnax, jax, jaxenv
    >>> env = jaxenv.wrappers.FromGymnax(gymnax.make("CartPole-v1")[0])
    >>> observation, state = env.reset(jax.random.key(0), env.default_params)
    >>> env.name, env.num_actions, observation.array.shape
    ('CartPole-v1', 2, (4,))

    Attributes:
        env: the gymnax environment; two wrappers are equal if it is the same object.
    """

    env: Any

    def __post_init__(self) -> None:
        """Rejects environments without the step of gymnax 1.0."""
        if not (hasattr(self.env, "step_env") and hasattr(self.env, "is_truncated")):
            raise TypeError(f"FromGymnax expects an environment of gymnax 1.0 or later, got {self.env!r}")

    @property
    def name(self) -> str:
        """The name that gymnax gives it."""
        return self.env.name

    @property
    def num_actions(self) -> int:
        """The size A of the action catalogue."""
        return self.env.num_actions

    @property
    def default_params(self) -> Any:
        """The environment's params, with arrays in the place of Python numbers."""
        return jax.tree.map(jnp.asarray, self.env.default_params)

    def init(self, key: Key, params: Any, scenario: jax.Array | int | None) -> GymnaxState:
        """The first state; there is one scenario, whatever its index."""
        del scenario
        observation, state = self.env.reset_env(key, params)
        # Their first states have Python numbers and other dtypes than later ones.
        _, later, *_ = jax.eval_shape(self.env.step_env, key, state, jnp.int32(0), params)
        state = jax.tree.map(lambda x, like: jnp.asarray(x, like.dtype), state, later)
        return GymnaxState(state, jnp.asarray(observation, jnp.float32))

    def transition(
        self, key: Key, state: GymnaxState, action: jax.Array, params: Any
    ) -> tuple[GymnaxState, jax.Array, jax.Array, Info]:
        """One step without reset; the time limit is in `is_truncated`."""
        observation, env_state, reward, terminated, _ = self.env.step_env(key, state.env_state, action, params)
        reward = jnp.asarray(reward, jnp.float32).reshape(())
        info = {"reward_parts": GymnaxReward(reward), "invalid_action": jnp.bool_(False)}
        following = GymnaxState(env_state, jnp.asarray(observation, jnp.float32))
        return following, reward, jnp.asarray(terminated, bool), info

    def observe(self, state: GymnaxState, params: Any) -> GymnaxObservation:
        """The environment's observation."""
        return GymnaxObservation(state.observation, self.action_mask(state, params))

    def is_truncated(self, state: GymnaxState, params: Any) -> jax.Array:
        """[] bool: the time limit is reached."""
        return jnp.asarray(self.env.is_truncated(state.env_state, params), bool)

    def action_mask(self, state: GymnaxState, params: Any) -> ActionMask:
        """[A] bool, all True."""
        return jnp.ones(self.num_actions, bool)

    def action_space(self, params: Any = None) -> spaces.Space:
        """The integers 0 .. A − 1."""
        return spaces.Discrete(self.num_actions)

    def observation_space(self, params: Any = None) -> spaces.Space:
        """Arrays of the shape that gymnax declares, within its bounds."""
        box = self.env.observation_space(self.default_params if params is None else params)
        low, high = (float(jnp.asarray(bound).reshape(-1)[0]) for bound in (jnp.min(box.low), jnp.max(box.high)))
        fields = {"array": spaces.Box(low, high, tuple(box.shape), jnp.float32)}
        return spaces.Record.of(
            GymnaxObservation, {**fields, "action_mask": spaces.Box(0, 1, (self.num_actions,), bool)}
        )

    def state_space(self, params: Any = None) -> spaces.Space:
        """Unknown: the states that gymnax declares are not always those that occur."""
        raise NotImplementedError(f"{self.name} of gymnax declares no dependable space of states")

    def flatten(self, observation: GymnaxObservation, params: Any) -> jax.Array:
        """[F] float32: the array in one row."""
        return observation.array.reshape(-1)
