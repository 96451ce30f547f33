"""Checkpoints: everything that a run needs to resume, written atomically by Orbax.

A checkpoint holds the training state (weights, optimizer, environments, generated scenarios, keys) as arrays by name,
and as JSON the progress of the run, its settings (with those of the environment and its params), the fingerprint of
the scenarios that it started with, which must be the same when it resumes, and checksums of all of it. Where the newest
one is damaged, the one before it is restored.
"""

import contextlib
import dataclasses
import shutil
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp

from jaxenv.host.names import short
from train.processes import is_writer, wait_for_all
from train.save.arrays import by_name, copied, digest, digests, empty, from_names, name_of, shapes
from train.save.description import PROGRESS, Progress, problem_of
from train.save.orbax_manager import CheckpointError, opened, quiet_reading, remove_unfinished, writing
from train.save.writing import VERSION, naming, write_atomic, written_by
from train.settings.config import Config
from train.settings.serialize import differences, from_json, immutable, in_words, to_json


class Damaged(CheckpointError):
    """A checkpoint that cannot be read, or differs from the written one."""


class Finished(CheckpointError):
    """A run that has done all its steps, so that there is nothing to resume.

    >>> import train
    >>> try:
    ...     raise train.Finished("the run is finished")  # as `train.train` with the `run_dir` of such a run
    ... except train.Finished:
    ...     print("nothing is left to do")
    nothing is left to do
    """


