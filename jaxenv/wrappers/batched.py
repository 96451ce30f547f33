"""A batch of episodes as Gymnasium's programs see it: each one alone, and what `info` says of all of them."""

import dataclasses
import importlib
from typing import Any

import jax
import numpy as np

from jaxenv.core import Environment
from jaxenv.wrappers.host_episodes import HostBatch


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
