"""Episodes of one agent for programs on the host, one or B: a compiled step that carries its key, NumPy results."""

import dataclasses
import functools
import importlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.core import Environment
from jaxenv.core.environment import select
from jaxenv.core.types import Info, Key
from jaxenv.lowering import draws
from jaxenv.wrappers.adapters import check_not_forked
from jaxenv.wrappers.wrapper import FlattenObservation


class KeyedState(struct.PyTreeNode):
    """A state, and the key of everything random that follows it."""

    key: Key  # []
    env_state: Any


class First(NamedTuple):
    """The host's view of the first state of an episode."""

    observation: Any  # [F] float32, or a dictionary by field
    info: dict[str, Any]  # action_mask [A] int8


class Step(NamedTuple):
    """The host's view of a step."""

    observation: Any  # [F] float32, or a dictionary by field; before any reset
    reward: Any  # [] float32
    terminated: Any  # [] bool
    truncated: Any  # [] bool
    info: dict[str, Any]  # action_mask, and the environment's entries, records as dictionaries


@dataclasses.dataclass(frozen=True)
class HostEpisodes:
    """Compiled functions over a `KeyedState`; one call of them is all that a step on the host waits for.

    `step_all` gives the same bits as `step`, followed by `reset` where an episode ends.

    Attributes:
        env: the environment, of one agent.
        flat: whether observations are vectors or dictionaries.
    """

    env: Environment
    flat: bool = True

    @functools.partial(jax.jit, static_argnums=0)
    def reset(self, key: Key, params: Any, scenario: jax.Array | None) -> tuple[KeyedState, First]:
        """Starts an episode of `scenario`, or of one drawn with the key."""
        following, reset_key = draws.split(key)
        state = self.env.init(reset_key, params, scenario)
        return KeyedState(following, state), self._seen(state, params)

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, state: KeyedState, action: jax.Array, params: Any) -> tuple[KeyedState, Step]:
        """Takes one step, without a reset."""
        following, turn_key = draws.split(state.key)
        last, reward, terminated, info = self.env.transition(turn_key, state.env_state, action, params)
        truncated = self.env.is_truncated(last, params)
        return KeyedState(following, last), self._step(last, reward, terminated, truncated, info, params)

    @functools.partial(jax.jit, static_argnums=0)
    def reset_all(self, keys: Key, params: Any, scenarios: jax.Array | None) -> tuple[KeyedState, First]:
        """Starts B episodes; keys and scenarios are [B]."""
        return jax.vmap(self.reset, in_axes=(0, None, 0))(keys, params, scenarios)

    @functools.partial(jax.jit, static_argnums=0)
    def step_all(self, states: KeyedState, actions: jax.Array, params: Any) -> tuple[KeyedState, Step, First]:
        """Steps B episodes and starts the next one where a step ends them: (states, step, start or current state)."""
        return jax.vmap(self._step_or_reset, in_axes=(0, 0, None))(states, actions, params)

    def _step_or_reset(self, state: KeyedState, action: jax.Array, params: Any) -> tuple[KeyedState, Step, First]:
        continuing, turn_key = draws.split(state.key)
        after_reset, reset_key = draws.split(continuing)
        last, after, reward, terminated, truncated, info = self.env.transition_or_reset(
            turn_key, reset_key, state.env_state, action, params
        )
        key = select(terminated | truncated, after_reset, continuing)
        step = self._step(last, reward, terminated, truncated, info, params)
        return KeyedState(key, after), step, self._seen(after, params)

    def _step(
        self, state: Any, reward: jax.Array, terminated: jax.Array, truncated: jax.Array, info: Info, params: Any
    ) -> Step:
        observation, seen = self._seen(state, params)
        return Step(observation, reward, terminated, truncated, {**seen, **as_dictionaries(info)})

    def _seen(self, state: Any, params: Any) -> First:
        """The observation of a state, and the part of `info` that a state shows."""
        record = (FlattenObservation(self.env) if self.flat else self.env).observe(state, params)
        observation = record.vector if self.flat else as_dictionaries(record)
        return First(observation, {"action_mask": record.action_mask.astype(jnp.int8)})


