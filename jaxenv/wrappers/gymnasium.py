"""An environment with Gymnasium's interface and NumPy results; `jaxenv.wrappers` loads this module on first use."""

import importlib
from typing import Any, ClassVar

import gymnasium
import numpy as np

from jaxenv.core import Environment, spaces
from jaxenv.wrappers.flatten_observation import FlattenObservation
from jaxenv.wrappers.host_arguments import RENDER_MODES, check_actions, check_render_mode, check_scenario
from jaxenv.wrappers.host_episodes import HostEpisodes, KeyedState, as_seeds, keys_of, to_numpy
from jaxenv.wrappers.resolve import one_agent


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

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(RENDER_MODES), "render_fps": 2}

    def __init__(
        self, env: Environment | str, params: Any = None, render_mode: str | None = None, *, flat: bool = True
    ) -> None:
        """Wraps an environment with params, by default its own, or makes one of `jaxenv.registered()`.

        Raises:
            ValueError: for an unknown id or render mode, or an environment of several agents.
        """
        check_render_mode(render_mode, "Gymnasium")
        self.jax_env, self.params = one_agent(env, params, "Gymnasium")
        self.render_mode, self.flat = render_mode, flat
        self.observation_space = observation_space(self.jax_env, self.params, flat)
        self.action_space = as_gymnasium(self.jax_env.action_space(self.params))
        self._programs = HostEpisodes(self.jax_env, flat)
        self._state: KeyedState | None = None
        self._is_over = True
        self._action_mask = np.zeros(self.jax_env.num_actions, bool)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts an episode: (observation, info with the action mask)."""
        super().reset(seed=seed)
        scenario = check_scenario(options, self.params)
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
        action = check_actions(action, self.jax_env)
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
        return keys_of(as_seeds([int(self.np_random.integers(2**32)) if seed is None else seed]))[0]

    def _noting_mask(self, info: dict[str, Any]) -> dict[str, Any]:
        self._action_mask = info["action_mask"].astype(bool)
        return as_numbers(info)


def observation_space(env: Environment, params: Any, flat: bool) -> Any:
    """The space of the vectors, or of the records as dictionaries."""
    if flat:
        return as_gymnasium(FlattenObservation(env).observation_space(params)["vector"])
    return as_gymnasium(env.observation_space(params))


def as_gymnasium(space: spaces.Space) -> Any:
    """The equivalent space of Gymnasium."""
    match space:
        case spaces.Discrete():
            return gymnasium.spaces.Discrete(space.n)
        case spaces.Box():
            return gymnasium.spaces.Box(space.low, space.high, space.shape, np.dtype(space.dtype).type)
        case spaces.Record():
            return gymnasium.spaces.Dict({name: as_gymnasium(inner) for name, inner in space.fields})
        case _:
            raise TypeError(f"Gymnasium has no space like {space!r}")


def as_numbers(info: Any) -> Any:
    """`info` with Python's numbers in the place of arrays of shape []."""
    if isinstance(info, dict):
        return {name: as_numbers(value) for name, value in info.items()}
    return info.item() if info.shape == () else info


def picture(env: Environment, state: Any, params: Any, render_mode: str) -> Any:
    """A state as [H, W, 3] uint8 (`rgb_array`) or as text (`ansi`)."""
    rendering = importlib.import_module("jaxenv.rendering")  # by its name, since it stands above the wrappers
    page = rendering.render(env, state, params)
    return page.text if render_mode == "ansi" else page.pixels()
