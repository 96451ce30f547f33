"""An environment with dm_env's interface: NumPy, one episode at a time, the state and the key kept inside."""

from typing import Any

import dm_env
import jax
import numpy as np
from dm_env import specs

from jaxenv.core import Environment
from jaxenv.wrappers.adapters import check_actions, check_not_forked, one_agent
from jaxenv.wrappers.host_episodes import First, HostEpisodes, KeyedState, Step
from jaxenv.wrappers.wrapper import FlattenObservation


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
        self._programs = HostEpisodes(self.env)
        self._state = KeyedState(jax.random.key(seed), None)
        self._is_over = True

    def reset(self) -> Any:
        """Starts an episode: a time step of type FIRST, whose reward and discount are None."""
        check_not_forked("DmEnv")
        self._state, first = self._programs.reset(self._state.key, self.params, None)
        self._is_over = False
        return dm_env.restart(_arrays(first))

    def step(self, action: Any) -> Any:
        """One turn, or the start of an episode where none is under way.

        Args:
            action: an index of the catalogue, 0 .. A − 1.

        Returns:
            A time step of type MID or LAST with its reward and discount, or of type FIRST.

        Raises:
            ValueError: if the action is no such index.
        """
        if self._is_over:
            return self.reset()
        self._state, step = self._programs.step(self._state, check_actions(action, self.env), self.params)
        self._is_over = bool(step.terminated | step.truncated)
        result = float(step.reward), _arrays(step)
        if not self._is_over:
            return dm_env.transition(*result)
        return dm_env.termination(*result) if step.terminated else dm_env.truncation(*result)

    def observation_spec(self) -> dict[str, Any]:
        """The vector, [F] float32, and the mask, [A] bool."""
        space: Any = FlattenObservation(self.env).observation_space(self.params)
        vector, mask = space["vector"], space["action_mask"]
        return {
            "observation": specs.Array(vector.shape, vector.dtype, name="observation"),
            "action_mask": specs.BoundedArray(mask.shape, mask.dtype, minimum=False, maximum=True, name="action_mask"),
        }

    def action_spec(self) -> Any:
        """An index of the catalogue, [] int32."""
        return specs.DiscreteArray(self.env.num_actions, dtype=np.int32, name="action")


def _arrays(seen: First | Step) -> dict[str, np.ndarray]:
    """The observation in NumPy."""
    return {"observation": np.asarray(seen.observation), "action_mask": np.asarray(seen.info["action_mask"], bool)}
