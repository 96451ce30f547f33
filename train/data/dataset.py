"""Datasets: transitions of a policy in a NumPy archive, for learning offline. `docs/datasets.md` has the layout.

The archive is written piece by piece, for arrays of unknown length that do not fit into memory.
"""

import contextlib
import json
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import jax
import numpy as np

from jaxenv.core import Environment
from jaxenv.core.bank_file import MAX_BYTES, Headers, read_checked
from jaxenv.core.types import Key, Policy, StatePolicy
from jaxenv.host.names import short
from train.networks.policy import LearnedPolicy
from train.save.arrays import name_of
from train.save.writing import naming
from train.score.episodes import Batch, play
from train.settings import task

FORMAT = "jaxenv dataset 1"

# What a row is of: where it is not here, of a transition.
_ROWS = {"final_observation": "trajectory", "start": "trajectory", "scenario": "episode", "metadata": "file"}
_ARRAYS = ("action", "reward", "terminated", "truncated", "episode", "agent", "start", "scenario")


def collect(
    path: Path,
    policy: LearnedPolicy,
    env: Environment,
    params: Any,
    episodes: int,
    *,
    key: Key,
    source: dict[str, Any] | None = None,
    at_once: int = 64,
    teacher: Policy | StatePolicy | None = None,
    on_progress: Callable[[int], object] = lambda count: None,
) -> dict[str, Any]:
    """Plays episodes of a policy into a file, completely or not at all, and returns its metadata.

    Args:
        path: the file.
        policy: acts for every agent.
        env: the environment.
        params: its params, whose scenarios are played in turns.
        episodes: how many.
        key: random key of actions and episodes.
        source: the metadata's description of the policy.
        at_once: episodes that are in memory.
        teacher: a policy without memory whose action in every state is kept as `label`.
        on_progress: called with the number of further finished episodes.
    """
    done, transitions, total = 0, 0, 0.0
    with GrowingArchive(path) as archive:
        for batch in play(policy, env, params, episodes, key=key, at_once=min(at_once, episodes), teacher=teacher):
            for name, rows in rows_by_name(batch, env.num_agents, done, transitions).items():
                archive.append(name, rows)
            done, transitions = done + len(batch.scenario), transitions + len(batch.trajectory)
            total += float(np.sum(batch.steps.reward, dtype=np.float64))
            on_progress(len(batch.scenario))
        metadata = {
            "format": FORMAT,
            "env": env.name,
            **task.describe(env, params),
            "scenarios": params.bank.fingerprint() if hasattr(params, "bank") else "",
            "policy": {**(source or {}), "greedy": policy.greedy},
            "episodes": episodes,
            "agents": env.num_agents,
            "num_actions": env.num_actions,
            "transitions": transitions,
            "mean_return": total / episodes / env.num_agents,
        }
        archive.finish(metadata=json.dumps(metadata))
    return metadata


def rows_by_name(batch: Batch, agents: int, episodes: int, transitions: int) -> dict[str, np.ndarray]:
    """The arrays of a batch under their names in the file, behind as many episodes and transitions."""
    steps = batch.steps
    columns = {name: np.asarray(getattr(steps, name)) for name in ("action", "reward", "terminated", "truncated")}
    columns |= {} if steps.taught is None else {"label": np.asarray(steps.taught)}
    first = np.searchsorted(batch.trajectory, np.arange(len(batch.scenario) * agents))
    return {
        **_by_name("observation", steps.observation),
        **columns,
        "episode": (episodes + batch.trajectory // agents).astype(np.int32),
        "agent": (batch.trajectory % agents).astype(np.int32),
        **_by_name("final_observation", batch.final_observation),
        "start": transitions + first.astype(np.int64),
        "scenario": np.asarray(batch.scenario, np.int32),
    }


def load(path: str | Path, *, most: int = MAX_BYTES) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """(arrays by name, metadata) of a dataset, all in memory.

    Args:
        path: the file.
        most: bytes that the arrays may have in memory; of a file with more none is read.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is not a dataset of this version, or is damaged; its name is in the message.
    """
    what = f"a dataset of this version ({FORMAT!r})"
    arrays = read_checked(path, _check, what, most=most)
    metadata: Any = None
    with contextlib.suppress(ValueError, RecursionError):
        metadata = json.loads(str(arrays.pop("metadata", "")))
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        raise ValueError(f"{path} is not {what}: its metadata do not say so")
    return arrays, metadata


def _check(found: Headers) -> None:
    """A ValueError if an array is missing, or has another number of rows than those beside it."""
    first: dict[str, str] = {}  # the array that the others of its kind are compared with
    for name in (*_ARRAYS, *found):
        if name not in found:
            raise ValueError(f"it has no {name!r}")
        shape, like = found[name][0], first.setdefault(_ROWS.get(name.partition(".")[0], "transition"), name)
        if shape[:1] != found[like][0][:1] or (not shape and name != "metadata"):
            raise ValueError(f"{short(name)} has the shape {shape}, expected the rows of {like}: {found[like][0][:1]}")


def _by_name(prefix: str, record: Any) -> dict[str, np.ndarray]:
    """`prefix.field` -> array of each field of a record, or `prefix` for one that is an array."""
    leaves = jax.tree_util.tree_leaves_with_path(record)
    return {".".join(filter(None, (prefix, name_of(path)))): np.asarray(leaf) for path, leaf in leaves}


class GrowingArchive(contextlib.AbstractContextManager["GrowingArchive"]):
    """Arrays that grow along their first axis; the file appears, complete, when the context is left without an error.

    Until then each array lies in a temporary file beside it.
    """

    def __init__(self, path: Path) -> None:
        """Makes the folder of the temporary files."""
        self._path, self._stack = path, contextlib.ExitStack()
        folder = tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-")
        self._folder = Path(self._stack.enter_context(folder))
        self._parts: dict[str, tuple[BinaryIO, np.dtype, tuple[int, ...]]] = {}

    def append(self, name: str, rows: Any) -> None:
        """Adds rows [n, ...] to an array, whose dtype and shape are those of its first rows."""
        rows = np.ascontiguousarray(rows)
        if name not in self._parts:
            file = self._stack.enter_context((self._folder / str(len(self._parts))).open("w+b"))
            self._parts[name] = file, rows.dtype, (0, *rows.shape[1:])
        file, dtype, (count, *shape) = self._parts[name]
        with naming(self._path):
            file.write(rows.tobytes())
        self._parts[name] = file, dtype, (count + len(rows), *shape)

    def finish(self, **whole: Any) -> None:
        """Writes the archive: all that has grown, and further arrays that are given whole."""
        unfinished = self._folder / "archive.npz"
        with naming(self._path):
            grown = {name: _mapped(*part) for name, part in self._parts.items()}
            np.savez_compressed(unfinished, **grown, **whole)
            unfinished.replace(self._path)

    def __exit__(self, *exception: object) -> None:
        self._stack.close()


def _mapped(file: BinaryIO, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """The array in a file, which is not read into memory."""
    file.flush()
    return np.memmap(file, dtype, "r", shape=shape) if math.prod(shape) else np.empty(shape, dtype)
