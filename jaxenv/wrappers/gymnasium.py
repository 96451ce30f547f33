"""Environments with Gymnasium's interface and NumPy results; `jaxenv.wrappers` loads this module on first use."""

import functools
from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import jax
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from jaxenv.core import Environment
from jaxenv.wrappers import adapters
from jaxenv.wrappers.host_episodes import HostBatch, HostEpisodes, KeyedState, keys_of, picture, to_numpy
from jaxenv.wrappers.wrapper import FlattenObservation


def register_gymnasium() -> None:
    """Makes `gymnasium.make` and `gymnasium.make_vec` build every registered environment, as `jaxenv/<id>`.

    The arguments of `Gymnasium` and `GymnasiumVector` follow the id. A later call adds new registrations.
    Importing `jaxenv.gymnasium` calls this, so that one string is enough:

    >>> import gymnasium
    >>> env = gymnasium.make("jaxenv.gymnasium:jaxenv/TeamsClone-Mentions-v0")
    >>> env.unwrapped.jax_env.name, int(env.action_space.n)
    ('TeamsClone-Mentions-v0', 114)
    """
    for id in adapters.registry().registered():
        if f"jaxenv/{id}" not in gymnasium.registry:
            gymnasium.register(
                f"jaxenv/{id}",
                entry_point="jaxenv.wrappers.gymnasium:Gymnasium",
                vector_entry_point="jaxenv.wrappers.gymnasium:GymnasiumVector",
                kwargs={"env": id},
            )


class Gymnasium(gymnasium.Env):
    """`reset` and `step` as Gymnasium's users call them, over the flat vector of one agent.

    `info["action_mask"]` ([A] int8) suits `action_space.sample`, `action_masks()` ([A] bool) suits sb3-contrib's
    `MaskablePPO`. `reset(seed=s)` determines every episode that follows; it starts from `jax.random.key(s)`. A
    `reset()` continues from there. `reset(options={"scenario": 3})` plays that scenario of the bank. The rest of `info`
    comes from the environment, in Python's numbers, with dictionaries for records. Equal environments share their
    compiled functions.

    >>> import jaxenv
    >>> env = jaxenv.wrappers.Gymnasium("LifeOps-v0")
    >>> vector, info = env.reset(seed=0, options={"scenario": 3})
    >>> vector.shape, info["action_mask"].shape
    ((455,), (16,))
    >>> vector, reward, terminated, truncated, info = env.step(0)
    >>> reward, terminated, info["reward_parts"]["overlap_penalty"]
    (-5.0, False, -5.0)

    Attributes:
        jax_env: the environment, wrapped or not, which defines `flatten`.
        params: its params, which may be replaced.
        flat: whether observations are vectors ([F] float32) or dictionaries, by field of the record.
        render_mode: output of `render`: `rgb_array` for [H, W, 3] uint8, which needs matplotlib, or `ansi` for text.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(adapters.RENDER_MODES), "render_fps": 2}

    def __init__(
        self, env: Environment | str, params: Any = None, render_mode: str | None = None, *, flat: bool = True
    ) -> None:
        """Wraps an environment with params, by default its own, or makes one of `jaxenv.registered()`.

        Raises:
            ValueError: for an unknown id or render mode, or an environment of several agents.
        """
        self.jax_env, self.params = adapters.one_agent(env, params, "Gymnasium", render_mode)
        self.render_mode, self.flat = render_mode, flat
        self.observation_space, self.action_space = spaces_of(self.jax_env, self.params, flat)
        self._programs = HostEpisodes(self.jax_env, flat)
        self._state: KeyedState | None = None
        self._is_over = True
        self._action_mask = np.zeros(self.jax_env.num_actions, bool)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts an episode: (observation, info with the action mask)."""
        super().reset(seed=seed)
        adapters.check_not_forked("Gymnasium")
        scenario = adapters.check_scenario(options, self.params)
        self._state, first = self._programs.reset(self._key(seed), self.params, scenario)
        observation, info = to_numpy(first)
        self._is_over = False
        return observation, self._noting_mask(info)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Takes one step, without a reset: (observation, reward, terminated, truncated, info).

        Raises:
            gymnasium.error.ResetNeeded: where no episode is under way.
            ValueError: for an action outside the catalogue; an illegal one is marked in `info["invalid_action"]`.
        """
        if self._state is None or self._is_over:
            raise gymnasium.error.ResetNeeded(f"{self.jax_env.name}: no episode is under way; call reset() first")
        action = adapters.check_actions(action, self.jax_env)
        self._state, step = self._programs.step(self._state, action, self.params)
        observation, reward, terminated, truncated, info = to_numpy(step)
        self._is_over = bool(terminated | truncated)
        return observation, float(reward), bool(terminated), bool(truncated), self._noting_mask(info)

    def action_masks(self) -> np.ndarray:
        """[A] bool, the legal actions of the current state."""
        return self._action_mask.copy()

    def render(self) -> Any:
        """The current state in the render mode, or None without one."""
        return None if self.render_mode is None else picture(self.jax_env, self.state, self.params, self.render_mode)

    @property
    def state(self) -> Any:
        """The current state of the environment.

        Raises:
            gymnasium.error.ResetNeeded: before the first reset.
        """
        if self._state is None:
            raise gymnasium.error.ResetNeeded(f"{self.jax_env.name}: there is no state before reset()")
        return self._state.env_state

    def _key(self, seed: int | None) -> Any:
        """The key of a seed, or the one that the last episode left, or at first a random one."""
        if seed is None and self._state is not None:
            return self._state.key
        return keys_of([int(self.np_random.integers(2**32)) if seed is None else seed])[0]

    def _noting_mask(self, info: dict[str, Any]) -> dict[str, Any]:
        self._action_mask = info["action_mask"].astype(bool)
        return as_numbers(info)


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
        params: its params, which may be replaced.
        flat: whether observations are vectors ([B, F] float32) or dictionaries, by field of the record.
        render_mode: output of `render` for each episode: `rgb_array`, which needs matplotlib, or `ansi`.
    """

    metadata: ClassVar[dict[str, Any]] = {**Gymnasium.metadata, "autoreset_mode": AutoresetMode.SAME_STEP}

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
        self.jax_env, self.params = adapters.one_agent(env, params, "GymnasiumVector", render_mode, num_envs)
        self.num_envs, self.render_mode, self.flat = num_envs, render_mode, flat
        self.single_observation_space, self.single_action_space = spaces_of(self.jax_env, self.params, flat)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._batch = HostBatch(self.jax_env, num_envs, flat)
        self._episodes = self._batch.episodes(self, self.single_observation_space, self.single_action_space)

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
        scenarios = adapters.check_scenario(options, self.params, (self.num_envs,))
        observations, info = self._batch.reset(self.params, seeds, scenarios, self.np_random)
        return observations, batched(info, np.ones(self.num_envs, bool))

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Takes one step in all episodes: (observations, rewards [B] float64, terminated, truncated [B] bool, info)."""
        actions = adapters.check_actions(actions, self.jax_env, (self.num_envs,))
        step, first = self._batch.step(self.params, actions)
        done = step.terminated | step.truncated
        reported = {name: value for name, value in step.info.items() if name not in first.info}
        info = batched(first.info, np.ones_like(done)) | batched(reported, ~done)
        if done.any():
            info |= {"final_obs": rows_of(step.observation, done), "_final_obs": done}
            info |= {"final_info": batched(step.info, done), "_final_info": done}
        return first.observation, step.reward.astype(np.float64), step.terminated, step.truncated, info

    def action_masks(self) -> np.ndarray:
        """[B, A] bool, the legal actions of the current states."""
        return self._batch.action_masks.copy()

    def render(self) -> Any:
        """The current states in the render mode, one for each episode, or None without one."""
        return None if self.render_mode is None else self.call("render")

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The results of a method of each episode, `action_masks` ([A] bool) or `render`, or an attribute of each."""
        found = [getattr(episode, name) for episode in self._episodes]
        return tuple(each(*args, **kwargs) if callable(each) else each for each in found)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute of each episode: its `state`, or what all share, such as `params` or a space."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Refused: the episodes share everything."""
        raise AttributeError(f"GymnasiumVector: its episodes share everything; set {name!r} of the GymnasiumVector")


