"""Damaged checkpoints: the newest that is whole is restored as it was written, or none, in words."""

import atexit
import functools
import json
import random
import shutil
import tempfile
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxenv.core import Environment
from lab.fuzz import edits
from lab.fuzz.judging import Fault, answered, check_sentence
from train.lanes import Lanes
from train.learning.algorithm import Algorithm
from train.run.group import Group
from train.run.job import ALONE, Job
from train.save.arrays import by_name, digest
from train.save.checkpoint import CheckpointError, Checkpoints
from train.save.description import Progress
from train.save.folder import RunFolder
from train.settings.config import Config
from train.settings.groups import Network

SECONDS = 4.0  # of computing, for one mutant, without Orbax's own threads
STEPS = (3, 8)
CONFIG = Config(env="LifeOps-v0", network=Network(hidden=(8,)))
SCENARIOS = "0" * 16


class Mutant(NamedTuple):
    """Changes to the folder of a run."""

    edits: tuple[Callable[[Path], Any], ...]

    def write(self, folder: Path) -> Path:
        """Writes the folder as it was, then changes it."""
        path = folder / "run"
        shutil.copytree(_original(), path)
        for edit in self.edits:
            edit(path / "checkpoints")
        return path


def state(step: int) -> Any:
    """A state with arrays of the kinds that training has, with other numbers at each step."""
    dice = np.random.default_rng(step)
    weights = {"kernel": dice.random((40, 32), np.float32), "bias": dice.random(32, np.float32)}
    envs = (dice.integers(0, 9, 5, np.int8), dice.random(7) < 0.5, np.zeros((4, 0), np.uint16))
    return {"weights": weights, "count": np.int32(step), "envs": envs, "key": jax.random.key(step)}


def progress(step: int) -> Progress:
    """How far the run was at a step."""
    return Progress(superstep=step, env_steps=step * 1000, seconds=step / 8, scenarios=SCENARIOS)


@functools.cache
def _original() -> Path:
    """A run folder with a checkpoint of each step, which lasts as long as the process."""
    run = RunFolder(new_folder() / "run")
    run.path.mkdir()
    run.write_config(CONFIG)
    run.policy.write_bytes(b"written after the first checkpoint")
    with Checkpoints(run.checkpoints, CONFIG) as checkpoints:
        for step in STEPS:
            checkpoints.save(state(step), progress(step))
    return run.path


def new_folder() -> Path:
    """A folder that lasts as long as the process."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def restore(path: Path) -> tuple[Any, Progress]:
    """State and progress as `--resume` reads them, of an algorithm whose state needs no program."""
    algorithm: Any = types.SimpleNamespace(
        init=lambda *_, **__: state(0),
        SPECS=None,
        training_bank=lambda *_, **__: types.SimpleNamespace(fingerprint=lambda floats=True: SCENARIOS),
    )
    found: Algorithm = algorithm
    env: Environment = algorithm
    group = Group(Job(found, CONFIG, env, None, {ALONE: CONFIG}, Lanes()))
    with group.checkpoints(RunFolder(path)) as checkpoints:
        return group.restore_or_begin(checkpoints)


def judge(mutant: Mutant, folder: Path) -> str:
    """The message with which a mutant is refused; "" for one of which a checkpoint is restored as it was written.

    Raises:
        Fault: for whatever else comes of it.
    """
    _prepare()
    path = mutant.write(folder)
    newest_is_there = (path / "checkpoints" / str(STEPS[-1])).is_dir()
    with answered(SECONDS), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found, where = restore(path)
        except CheckpointError as error:
            check_sentence(str(error), str(path))
            return str(error)
    said = [str(each.message) for each in told if "in its place" in str(each.message)]
    for message in said:
        check_sentence(message, str(path))
    if where.superstep not in STEPS or where != progress(where.superstep):
        raise Fault(f"it goes on from {where}")
    if where.superstep != STEPS[-1] and newest_is_there and not said:
        raise Fault("the older checkpoint without a word")
    right = by_name(state(where.superstep))
    for name, array in by_name(found).items():
        if array.dtype != right[name].dtype or not np.array_equal(array, right[name]):
            raise Fault(f"{name} is not what was written")
    return ""


@functools.cache
def _prepare() -> None:
    """Compiles and starts the programs that only the first checkpoint waits for."""
    with tempfile.TemporaryDirectory() as folder:
        restore(Mutant(()).write(Path(folder)))


def _place(dice: random.Random, *, is_file: bool) -> Path:
    """A file, or also a folder, of the checkpoints, mostly of the newest; relative to them."""
    root = _original() / "checkpoints"
    step = root / str(dice.choice((STEPS[0], *[STEPS[-1]] * 3)))
    return dice.choice([each.relative_to(root) for each in sorted(step.rglob("*")) if each.is_file() or not is_file])


def _bytes(dice: random.Random, change: Callable[[random.Random, bytes], bytes]) -> Mutant:
    """The bytes of one file, or of a few, changed."""

    def edit(place: Path, seed: float) -> Callable[[Path], Any]:
        return lambda root: (root / place).write_bytes(change(random.Random(seed), (root / place).read_bytes()))

    return Mutant(tuple(edit(_place(dice, is_file=True), dice.random()) for _ in range(dice.choice((1, 1, 3)))))


def _moved(dice: random.Random) -> Mutant:
    """A file or folder that is gone, empty, a link to itself, something else, or there under another name too."""
    here, there = _place(dice, is_file=False), _original() / "checkpoints" / _place(dice, is_file=False)
    how = dice.choice(("gone", "empty", "loop", "another", "extra"))
    beside = dice.random() < 0.5
    name = dice.choice(("9", "007", "-1", "99999999999999999999", "²", "8x", "8.orbax-checkpoint-tmp-3", ".DS_Store"))

    def edit(root: Path) -> None:
        target = root / (here if how != "extra" else here.with_name(name) if beside else name)
        was_folder = target.is_dir()
        if target.exists():
            shutil.rmtree(target) if was_folder else target.unlink()
        if how == "loop":
            target.symlink_to(target)
        elif how == "empty":
            target.mkdir() if was_folder else target.write_bytes(b"")
        elif how in ("another", "extra"):
            shutil.copytree(there, target) if there.is_dir() else shutil.copy(there, target)

    return Mutant((edit,))


def _described(dice: random.Random, is_sealed: bool) -> Mutant:
    """Its description with other values, types and names, under its checksum or one made anew."""
    step = dice.choice((STEPS[0], STEPS[-1], STEPS[-1]))
    source = json.loads((_original() / f"checkpoints/{step}/run/metadata").read_text("utf-8"))
    info = edits.changed(dice, source, edits.rearranged, edits.replaced)
    if isinstance(info, dict):
        info = {str(name): value for name, value in info.items()}
        if is_sealed:
            info = {name: source.get(name, value) if name in KEPT else value for name, value in info.items()}
            rest = {name: value for name, value in info.items() if name != "digest"}
            info = {**rest, "digest": digest(json.loads(json.dumps(rest, default=str, skipkeys=True)))}
    text = json.dumps(info, default=str, skipkeys=True)
    return Mutant((lambda root: (root / f"{step}/run/metadata").write_text(text, "utf-8", "surrogatepass"),))


KEPT = ("env_steps", "seconds", "digests")  # the entries that nothing else holds, where a description is sealed anew

DAMAGES: dict[str, Callable[[random.Random], Mutant]] = {
    "flipped": functools.partial(_bytes, change=edits.flipped),
    "cut": functools.partial(_bytes, change=edits.cut),
    "moved": _moved,
    "description": functools.partial(_described, is_sealed=False),
    "description, sealed": functools.partial(_described, is_sealed=True),
}
