"""What checkpoints must have before they are believed: files that can be read, descriptions, checksums, numbers."""

import math
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from train.run.digests import digest

MAX_DESCRIPTION = 64 * 2**20  # bytes of a file that holds no arrays
_ARRAYS = "d"  # what TensorStore calls a folder of files that hold them


def refused_file(folder: Path) -> tuple[Path, str] | None:
    """The first thing below a folder that Orbax may not open, and what it is; None where there is none.

    That is what is neither a regular file nor a folder, such as a pipe, which would be waited for, and a description
    that would fill the memory. A link counts as what it leads to; one that leads nowhere is an error of Orbax.
    """
    for path, found in _files_below(folder):
        if not stat.S_ISREG(found.st_mode):
            return path, "not a regular file"
        if found.st_size > MAX_DESCRIPTION and path.parent.name != _ARRAYS:
            return path, f"more than {MAX_DESCRIPTION} bytes"
    return None


def describes(info: Any, progress: list[str], step: int) -> bool:
    """Whether this is what is written beside the arrays of a step, with the numbers of a progress."""
    if not isinstance(info, dict) or not {"config", "shapes", *progress} <= info.keys():
        return False
    counts = (info["superstep"], info["env_steps"])
    return (
        all(isinstance(info.get(name, {}), dict) for name in ("config", "shapes", "digests"))
        and all(type(count) is int and count >= 0 for count in counts)
        and info["superstep"] == step  # or it is the description of another one
        and isinstance(info["seconds"], int | float)
        and 0 <= info["seconds"] < math.inf
        and isinstance(info["scenarios"], str)
        and type(info.get("processes", 1)) is int
    )


def is_as_written(info: Mapping[str, Any]) -> bool:
    """Whether a description has its checksum."""
    try:
        return digest({name: value for name, value in info.items() if name != "digest"}) == info.get("digest")
    except RecursionError:  # of values in each other without end
        return False


def lacks_digests(info: Mapping[str, Any]) -> bool:
    """Whether a description has no checksums of arrays, although one process wrote it."""
    return info.get("processes", 1) == 1 and "digests" not in info


def not_finite(arrays: Mapping[str, Any], parts: Sequence[str]) -> str | None:
    """The first array in such parts of a state that has a number which is not finite, if one has."""
    below = tuple(f"{part}." for part in parts)
    named = (name for name in arrays if name in parts or name.startswith(below))
    floats = (name for name in named if jnp.issubdtype(arrays[name].dtype, jnp.floating))
    return next((name for name in floats if not np.isfinite(np.asarray(arrays[name])).all()), None)


def _files_below(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Everything in a folder, and in those in it, that is no folder; each folder once, however links lead to it."""
    waiting, known = [folder], set()
    while waiting:
        for entry in _entries(waiting.pop()):
            try:
                found = entry.stat()
            except OSError:  # a link that leads nowhere, or what another process has removed
                continue
            if not stat.S_ISDIR(found.st_mode):
                yield Path(entry.path), found
            elif (found.st_dev, found.st_ino) not in known:
                known.add((found.st_dev, found.st_ino))
                waiting.append(Path(entry.path))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """What a folder holds, by name; nothing where it cannot be read, which is an error of Orbax."""
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []
