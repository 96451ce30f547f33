"""Storage of a run: checkpoints and policies, and the state before an update that failed."""

import contextlib
import dataclasses
import shutil
from collections.abc import Callable, Iterator
from typing import Any

from train.processes import is_writer, wait_for_all
from train.run.group import Group
from train.run.outputs import FailedUpdate, NotFinite, Outputs
from train.save.checkpoint import Checkpoints, Finished
from train.save.description import Progress
from train.save.folder import RunFolder

OnStart = Callable[[Progress | None], None]
"""Called once before compilation with the progress of the checkpoint that a run resumes from, or None for a new run."""

LEARNED = ("weights", "optimizer", "target")
"""Parts of a run's state that are finite in its checkpoints. Those of a population have members that failed, and the
state in `not_finite` is of a run that is about to."""


@contextlib.contextmanager
def opened(group: Group, folder: RunFolder | None, name: str = "checkpoints") -> Iterator[Checkpoints | None]:
    """The checkpoints of a group, in the locked folder of its run; None where it writes nothing."""
    if folder is None:
        yield None
        return
    finite = LEARNED if group.is_alone else ()
    with Checkpoints(folder.path / name, group.config, finite=finite) as checkpoints:
        checkpoints.check_begun(RunFolder(folder.path / next(iter(group.named))).policy)
        yield checkpoints


def restore_or_begin(
    group: Group, checkpoints: Checkpoints | None, *, may_be_finished: bool = False, on_start: OnStart | None = None
) -> tuple[Any, Progress]:
    """State and progress of the newest checkpoint, or of a new run, which may start from a policy.

    Raises:
        Finished: if the run has done all its steps, unless it `may_be_finished`.
    """
    config, progress = group.config, checkpoints and checkpoints.newest()
    if progress is not None and progress.superstep >= config.num_supersteps and not may_be_finished:
        raise Finished(
            f"the run is finished: {progress.env_steps:,} of {config.total_steps:,} steps are done; "
            "continue it with a greater total_steps"
        )
    if on_start is not None:
        on_start(progress)
    return group.restore(checkpoints, progress) if checkpoints and progress else group.begin()


def write_both(checkpoints: Checkpoints | None, state: Any, progress: Progress, outputs: Outputs) -> None:
    """Writes a checkpoint and the policies.

    The first checkpoint comes before a mark and the policies, so that one of them without it shows that checkpoints are
    lost; a later one comes after the policies, so that a run whose last checkpoint is there has its last policy.
    """
    if checkpoints is None:
        return
    is_first = checkpoints.is_empty
    if is_first:
        checkpoints.save(state, progress)
        checkpoints.mark_begun()
    outputs.save(state)
    if not is_first:
        checkpoints.save(state, progress)


def not_finite(
    failed: FailedUpdate, group: Group, state: Any, progress: Progress, folder: RunFolder | None
) -> NotFinite:
    """The error for an update of a single run that failed, once the state before it is saved."""
    config, updates, sizes = group.config, int(state.updates), group.config.rollout
    problem = f"not finite in update {updates + 1} of {config.num_updates}: {failed}. Training has stopped"
    if folder is None:
        return NotFinite(problem)
    if is_writer():
        shutil.rmtree(folder.not_finite, ignore_errors=True)  # of an earlier attempt
    wait_for_all("not_finite removed")
    with Checkpoints(folder.not_finite, config) as dump:
        done = {"superstep": updates // sizes.updates_per_superstep, "env_steps": updates * sizes.batch_size}
        dump.save(state, dataclasses.replace(progress, **done))
    return NotFinite(
        f"{problem}; the state before that update is in {folder.not_finite}, checkpoints and policy are as they were "
        "last written"
    )
