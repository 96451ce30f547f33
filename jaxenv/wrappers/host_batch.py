"""B episodes that a program on the host steps together, for the adapters to other suites' vector environments."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxenv.core import Environment
from jaxenv.wrappers.host_episodes import First, HostEpisodes, KeyedState, Step, as_seeds, keys_of, to_numpy


class HostBatch:
    """Keeps the states of B episodes and their masks; each of its methods is one compiled call.

    Attributes:
        env: the environment, of one agent.
        params: its params.
        num_envs: B.
        action_masks: [B, A] bool, of the current states; all False before the first reset.
    """

    def __init__(self, env: Environment, params: Any, num_envs: int, flat: bool = True) -> None:
        """Starts nothing yet."""
        self.env, self.params, self.num_envs = env, params, num_envs
        self.action_masks = np.zeros((num_envs, env.num_actions), bool)
        self._programs = HostEpisodes(env, flat)
        self._states: KeyedState | None = None

    def reset(self, seeds: Sequence[int | None], scenarios: np.ndarray | None, generator: np.random.Generator) -> First:
        """Starts B episodes.

        Args:
            seeds: B of them; where one is None the episodes go on with the key they have, which for the first ones
                is drawn with `generator`.
            scenarios: [B] int32, or None to draw them.
            generator: of the seeds of first episodes.
        """
        if self._states is None:
            keys = keys_of(generator.integers(2**32, size=self.num_envs, dtype=np.uint32))
        else:
            keys = self._states.key
        given = np.array([seed is not None for seed in seeds])
        if given.any():
            keys = jnp.where(given, keys_of(as_seeds([seed or 0 for seed in seeds])), keys)
        self._states, first = self._programs.reset_all(keys, self.params, scenarios)
        return self._noting_masks(to_numpy(first))

    def step(self, actions: np.ndarray) -> tuple[Step, First]:
        """Steps each episode, and starts the next one where it ends: (step, start or current state), [B, ...] each.

        Raises:
            RuntimeError: before the first reset.
        """
        self._states, step, first = self._programs.step_all(self._started(), actions, self.params)
        step, first = to_numpy((step, first))
        return step, self._noting_masks(first)

    def state(self, index: int) -> Any:
        """The current state of one episode."""
        return jax.tree.map(lambda leaf: leaf[index], self._started().env_state)

    def _noting_masks(self, first: First) -> First:
        self.action_masks = first.info["action_mask"].astype(bool)
        return first

    def _started(self) -> KeyedState:
        if self._states is None:
            raise RuntimeError(f"{self.env.name}: call reset() before anything else")
        return self._states
