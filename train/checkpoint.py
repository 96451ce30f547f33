"""Checkpoints: all that a run needs to go on where it stopped, written by Orbax, each of them whole or not at all.

A checkpoint holds the training state (weights, optimiser, environments, generated scenarios, keys) as arrays by name,
and as JSON how far the run had come, its settings (those of the environment and its params among them) and the
fingerprint of the scenarios that it began with, which a run that goes on must find again.
"""

import contextlib
import dataclasses
import logging
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp

from train.config import Config
from train.console import Clock
from train.settings import TASK, differences, fixed, from_json, in_words, to_json

KEPT = 2  # the newest ones; an older one is there for the case that the newest is damaged later
LATE = 0.3  # seconds in which the last of Orbax's readers has noticed that another one has failed


class CheckpointError(ValueError):
    """A checkpoint that is broken, or not of this run."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a run has come; counters are Python ints, which pass 2**31."""

    superstep: int = 0  # supersteps done
    env_steps: int = 0
    seconds: float = 0.0  # of training, compilation apart
    scenarios: str  # fingerprint of the bank that training began with

    def advanced(self, superstep: int, clock: Clock) -> "Progress":
        """The same run, later."""
        return dataclasses.replace(self, superstep=superstep, env_steps=clock.env_steps, seconds=clock.seconds)


COUNTED = [field.name for field in dataclasses.fields(Progress)]


class Checkpoints:
    """The checkpoints of one run, in one folder; leaving the context waits for what is being written."""

    def __init__(self, path: Path, config: Config) -> None:
        """Opens the folder, and removes what a killed run had not finished writing."""
        options = ocp.CheckpointManagerOptions(max_to_keep=KEPT, cleanup_tmp_directories=True)
        self._path, self._config = path, config
        self._manager = ocp.CheckpointManager(path.absolute(), options=options)
        self._latest = time.monotonic()

    def is_due(self) -> bool:
        """Whether the last checkpoint, or the beginning, lies `checkpoint_every` seconds back."""
        return time.monotonic() - self._latest >= self._config.checkpoint_every

    def save(self, state: Any, progress: Progress) -> None:
        """Copies the state, which may be donated at once, and writes it in the background."""
        self._latest = time.monotonic()
        arrays = jax.tree.map(np.array, jax.device_get(by_name(state)))
        said = {**dataclasses.asdict(progress), "config": to_json(self._config), "shapes": shapes(arrays)}
        parts = ocp.args.Composite(state=ocp.args.StandardSave(arrays), run=ocp.args.JsonSave(said))
        self._manager.save(progress.superstep, args=parts)

    def newest(self) -> Progress | None:
        """How far the newest checkpoint is, or None where there is none.

        Raises:
            CheckpointError: where it is broken, or was written by a run with other settings.
        """
        step = self._manager.latest_step()
        if step is None:
            return None
        said, path = self._said(step), self._path / str(step)
        try:
            there, here = to_json(from_json(said["config"])), to_json(self._config)
        except (ValueError, TypeError) as error:
            raise CheckpointError(f"{path} is of another version: {error}") from error
        there |= {group: here[group] for group in TASK if not there[group]}  # one that tells nothing of them
        other = differences(fixed(there), fixed(here))
        if other:
            raise CheckpointError(f"{path} is of another run: {in_words(other)}")
        return Progress(**{name: said[name] for name in COUNTED})

    def restore(self, progress: Progress, like: Any, *, scenarios: str) -> Any:
        """The state of a checkpoint.

        Args:
            progress: that of the checkpoint.
            like: what the state looks like here: a tree of arrays, or of their shapes and dtypes.
            scenarios: fingerprint of the bank that the run would begin with here.

        Raises:
            CheckpointError: where it is broken, or of other scenarios or shapes.
        """
        step, path = progress.superstep, self._path / str(progress.superstep)
        if scenarios != progress.scenarios:
            raise CheckpointError(
                f"{path} is of other scenarios: their fingerprint is {progress.scenarios} there and {scenarios} here; "
                f"{self._config.training.scenarios!r} or what reads it has changed since"
            )
        expected = jax.eval_shape(by_name, like)
        other = differences(self._said(step)["shapes"], shapes(expected))
        if other:
            raise CheckpointError(f"{path} does not fit {self._config.env} as it is here: {in_words(other)}")
        empty = jax.tree.map(lambda leaf: np.empty(leaf.shape, leaf.dtype), expected)
        return from_names(self._read(step, "state", ocp.args.StandardRestore(empty)), like)

    def _said(self, step: int) -> dict[str, Any]:
        """What a checkpoint says of itself."""
        said = self._read(step, "run", ocp.args.JsonRestore())
        if not {"config", "shapes", *COUNTED} <= said.keys():
            raise self._broken(step, "it does not say what it is of")
        return said

    def _read(self, step: int, item: str, how: Any) -> Any:
        """A part of a checkpoint."""
        try:
            with _quiet():
                return self._manager.restore(step, args=ocp.args.Composite(**{item: how}))[item]
        except Exception as error:  # Orbax has no common error: whatever it raises, it could not read its own files
            raise self._broken(step, str(error).splitlines()[0]) from error

    def _broken(self, step: int, reason: str) -> CheckpointError:
        older = [other for other in self._manager.all_steps() if other < step]
        way_out = f"go on from superstep {max(older)}" if older else "begin anew"
        path = self._path / str(step)
        return CheckpointError(
            f"{path} is broken, or not of this program ({reason[:200]}); remove that folder to {way_out}"
        )

    def __enter__(self) -> "Checkpoints":
        return self

    def __exit__(self, *exception: object) -> None:
        self._manager.close()


def by_name(state: Any) -> dict[str, Any]:
    """Arrays by name: keys as their data, and without arrays of size 0, which Orbax does not write."""
    leaves = jax.tree_util.tree_leaves_with_path(state)
    return {_name(path): jax.random.key_data(leaf) if _is_key(leaf) else leaf for path, leaf in leaves if leaf.size}


def from_names(arrays: dict[str, Any], like: Any) -> Any:
    """The tree that `by_name` named, with arrays of its own, which may be donated."""

    def leaf(path: Any, expected: Any) -> jax.Array:
        if not expected.size:
            return jnp.zeros(expected.shape, expected.dtype)
        array = jnp.array(arrays[_name(path)])
        return jax.random.wrap_key_data(array) if _is_key(expected) else array

    return jax.tree_util.tree_map_with_path(leaf, like)


def shapes(arrays: dict[str, Any]) -> dict[str, str]:
    """What the arrays look like, by name: `float32[3, 16]`."""
    return {name: f"{leaf.dtype}{list(leaf.shape)}" for name, leaf in arrays.items()}


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silences Orbax's readers, which run side by side and each tell of a broken file: one error is enough."""
    level, hook = logging.root.manager.disable, sys.unraisablehook
    logging.disable()
    sys.unraisablehook = lambda _: None
    try:
        yield
    except Exception:
        time.sleep(LATE)
        raise
    finally:
        logging.disable(level)
        sys.unraisablehook = hook
