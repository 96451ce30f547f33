"""Many episodes as one vector environment of Gymnasium, with a compiled step for all of them."""

from collections.abc import Sequence
from typing import Any, ClassVar

import jax
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from jaxenv.core import Environment
from jaxenv.wrappers.gymnasium import as_gymnasium, observation_space, picture
from jaxenv.wrappers.host_arguments import (
    RENDER_MODES,
    check_actions,
    check_num_envs,
    check_render_mode,
    check_scenario,
)
from jaxenv.wrappers.host_batch import HostBatch
from jaxenv.wrappers.resolve import one_agent


class GymnasiumVector(VectorEnv):
    """Like `gymnasium.vector.SyncVectorEnv` over `Gymnasium` in mode `SAME_STEP`, with one compiled step for all.

    Where an episode ends, the next one starts in the same step; `info["final_obs"]` and `info["final_info"]` have the
    last of the old one. `info["action_mask"]` ([B, A] int8) and `action_masks()` ([B, A] bool) are those of the states
    that follow. `reset(seed=s)` gives episode i the seed s + i; see `Gymnasium` for the rest. Of Gymnasium's wrappers,
    `RecordEpisodeStatistics` (1.3) leaves the first step after such a reset out of its sums.

    >>> import jaxenv
    >>> envs = jaxenv.wrappers.GymnasiumVector("LifeOps-v0", num_envs=4)
    >>> vectors, info = envs.reset(seed=0)
    >>> vectors.shape, info["action_mask"].shape
    ((4, 455), (4, 16))
    >>> actions = envs.action_space.sample(mask=tuple(info["action_mask"]))
    >>> actions.shape
    (4,)

    Attributes:
        jax_env: the environment, wrapped or not, which defines `flatten`.
        flat: whether observations are vectors ([B, F] float32) or dictionaries, by field of the record.
        render_mode: output of `render` for each episode: `rgb_array`, which needs matplotlib, or `ansi`.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": list(RENDER_MODES),
        "render_fps": 2,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        env: Environment | str,
        params: Any = None,
        num_envs: int = 1,
        render_mode: str | None = None,
        *,
        flat: bool = True,
    ) -> None:
        """Wraps an environment with params, by default its own, or makes one of `jaxenv.registered()`.

        Raises:
            ValueError: for an unknown id or render mode, an environment of several agents, or no episode at all.
        """
        check_render_mode(render_mode, "GymnasiumVector")
        check_num_envs(num_envs, "GymnasiumVector")
        self.jax_env, params = one_agent(env, params, "GymnasiumVector")
        self.num_envs, self.render_mode, self.flat = num_envs, render_mode, flat
        self.single_observation_space = observation_space(self.jax_env, params, flat)
        self.single_action_space = as_gymnasium(self.jax_env.action_space(params))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._batch = HostBatch(self.jax_env, params, num_envs, flat)

    @property
    def params(self) -> Any:
        """The params that all episodes are played with, which may be replaced."""
        return self._batch.params

    @params.setter
    def params(self, params: Any) -> None:
        self._batch.params = params

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Starts all episodes: (observations, info with the action masks).

        Args:
            seed: s for the seeds s, s + 1, ..., or a list of B; where it is None the episodes go on with their own.
            options: `scenario`, an index of the bank for all episodes, or B of them.
        """
        super().reset(seed=seed if isinstance(seed, int) else None)
        seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, int) else seed
        seeds = [None] * self.num_envs if seeds is None else seeds
        if len(seeds) != self.num_envs:
            raise ValueError(f"reset(seed=...): expected {self.num_envs} seeds, got {len(seeds)}")
        scenarios = check_scenario(options, self.params, (self.num_envs,))
        observations, info = self._batch.reset(seeds, scenarios, self.np_random)
        return observations, _batched(info, np.ones(self.num_envs, bool))

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Takes one step in all episodes: (observations, rewards [B] float64, terminated, truncated [B] bool, info)."""
        actions = check_actions(actions, self.jax_env, (self.num_envs,))
        step, first = self._batch.step(actions)
        done = step.terminated | step.truncated
        reported = {name: value for name, value in step.info.items() if name not in first.info}
        info = _batched(first.info, np.ones_like(done)) | _batched(reported, ~done)
        if done.any():
            info |= {"final_obs": _rows(step.observation, done), "_final_obs": done}
            info |= {"final_info": _batched(step.info, done), "_final_info": done}
        return first.observation, step.reward.astype(np.float64), step.terminated, step.truncated, info

    def action_masks(self) -> np.ndarray:
        """[B, A] bool, the legal actions of the current states."""
        return self._batch.action_masks.copy()

    def render(self) -> Any:
        """The current states in the render mode, one for each episode, or None without one."""
        if self.render_mode is None:
            return None
        states = (self._batch.state(index) for index in range(self.num_envs))
        return tuple(picture(self.jax_env, state, self.params, self.render_mode) for state in states)


def _batched(info: dict[str, Any], where: np.ndarray) -> dict[str, Any]:
    """`info` as Gymnasium batches it: zeros where an episode lacks it, and beside each entry `_name`, who has it."""
    batch: dict[str, Any] = {}
    if where.any():
        for name, value in info.items():
            batch[name] = _batched(value, where) if isinstance(value, dict) else _zero_elsewhere(value, where)
            batch[f"_{name}"] = where.copy()
    return batch


def _zero_elsewhere(values: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Zeros where `where` ([B]) is False; numbers in the dtype that NumPy gives Python's."""
    if values.ndim > 1:
        return np.where(where.reshape(-1, *[1] * (values.ndim - 1)), values, np.zeros((), values.dtype))
    wide = {"f": np.float64, "i": np.int64, "u": np.int64}.get(values.dtype.kind, values.dtype)
    return np.where(where, values, 0).astype(wide)


def _rows(observations: Any, where: np.ndarray) -> np.ndarray:
    """[B] objects: an episode's own observation where `where` ([B]) holds, otherwise None."""
    rows = np.full(len(where), None, object)
    for index in np.flatnonzero(where):
        rows[index] = jax.tree.map(lambda leaf, index=index: leaf[index].copy(), observations)
    return rows
