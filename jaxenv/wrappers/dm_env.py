"""An environment with dm_env's interface: NumPy, one episode at a time, the state and the key kept inside."""

import functools
from typing import Any

import dm_env
import jax
import jax.numpy as jnp
import numpy as np
from dm_env import specs

from jaxenv.core import Environment
from jaxenv.core.types import Key
from jaxenv.lowering import draws
from jaxenv.wrappers.flatten_observation import FlatObservation, FlattenObservation
from jaxenv.wrappers.resolve import one_agent


class DmEnv(dm_env.Environment):
    """A `dm_env.Environment` of one agent, for agents such as those of Acme.

    An observation is `{"observation": [F] float32, "action_mask": [A] bool}`, the flat vector and the legal actions.
    An illegal action incurs its penalty and uses up a step. The last step of an episode has discount 0 after a
    natural end and 1 at the time limit, and the next call of `step` starts another episode, in a scenario drawn at
    random. One seed gives one sequence of episodes.

    >>> import jaxenv
    >>> env = jaxenv.wrappers.DmEnv("LifeOps-v0", seed=1)
    >>> time_step = env.reset()
    >>> time_step.observation["observation"].shape, env.action_spec().num_values
    ((455,), 16)
    >>> time_step = env.step(time_step.observation["action_mask"].argmax())
    >>> time_step.step_type.name, time_step.discount
    ('MID', 1.0)

    Attributes:
        env: the environment, wrapped or not, which defines `flatten`.
        params: its params.
    """

    def __init__(self, id_or_env: str | Environment, params: Any = None, seed: int = 0) -> None:
        """Wraps an environment (or that of an id) with params, by default its own."""
        self.env, self.params = one_agent(id_or_env, params, "DmEnv")
        self._flat = FlattenObservation(self.env)
        self._space: Any = self._flat.observation_space(self.params)
        self._key = jax.random.key(seed)
        self._state: Any = None  # between episodes

    def reset(self) -> Any:
        """Starts an episode: a time step of type FIRST, whose reward and discount are None."""
        observation, self._state = self._flat.reset(self._next_key(), self.params)
        return dm_env.restart(_arrays(observation))

    def step(self, action: Any) -> Any:
        """One turn, or the start of an episode where none is under way.

        Args:
            action: an index of the catalogue, 0 .. A − 1.

        Returns:
            A time step of type MID or LAST with its reward and discount, or of type FIRST.

        Raises:
            ValueError: if the action is no such index.
        """
        if self._state is None:
            return self.reset()
        index = self._index(action)
        observation, self._state, reward, terminated, truncated = _turn(
            self._flat, self._next_key(), self._state, index, self.params
        )
        result = float(reward), _arrays(observation)
        if not (terminated or truncated):
            return dm_env.transition(*result)
        self._state = None
        return dm_env.termination(*result) if terminated else dm_env.truncation(*result)

    def observation_spec(self) -> dict[str, Any]:
        """The vector, [F] float32, and the mask, [A] bool."""
        vector, mask = self._space["vector"], self._space["action_mask"]
        return {
            "observation": specs.Array(vector.shape, vector.dtype, name="observation"),
            "action_mask": specs.BoundedArray(mask.shape, mask.dtype, minimum=False, maximum=True, name="action_mask"),
        }

    def action_spec(self) -> Any:
        """An index of the catalogue, [] int32."""
        return specs.DiscreteArray(self.env.num_actions, dtype=np.int32, name="action")

    def _index(self, action: Any) -> jax.Array:
        """[] int32: the action, if it is valid."""
        index = np.asarray(action)
        if index.shape != () or index.dtype.kind not in "iu" or not 0 <= index < self.env.num_actions:
            raise ValueError(f"DmEnv.step expects an integer 0 .. {self.env.num_actions - 1}, got {action!r}")
        return jnp.int32(index)

    def _next_key(self) -> Key:
        """A new key."""
        self._key, key = draws.split(self._key)
        return key


@functools.partial(jax.jit, static_argnums=0)
def _turn(flat: FlattenObservation, key: Key, state: Any, action: jax.Array, params: Any) -> tuple[Any, ...]:
    """One turn without reset: (observation, state, reward, terminated, truncated)."""
    observation, state, reward, terminated, _ = flat.step_env(key, state, action, params)
    return observation, state, reward, terminated, flat.is_truncated(state, params)


def _arrays(observation: FlatObservation) -> dict[str, np.ndarray]:
    """The observation in NumPy."""
    return {"observation": np.asarray(observation.vector), "action_mask": np.asarray(observation.action_mask)}