def spaces_of(env: Environment, params: Any, flat: bool) -> tuple[Any, Any]:
    """(space of the vectors, or of the records as dictionaries; space of actions)."""
    seen = FlattenObservation(env).observation_space(params)["vector"] if flat else env.observation_space(params)
    theirs = functools.partial(adapters.as_their_space, gymnasium.spaces)
    return theirs(seen), theirs(env.action_space(params))


def as_numbers(info: Any) -> Any:
    """`info` with Python's numbers instead of arrays of shape []."""
    return jax.tree.map(lambda leaf: leaf.item() if leaf.shape == () else leaf, info)


def batched(info: dict[str, Any], where: np.ndarray) -> dict[str, Any]:
    """`info` as Gymnasium batches it: zeros where an episode lacks it, and beside each entry `_name`, who has it."""
    batch: dict[str, Any] = {}
    if where.any():
        for name, value in info.items():
            batch[name] = batched(value, where) if isinstance(value, dict) else _zero_elsewhere(value, where)
            batch[f"_{name}"] = where.copy()
    return batch


def rows_of(observations: Any, where: np.ndarray) -> np.ndarray:
    """[B] objects: an episode's own observation where `where` ([B]) holds, otherwise None."""
    rows = np.full(len(where), None, object)
    for index in np.flatnonzero(where):
        rows[index] = jax.tree.map(lambda leaf, index=index: leaf[index].copy(), observations)
    return rows


def _zero_elsewhere(values: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Zeros where `where` ([B]) is False; numbers in the dtype that NumPy gives Python's."""
    if values.ndim > 1:
        return np.where(where.reshape(-1, *[1] * (values.ndim - 1)), values, np.zeros((), values.dtype))
    wide = {"f": np.float64, "i": np.int64, "u": np.int64}.get(values.dtype.kind, values.dtype)
    return np.where(where, values, 0).astype(wide)