class Checkpoints(contextlib.AbstractContextManager["Checkpoints"]):
    """The checkpoints of one run, in one folder; leaving the context waits for pending writes."""

    def __init__(self, path: Path, config: Config, *, finite: tuple[str, ...] = ()) -> None:
        """Opens the folder, and removes unfinished files of a killed run.

        Args:
            path: the folder.
            config: the settings of the run.
            finite: parts of the state, such as its weights, in which a number that is not finite is damage.

        Raises:
            CheckpointError: if Orbax cannot list its contents, or may not open it.
            NotWritten: if it cannot be made.
        """
        self._path, self._config, self._finite = path, config, finite
        self._mark = path.with_name(f"{path.name}.begun")
        self._manager = opened(path)
        self._latest = time.monotonic()
        self._damaged: list[int] = []  # steps that were passed over

    def is_due(self) -> bool:
        """Whether `checkpoint_every` seconds have passed since the last checkpoint, or since the start."""
        return time.monotonic() - self._latest >= self._config.checkpoint_every

    @property
    def is_empty(self) -> bool:
        """Whether there is no checkpoint yet, complete or being written."""
        return self._manager.latest_step() is None

    def save(self, state: Any, progress: Progress) -> None:
        """Copies the state, which may be donated right after, and writes the copy in the background.

        Of several devices and processes each writes its own part. The first checkpoint is waited for, so that whatever
        a run writes after it says that there was one.

        Raises:
            NotWritten: if this checkpoint cannot be written, or the one before it could not; those that are complete
                stay.
        """
        self._latest = time.monotonic()
        arrays = copied(by_name(state))
        info = {**dataclasses.asdict(progress), "config": to_json(self._config), "shapes": shapes(arrays)}
        info |= {**VERSION, "processes": jax.process_count()}
        info["digests"] = digests(arrays, by_rows=jax.process_count() > 1)  # of several, none has all arrays
        info["digest"] = digest(info)
        is_first = self.is_empty
        parts = ocp.args.Composite(state=ocp.args.StandardSave(arrays), run=ocp.args.JsonSave(info))
        with writing(self._path, self._path / str(progress.superstep)):
            self._manager.save(progress.superstep, args=parts)
            if is_first:
                self._manager.wait_until_finished()

    def mark_begun(self) -> None:
        """Leaves a file beside the folder, which shows that there was a checkpoint should the folder be gone."""
        if is_writer() and not self._mark.exists():
            write_atomic(self._mark, b"the run has had a complete checkpoint\n")

    def check_begun(self, policy: Path) -> None:
        """A CheckpointError if there is no checkpoint although there was one: something is there that came after it.

        That is the file that `mark_begun` leaves, or the policy. Where there is a checkpoint, the file is left now.
        """
        if not self.is_empty:
            self.mark_begun()
            return
        later = next((path for path in (self._mark, policy) if path.exists()), None)
        if later is not None:
            raise CheckpointError(
                f"{self._path} has no checkpoint, although {later} was written after one: put it back, or start over "
                "in another folder"
            )

    def newest(self) -> Progress | None:
        """The progress of the newest checkpoint that can be read, or None if there is no checkpoint.

        Raises:
            CheckpointError: if none can be read, or if it was written by a run with other settings.
        """
        for step in self._steps():
            try:
                return self._progress(step)
            except Damaged as error:
                self._pass_over(step, error)
        return None

    def _progress(self, step: int) -> Progress:
        """The progress of a checkpoint of this run."""
        info, path = self._info(step), self._path / str(step)
        try:
            there, here = to_json(from_json(info["config"])), to_json(self._config)
        except (ValueError, TypeError) as error:
            raise CheckpointError(
                f"{path} comes from another version: {written_by(info)}; {short(str(error))}"
            ) from error
        differing = differences(immutable(there), immutable(here))
        if differing:
            raise CheckpointError(f"{path} belongs to another run: {in_words(differing)}")
        return Progress(**{name: info[name] for name in PROGRESS if name in info})

    def restore(self, progress: Progress, like: Any, *, start: Progress) -> tuple[Any, Progress]:
        """The state of a checkpoint and its progress; if it is damaged, those of the one before it.

        Args:
            progress: of the checkpoint.
            like: the structure of the state: a tree of arrays, or of their shapes and dtypes. Where these name a
                sharding, the state is read onto its devices, whatever the devices were that wrote it.
            start: the progress of a run that would start here, whose scenarios must be the same. Where their floats
                alone differ, it goes on with a warning: its own scenarios are in the state.

        Raises:
            CheckpointError: if none can be read, or it has other scenarios or shapes.
        """
        try:
            state = self._restore(progress, like, start)
        except Damaged as error:
            self._pass_over(progress.superstep, error)
            older = self.newest()
            assert older is not None  # or passing over would have raised
            return self.restore(older, like, start=start)
        self._put_damaged_aside()
        return state, progress

    def _restore(self, progress: Progress, like: Any, start: Progress) -> Any:
        """The state of one checkpoint, once its checksums are compared."""
        step, path = progress.superstep, self._path / str(progress.superstep)
        if start.scenarios != progress.scenarios:
            if not start.drawn or start.drawn != progress.drawn:
                there = short(progress.scenarios)
                raise CheckpointError(
                    f"{path} has other scenarios: their fingerprint is {there} there and {start.scenarios} here; "
                    f"{self._config.training.scenarios!r}, or the code that reads it, has changed since"
                )
            warnings.warn(
                f"{path} was written on another kind of processor: the bits that follow may differ", stacklevel=4
            )
        expected, info = jax.eval_shape(by_name, like), self._info(step)
        differing = differences(info["shapes"], shapes(expected))
        if differing:
            raise CheckpointError(f"{path} does not fit {self._config.env} as it is here: {in_words(differing)}")
        places = {name_of(path): leaf.sharding for path, leaf in jax.tree_util.tree_leaves_with_path(like)}
        blank = {name: empty(leaf, places[name]) for name, leaf in expected.items()}
        arrays = self._read(step, "state", ocp.args.StandardRestore(blank))
        self._check_arrays(step, arrays, info)
        return from_names(arrays, like)

    def _check_arrays(self, step: int, arrays: dict[str, Any], info: dict[str, Any]) -> None:
        """Damaged if an array differs from the written one, or has impossible numbers."""
        by_rows = info.get("processes", 1) > 1
        if by_rows or jax.process_count() == 1:  # of several, none has the arrays that one wrote
            found, expected = digests(arrays, by_rows=by_rows), info["digests"]
            if differing := [name for name in found if found[name] != expected.get(name)]:
                raise self._damage(step, f"{differing[0]} is not what was written")
        if name := _not_finite(arrays, self._finite):
            raise self._damage(step, f"{name} has numbers that are not finite")

    def _info(self, step: int) -> dict[str, Any]:
        """The JSON part of a checkpoint."""
        info = self._read(step, "run", ocp.args.JsonRestore())
        if problem := problem_of(info, step):
            raise self._damage(step, problem)
        return info

    def _read(self, step: int, item: str, how: Any) -> Any:
        """One part of a checkpoint; Damaged if it cannot be read."""
        try:
            with quiet_reading():
                return self._manager.restore(step, args=ocp.args.Composite(**{item: how}))[item]
        except Exception as error:  # Orbax has no common error: whatever it raises, it could not read its own files
            raise self._damage(step, str(error) or type(error).__name__) from error

    def _damage(self, step: int, reason: str) -> Damaged:
        """The error for a checkpoint that differs from the written one."""
        where = self._path / str(step)
        return Damaged(f"{where} is damaged, or from another program ({short(reason.splitlines()[0])})")

    def _pass_over(self, step: int, error: Damaged) -> None:
        """Goes on without a damaged checkpoint, and says so; raises the error where there is no older one."""
        self._damaged.append(step)
        older = self._steps()
        if not older:
            raise Damaged(f"{error}; start over in another folder") from error
        warnings.warn(f"{error}; in its place superstep {older[0]} is resumed", stacklevel=3)

    def _put_damaged_aside(self) -> None:
        """Moves checkpoints that are in the way of new ones to folders beside this one."""
        for step in self._damaged if is_writer() else ():
            place = self._path.with_name(f"damaged-{self._path.name}-{step}")
            shutil.rmtree(place, ignore_errors=True)
            with naming(place):
                (self._path / str(step)).rename(place)
        if self._damaged:
            wait_for_all("damaged checkpoints are aside")
            self._manager.reload()
        self._damaged = []

    def _steps(self) -> list[int]:
        """The supersteps of the checkpoints that may be whole, the newest first."""
        return sorted(set(self._manager.all_steps()) - set(self._damaged), reverse=True)

    def __exit__(self, kind: object, *exception: object) -> None:
        """Waits for unfinished writes; reports an earlier failure, if there is one."""
        if kind is None:
            with writing(self._path, self._path):
                self._manager.close()
        else:
            with contextlib.suppress(Exception):
                self._manager.close()
            remove_unfinished(self._path)


def _not_finite(arrays: Mapping[str, Any], parts: Sequence[str]) -> str | None:
    """The first array in such parts of a state that has a number which is not finite, if one has."""
    below = tuple(f"{part}." for part in parts)
    named = (name for name in arrays if name in parts or name.startswith(below))
    floats = (name for name in named if jnp.issubdtype(arrays[name].dtype, jnp.floating))
    return next((name for name in floats if not np.isfinite(np.asarray(arrays[name])).all()), None)
