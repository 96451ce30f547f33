"""The observation as one vector, for networks that expect one."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

from jaxenv.core import spaces
from jaxenv.core.types import ActionMask
from jaxenv.wrappers.wrapper import Wrapper


class FlatObservation(struct.PyTreeNode):
    """The observation as one vector, and the action mask."""

    vector: jax.Array  # [F] float32, laid out as the environment's `flatten` describes
    action_mask: ActionMask  # [A] bool


@dataclasses.dataclass(frozen=True)
class FlattenObservation(Wrapper):
    """Observations become `FlatObservation(vector, action_mask)`.

    >>> import jax, jaxenv
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> env = jaxenv.wrappers.FlattenObservation(env)
    >>> observation, state = env.reset(jax.random.key(0), params)
    >>> observation.vector.shape, observation.action_mask.shape
    ((455,), (16,))
    """

    def observe(self, state: Any, params: Any) -> FlatObservation:
        """The flat observation of a state."""
        observation = self.env.observe(state, params)
        vector = self.env.flatten(observation, params)
        return FlatObservation(vector=vector, action_mask=observation.action_mask)

    def observation_space(self, params: Any = None) -> spaces.Record:
        """The space of the vector, a box of F numbers, and that of the mask."""
        params = self.default_params if params is None else params
        shapes = jax.eval_shape(self.reset_env, jax.random.key(0), params)[0]
        most = float(jnp.finfo(jnp.float32).max)
        return spaces.Record.of(
            FlatObservation,
            {
                "vector": spaces.Box(-most, most, shapes.vector.shape, jnp.float32),
                "action_mask": spaces.Box(0, 1, shapes.action_mask.shape, bool),
            },
        )

    def flatten(self, observation: FlatObservation, params: Any) -> jax.Array:
        """The vector itself."""
        return observation.vector
