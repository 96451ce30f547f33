"""Many episodes as a `VecEnv` of Stable-Baselines3; `jaxenv.wrappers` loads this module on first use."""

from collections.abc import Sequence
from typing import Any

import numpy as np

# Not installed where the types are checked, since it brings PyTorch.
from stable_baselines3.common.vec_env import VecEnv  # pyright: ignore[reportMissingImports]

from jaxenv.core import Environment
from jaxenv.wrappers import adapters
from jaxenv.wrappers.gymnasium import spaces_of
from jaxenv.wrappers.host_episodes import HostBatch


class SB3VecEnv(VecEnv):
    """Like SB3's `DummyVecEnv` over `Gymnasium`, with one compiled step for all episodes.

    `infos` have the environment's entries, `TimeLimit.truncated`, and where an episode ends `terminal_observation`
    and, if the environment can be won, `is_success`. sb3-contrib's `MaskablePPO` finds the masks by itself. For the
    returns in SB3's log wrap it into `VecMonitor`.

    >>> import jaxenv
    >>> envs = jaxenv.wrappers.SB3VecEnv("LifeOps-v0", num_envs=4, seed=0)
    >>> envs.reset().shape, envs.env_method("action_masks")[0].shape
    ((4, 455), (16,))

    Attributes:
        jax_env: the environment, wrapped or not, which defines `flatten`.
        params: its params, which may be replaced.
    """

    def __init__(
        self,
        env: Environment | str,
        params: Any = None,
        num_envs: int = 1,
        seed: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Wraps an environment with params, by default its own, or makes one of `jaxenv.registered()`.

        Raises:
            ValueError: for an unknown id or render mode, an environment of several agents, or no episode at all.
        """
        self.jax_env, self.params = adapters.one_agent(env, params, "SB3VecEnv", render_mode, num_envs)
        self._batch = HostBatch(self.jax_env, num_envs)
        self.render_mode = render_mode
        spaces = spaces_of(self.jax_env, self.params, flat=True)
        self._episodes = self._batch.episodes(self, *spaces)
        self._generator = np.random.default_rng()
        super().__init__(num_envs, *spaces)
        if seed is not None:
            self.seed(seed)

    def reset(self) -> np.ndarray:
        """Starts all episodes, with the seeds and options set before: observations [B, F] float32."""
        first = self._batch.reset(self.params, self._seeds, self._scenarios(), self._generator)
        self.reset_infos = _rows(first.info, self.num_envs)
        self._reset_seeds()
        self._reset_options()
        return first.observation

    def step_async(self, actions: np.ndarray) -> None:
        """Takes the actions ([B] integers) for `step_wait`."""
        self._actions = adapters.check_actions(actions, self.jax_env, (self.num_envs,))

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Takes one step: (observations [B, F] float32, rewards [B] float32, done [B] bool, infos)."""
        step, first = self._batch.step(self.params, self._actions)
        done = step.terminated | step.truncated
        infos = _rows({**step.info, "TimeLimit.truncated": step.truncated & ~step.terminated}, self.num_envs)
        starts = _rows(first.info, self.num_envs)
        for index in np.flatnonzero(done):
            infos[index]["terminal_observation"] = step.observation[index].copy()
            if "success" in infos[index]:
                infos[index]["is_success"] = infos[index]["success"]
            self.reset_infos[index] = starts[index]
        return first.observation, step.reward, done, infos

    def action_masks(self) -> np.ndarray:
        """[B, A] bool, the legal actions of the current states."""
        return self._batch.action_masks.copy()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of some episodes: `render_mode`, `spec`, a space, or a method such as `action_masks`."""
        return [getattr(self._episodes[index], attr_name) for index in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: the episodes share everything."""
        raise AttributeError(f"SB3VecEnv: its episodes share everything; set {attr_name!r} of the SB3VecEnv itself")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """The results of a method of some episodes: `action_masks` ([A] bool) or `render`."""
        return [method(*args, **kwargs) for method in self.get_attr(method_name, indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Whether Gymnasium's wrappers are around the episodes: none ever is."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[Any]:
        """The pictures of all episodes."""
        return self.env_method("render")

    def close(self) -> None:
        """Does nothing: there is nothing to release."""

    def _scenarios(self) -> np.ndarray | None:
        """[B] int32, or None to draw them.

        Raises:
            ValueError: where some episodes are given one and others not.
        """
        if not any(self._options):
            return None
        indices = [adapters.check_scenario(options, self.params) for options in self._options]
        given = [index for index in indices if index is not None]
        if len(given) < self.num_envs:
            raise ValueError(f"set_options: expected a scenario for all {self.num_envs} episodes, got {len(given)}")
        return np.stack(given)


def _rows(info: Any, size: int) -> list[Any]:
    """`info` of `size` episodes one by one, with Python's numbers."""
    if isinstance(info, dict):
        columns = [_rows(value, size) for value in info.values()]
        return [dict(zip(info, row, strict=True)) for row in zip(*columns, strict=True)]
    return info.tolist() if info.ndim == 1 else list(info)
