"""Damaged data sets in `.npz` files: each is refused in a sentence, or has whole columns, and those that were saved."""

import functools
import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lab.fuzz import banks, edits
from lab.fuzz.judging import Fault, answered, check_sentence
from train.data import dataset

SECONDS = 2.0  # of computing, for one mutant
ROWS, EPISODES = 40, 8


class Mutant(NamedTuple):
    """The bytes of a file."""

    content: bytes
    is_changed: bool = False  # whether it was written with other arrays, not damaged afterwards

    def write(self, folder: Path) -> Path:
        """Writes the file."""
        path = folder / "data.npz"
        path.write_bytes(self.content)
        return path


@functools.cache
def original() -> dict[str, np.ndarray]:
    """The arrays of a data set, with its metadata."""
    dice = np.random.default_rng(0)
    transitions = {
        "observation.vector": dice.random((ROWS, 3), np.float32),
        "observation.action_mask": dice.random((ROWS, 4)) < 0.5,
        "action": dice.integers(0, 4, ROWS, np.int32),
        "reward": dice.random(ROWS, np.float32),
        "terminated": np.arange(ROWS) % 5 == 4,
        "truncated": np.zeros(ROWS, bool),
        "episode": np.arange(ROWS, dtype=np.int32) // 5,
        "agent": np.zeros(ROWS, np.int32),
    }
    trajectories = {
        "final_observation.vector": dice.random((EPISODES, 3), np.float32),
        "start": np.arange(0, ROWS, 5),
        "scenario": np.arange(EPISODES, dtype=np.int32),
    }
    metadata = json.dumps({"format": dataset.FORMAT, "env": "LifeOps-v0", "episodes": EPISODES})
    return {**transitions, **trajectories, "metadata": np.array(metadata)}


@functools.cache
def _content() -> bytes:
    """The file of the original."""
    return banks.packed(original())


def judge(mutant: Mutant, folder: Path) -> str:
    """The message with which a mutant is refused; "" for one that is loaded as it should be.

    Raises:
        Fault: for whatever else comes of it.
    """
    path = mutant.write(folder)
    with answered(SECONDS):
        try:
            arrays, metadata = dataset.load(path)
        except ValueError as error:
            check_sentence(str(error), str(path))
            return str(error)
    if metadata["format"] != dataset.FORMAT:
        raise Fault("other metadata")
    for like, names in {"action": ("reward", "terminated", "agent"), "start": ("final_observation.vector",)}.items():
        if any(len(arrays[name]) != len(arrays[like]) for name in names if name in arrays):
            raise Fault("columns of several lengths")
    right = {name: array for name, array in original().items() if name != "metadata"}
    is_right = arrays.keys() == right.keys() and all(np.array_equal(arrays[name], right[name]) for name in right)
    if not mutant.is_changed and not is_right:
        raise Fault("other arrays than those that were saved")
    return ""


def _columns(dice: random.Random) -> Mutant:
    """Columns that are left out, added, renamed or exchanged, in an archive of any kind."""
    members = edits.rearranged(dice, original())
    how = dice.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    return Mutant(banks.packed(members, compression=how) if isinstance(members, dict) else b"", is_changed=True)


def _arrays(dice: random.Random) -> Mutant:
    """Columns of other dtypes, shapes and numbers."""
    arrays = dict(original())
    for name in dice.sample([name for name in arrays if name != "metadata"], dice.choice((1, 1, 2))):
        arrays[name] = edits.array(dice, arrays[name], (*edits.DTYPES, ">i4", object))
    return Mutant(banks.packed(arrays), is_changed=True)


def _metadata(dice: random.Random) -> Mutant:
    """Other metadata, or text that is none."""
    found = edits.changed(dice, json.loads(str(original()["metadata"])), edits.rearranged, edits.replaced)
    text = json.dumps(found, default=str, skipkeys=True)
    odd = ("", "[" * 99_999, '{"format":' * 9_999, "nan", "1" * 9_999)
    chosen = np.array(dice.choice((text, text, text, dice.choice(odd))))
    return Mutant(banks.packed({**original(), "metadata": chosen}), is_changed=True)


def _bombs(dice: random.Random) -> Mutant:
    """Columns that unpack to much more than they weigh, or declare more than they hold."""
    name, size = dice.choice(("reward", "observation.more")), banks.MEGABYTES * 2**20
    whole = banks.npy(np.zeros(ROWS, np.float32))
    bombs = (
        lambda: whole + bytes(size),
        lambda: whole.replace(b"(40,)", b"(4" + dice.choice((b"0" * 9, b"0" * 18)) + b",)"),
        lambda: banks.npy(np.zeros((ROWS, size // ROWS), np.int8)),
        lambda: bytes(size),
    )
    return Mutant(banks.packed({**original(), name: dice.choice(bombs)()}), is_changed=True)


DAMAGES: dict[str, Callable[[random.Random], Mutant]] = {
    "flipped": lambda dice: Mutant(edits.flipped(dice, _content())),
    "cut": lambda dice: Mutant(edits.cut(dice, _content())),
    "columns": _columns,
    "arrays": _arrays,
    "metadata": _metadata,
    "bombs": _bombs,
}
