"""A dataset as one of Minari (minari.farama.org), whose package and Gymnasium are imported here alone."""

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from train.data.dataset import load


def minari() -> ModuleType:
    """The package; a ValueError names the command that installs it."""
    try:
        return importlib.import_module("minari")
    except ImportError as error:
        raise ValueError("--format minari: minari is not installed; install it with pip install minari") from error


def convert(path: Path, name: str) -> None:
    """Adds a dataset file to the local datasets of Minari, with an episode for each trajectory.

    Args:
        path: the file, which is read whole.
        name: of the dataset there, such as `lifeops/ppo-v0`.
    """
    package, spaces = minari(), importlib.import_module("gymnasium.spaces")
    episode_buffer = importlib.import_module("minari.data_collector").EpisodeBuffer
    arrays, metadata = load(path, most=2**63)
    ends = np.append(arrays["start"][1:], len(arrays["action"]))
    fields, last = _fields(arrays, "observation"), _fields(arrays, "final_observation")
    buffers = [
        episode_buffer(
            id=number,
            observations={key: np.append(x[start:end], last[key][[number]], axis=0) for key, x in fields.items()},
            actions=arrays["action"][start:end],
            rewards=arrays["reward"][start:end],
            terminations=arrays["terminated"][start:end],
            truncations=arrays["truncated"][start:end],
            infos={},
        )
        for number, (start, end) in enumerate(zip(arrays["start"], ends, strict=True))
    ]
    package.create_dataset_from_buffers(
        dataset_id=name,
        buffer=buffers,
        observation_space=spaces.Dict({key: _space(spaces, x) for key, x in fields.items()}),
        action_space=spaces.Discrete(metadata["num_actions"]),
        algorithm_name=metadata["policy"].get("algorithm"),
        description=f"{metadata['env']}, scenarios {metadata['scenarios']}",
    )


def _fields(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Field -> array of those under a prefix."""
    named = {name.partition(".")[::2]: array for name, array in arrays.items()}
    return {key or prefix: array for (group, key), array in named.items() if group == prefix}


def _space(spaces: Any, array: np.ndarray) -> Any:
    """The space of one row of an array: truth values, or numbers without bounds."""
    shape = array.shape[1:]
    if array.dtype == bool:
        return spaces.Box(False, True, shape, bool)
    if np.issubdtype(array.dtype, np.integer):
        info = np.iinfo(array.dtype)
        return spaces.Box(info.min, info.max, shape, array.dtype)
    return spaces.Box(-np.inf, np.inf, shape, array.dtype)