class HostBatch:
    """Keeps the states of B episodes and their masks; each of its methods is one compiled call.

    Attributes:
        num_envs: B.
        action_masks: [B, A] bool, of the current states; all False before the first reset.
    """

    def __init__(self, env: Environment, num_envs: int, flat: bool = True) -> None:
        """Starts nothing yet."""
        self.num_envs = num_envs
        self.action_masks = np.zeros((num_envs, env.num_actions), bool)
        self._programs = HostEpisodes(env, flat)
        self._states: KeyedState | None = None

    def reset(
        self, params: Any, seeds: Sequence[int | None], scenarios: np.ndarray | None, generator: np.random.Generator
    ) -> First:
        """Starts B episodes.

        Args:
            params: of the environment.
            seeds: B of them; where one is None the episodes go on with the key they have, which for the first ones
                is drawn with `generator`.
            scenarios: [B] int32, or None to draw them.
            generator: of the seeds of first episodes.
        """
        check_not_forked("a batch of episodes")
        if self._states is None:
            keys = keys_of(generator.integers(2**32, size=self.num_envs, dtype=np.uint32))
        else:
            keys = self._states.key
        given = np.array([seed is not None for seed in seeds])
        if given.any():
            keys = jnp.where(given, keys_of(seed or 0 for seed in seeds), keys)
        self._states, first = self._programs.reset_all(keys, params, scenarios)
        return self._noting_masks(to_numpy(first))

    def step(self, params: Any, actions: np.ndarray) -> tuple[Step, First]:
        """Steps each episode, and starts the next one where it ends: (step, start or current state), [B, ...] each.

        Raises:
            RuntimeError: before the first reset.
        """
        self._states, step, first = self._programs.step_all(self._started(), actions, params)
        step, first = to_numpy((step, first))
        return step, self._noting_masks(first)

    def state(self, index: int) -> Any:
        """The current state of one episode."""
        return jax.tree.map(lambda leaf: leaf[index], self._started().env_state)

    def episodes(self, envs: Any, observation_space: Any, action_space: Any) -> "list[BatchedEpisode]":
        """Each episode alone, for an adapter `envs` of the batch."""
        return [BatchedEpisode(envs, self, index, observation_space, action_space) for index in range(self.num_envs)]

    def _noting_masks(self, first: First) -> First:
        self.action_masks = first.info["action_mask"].astype(bool)
        return first

    def _started(self) -> KeyedState:
        if self._states is None:
            raise RuntimeError(f"{self._programs.env.name}: call reset() before anything else")
        return self._states


@dataclasses.dataclass(frozen=True)
class BatchedEpisode:
    """One episode of a batch, as programs ask an environment for its attributes and methods.

    Attributes:
        envs: the adapter of the batch.
        batch: the states.
        index: which of them.
        observation_space: of one episode.
        action_space: of one episode.
    """

    envs: Any
    batch: HostBatch
    index: int
    observation_space: Any
    action_space: Any

    def __getattr__(self, name: str) -> Any:
        """What all episodes share; `spec` is None where no registry made them."""
        if name not in ("jax_env", "params", "render_mode", "spec"):
            raise AttributeError(f"an episode of a batch has no {name!r}")
        return getattr(self.envs, name, None)

    @property
    def state(self) -> Any:
        """The current state of the environment."""
        return self.batch.state(self.index)

    def action_masks(self) -> np.ndarray:
        """[A] bool, the legal actions of the current state."""
        return self.batch.action_masks[self.index].copy()

    def render(self) -> Any:
        """The current state in the render mode, or None without one."""
        mode = self.envs.render_mode
        return None if mode is None else picture(self.envs.jax_env, self.state, self.envs.params, mode)


def picture(env: Environment, state: Any, params: Any, render_mode: str) -> Any:
    """A state as [H, W, 3] uint8 (`rgb_array`) or as text (`ansi`)."""
    rendering = importlib.import_module("jaxenv.rendering")  # by its name, since it stands above the wrappers
    page = rendering.render(env, state, params)
    return page.text if render_mode == "ansi" else page.pixels()


_keys = jax.jit(jax.vmap(jax.random.key))


def keys_of(seeds: Iterable[int]) -> Key:
    """[B] keys: `jax.random.key` of each seed, which uses only its lowest 32 bits."""
    return _keys(np.array([int(seed) % 2**32 for seed in seeds], np.uint32))


def as_dictionaries(value: Any) -> Any:
    """Records as dictionaries by field, as deep as they go."""
    if dataclasses.is_dataclass(value):
        return {field.name: as_dictionaries(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {name: as_dictionaries(inner) for name, inner in value.items()}
    return value


def to_numpy(outputs: Any) -> Any:
    """Outputs of a compiled function as NumPy arrays that may be written to."""
    return jax.tree.map(np.array, outputs)
