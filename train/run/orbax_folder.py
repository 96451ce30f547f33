"""A folder of checkpoints as Orbax keeps it: arrays by name and a description, by the number of a step."""

import contextlib
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orbax.checkpoint as ocp

from jaxenv.core.names import short
from train.run.checkpoint_parts import refused_file
from train.run.orbax_errors import DELAY, cause, quiet_reading, quiet_writing
from train.run.writing import NotWritten

MAX_KEPT = 2  # the newest ones; the older one is a spare in case the newest is damaged later


class CheckpointError(ValueError):
    """A checkpoint that is broken or belongs to another run."""


class Damaged(CheckpointError):
    """A checkpoint that cannot be read, or is not what was written."""


class OrbaxFolder:
    """What is written is complete or not there; what cannot be read or written is one error of ours."""

    def __init__(self, path: Path) -> None:
        """Opens the folder, and removes what a killed run left unfinished.

        Raises:
            CheckpointError: if Orbax cannot list what is in it, or may not open it.
            NotWritten: if it cannot be made.
        """
        self.path = path
        quiet_writing()
        self._manager = _opened(path)

    @property
    def is_empty(self) -> bool:
        """Whether there is no checkpoint yet, complete or being written."""
        return self._manager.latest_step() is None

    def steps(self) -> list[int]:
        """The steps of the checkpoints that may be whole."""
        return list(self._manager.all_steps())

    def write(self, step: int, arrays: dict[str, Any], description: dict[str, Any]) -> None:
        """Writes a checkpoint in the background; the first one is waited for.

        Raises:
            NotWritten: if it cannot be written, or the one before it could not; those that are complete stay.
        """
        is_first = self.is_empty
        parts = ocp.args.Composite(state=ocp.args.StandardSave(arrays), run=ocp.args.JsonSave(description))
        with self._writing(self.path / str(step)):
            self._manager.save(step, args=parts)
            if is_first:
                self._manager.wait_until_finished()

    def description(self, step: int) -> Any:
        """What was written beside the arrays; Damaged if it cannot be read."""
        return self._read(step, "run", ocp.args.JsonRestore())

    def arrays(self, step: int, like: dict[str, Any]) -> dict[str, Any]:
        """The arrays, on the devices of those by the same names in `like`; Damaged if they cannot be read."""
        return self._read(step, "state", ocp.args.StandardRestore(like))

    def damaged(self, step: int, reason: str) -> Damaged:
        """The error for a checkpoint that is not what was written."""
        where = self.path / str(step)
        return Damaged(f"{where} is damaged, or from another program ({short(reason.splitlines()[0])})")

    def put_aside(self, steps: Sequence[int]) -> None:
        """Moves checkpoints out of the way of what will be written, to folders beside this one."""
        for step in steps:
            place = self.path.with_name(f"damaged-{self.path.name}-{step}")
            shutil.rmtree(place, ignore_errors=True)
            (self.path / str(step)).rename(place)
        if steps:
            self._manager.reload()

    def close(self, *, has_failed: bool) -> None:
        """Waits for what is being written; where something failed already, that is what is told."""
        with contextlib.suppress(Exception) if has_failed else self._writing(self.path):
            self._manager.close()
        if has_failed:
            self._remove_unfinished()

    def _read(self, step: int, item: str, how: Any) -> Any:
        """One part of a checkpoint."""
        try:
            with quiet_reading():
                return self._manager.restore(step, args=ocp.args.Composite(**{item: how}))[item]
        except Exception as error:  # Orbax has no common error: whatever it raises, it could not read its own files
            raise self.damaged(step, str(error) or type(error).__name__) from error

    @contextlib.contextmanager
    def _writing(self, path: Path) -> Iterator[None]:
        """Words what Orbax raises when it cannot write, and leaves nothing unfinished."""
        try:
            yield
        except Exception as error:  # Orbax has no common error, and those of its threads come out here
            self._remove_unfinished()
            raise NotWritten(path, cause(error)) from error

    def _remove_unfinished(self) -> None:
        """Removes what a failed write has left, which would be in the way on a full disk."""
        time.sleep(DELAY)
        for path in self.path.glob("*.orbax-checkpoint-tmp*"):
            shutil.rmtree(path, ignore_errors=True)


def _opened(path: Path) -> ocp.CheckpointManager:
    """Orbax's manager of a folder, whose descriptions it reads at once."""
    if found := refused_file(path):
        file, problem = found
        place = path / file.relative_to(path).parts[0]
        raise CheckpointError(f"{file} is {problem}: move {place} elsewhere to resume")
    options = ocp.CheckpointManagerOptions(max_to_keep=MAX_KEPT, cleanup_tmp_directories=True)
    try:
        return ocp.CheckpointManager(path.absolute(), options=options)
    except OSError as error:
        raise NotWritten(path, cause(error)) from error
    except Exception as error:  # Orbax has no common error
        reason = short(str(error) or type(error).__name__)
        raise CheckpointError(f"{path} has a damaged checkpoint: move it elsewhere to resume ({reason})") from error
