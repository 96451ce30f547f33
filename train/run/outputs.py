"""The outputs of a run: records and files of each member, written while the next superstep runs, and its outcome."""

import contextlib
import dataclasses
import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from train.log.metrics import not_finite, reduce_metrics
from train.log.recorder import Callback, Recorder
from train.networks.policy import LearnedPolicy
from train.processes import is_writer
from train.run.group import Group
from train.run.progress import Bar, Clock
from train.save.arrays import copied
from train.save.description import Progress
from train.save.folder import RunFolder
from train.save.policy_file import read_header, save_policy
from train.save.writing import make_folder


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result of a run.

    >>> import numpy as np, train
    >>> curve = {"return": np.array([-20.5, 3.25])}
    >>> outcome = train.Outcome(None, 8_192, 2.0, 4.5, stopped=False, metrics=curve)  # `train.train` gives one
    >>> float(outcome.metrics["return"][-1]), outcome.env_steps / outcome.seconds
    (3.25, 4096.0)
    """

    policy: LearnedPolicy  # as it was at the end; `jaxenv.evaluate` and `train.save_policy` take it
    env_steps: int  # of the whole run, also of its parts before it was resumed
    seconds: float  # from the first superstep on, including validation and checkpoints
    compile_seconds: float  # before the first superstep: compilation, and for a moment the first bank and episodes
    stopped: bool  # interrupted by a signal or the callback
    metrics: dict[str, np.ndarray]  # name -> [supersteps], as in `metrics.jsonl`; NaN where a record has nothing
    failure: str | None = None  # of a member of a population: the terms of the loss that were not finite


class NotFinite(ArithmeticError):
    """A loss or gradient is NaN or infinite, so training cannot continue.

    >>> import train
    >>> try:
    ...     raise train.NotFinite("not finite in update 3 of 64: policy_loss")  # as `train.train` does
    ... except train.NotFinite as failed:
    ...     print(failed)
    not finite in update 3 of 64: policy_loss
    """


class FailedUpdate(ArithmeticError):
    """An update whose loss or gradient was not finite, with these terms; the state does not change from there on."""


Save = Callable[[Path, LearnedPolicy, float], None]
"""Writes (file, policy, its validation return)."""


class BestPolicy:
    """Writes each policy that validates better than all before; of equal ones the first stays.

    The file contains its own validation return, so a resumed run continues from there, and any policy that a killed run
    wrote beyond its checkpoint is right all the same.
    """

    def __init__(self, path: Path, save: Save, policy: LearnedPolicy) -> None:
        """Reads the file, if there is one, and compiles the copying of weights.

        Args:
            path: the file.
            save: writes it.
            policy: an example of those that will come.

        Raises:
            PolicyError: if the file is broken.
        """
        self._path, self._save = path, save
        self.validation_return = read_header(path)["validation_return"] if path.exists() else -math.inf
        self.candidate(policy)

    def candidate(self, policy: LearnedPolicy) -> Callable[[float], None]:
        """A function to call with the validation return of this policy, once it is computed.

        By then training has gone on and its arrays are donated, so the weights are copied now.
        """
        return functools.partial(self._offer, copied(policy))

    def _offer(self, policy: LearnedPolicy, validation_return: float) -> None:
        """Writes a policy if it is the best so far; one whose return is NaN is not."""
        if validation_return > self.validation_return:
            self._save(self._path, policy, validation_return)
            self.validation_return = validation_return


class Member:
    """One member's records and files, or those of a single run; each record is written one superstep late."""

    def __init__(self, of: "Outputs", number: int, stack: contextlib.ExitStack, state: Any, progress: Progress) -> None:
        """Opens its folder, which a member has by its name in that of the run.

        Args:
            of: the outputs of the group that it belongs to.
            number: its place in the group.
            stack: closes its files.
            state: of the group.
            progress: of the group.
        """
        group, folder = of.group, of.folder
        self.name, self._config = list(group.named.items())[number]
        self._group, self._number, self._clock = group, number, of.clock
        self.folder = None if folder is None else RunFolder(folder.path / self.name)
        if self.folder is not None and not group.is_alone:
            make_folder(self.folder.path)
            self.folder.write_config(self._config)
        gaps = not group.is_alone  # supersteps after a failed one have no record
        self.recorder = Recorder(stack, self._config, self.folder, progress, callback=of.callback, may_have_gaps=gaps)
        self._source = {"scenarios": progress.scenarios, "algorithm": group.algorithm.name}
        self._best = None
        if self.folder is not None and is_writer():
            self._best = BestPolicy(self.folder.best_policy, self._save, group.policy(state, number))
        self._pending: tuple[int, Any, jax.Array | None, Callable[[float], None] | None] | None = None
        self._end: tuple[int, float] | None = None  # environment steps and seconds at its failed update
        self.failure: str | None = None

    def add(self, superstep: int, state: Any, metrics: Any, validation: jax.Array | None) -> None:
        """Takes the outputs of a superstep that still runs, and reports the one before.

        Args:
            superstep: its number.
            state: of the group after it.
            metrics: of the group's updates in it.
            validation: [] float32, the member's validation return after it; None if it is not validated.

        Raises:
            FailedUpdate: if an earlier superstep of a single run had one.
        """
        self.flush()
        if self.failure is None:
            keep = None
            if self._best is not None and validation is not None:
                keep = self._best.candidate(self._group.policy(state, self._number))
            self._pending = superstep, self._group.of_member(metrics, self._number), validation, keep

    def flush(self) -> None:
        """Waits for the superstep that is not reported yet, and writes its record.

        Raises:
            FailedUpdate: if it had one, in a single run; a member of a population stops there, and the others continue.
        """
        if self._pending is None:
            return
        (superstep, metrics, validation, keep), self._pending = self._pending, None
        failed = not_finite(metrics)
        validation_return = None if validation is None or failed else float(validation)
        record = {"superstep": superstep, **reduce_metrics(metrics), **self._clock.latest}
        self.recorder.write({**record, "validation_return": validation_return})
        if validation_return is not None and keep is not None:
            keep(validation_return)
        if failed:
            self.failure, self._end = ", ".join(failed), (self._clock.env_steps, self._clock.seconds)
            if self._group.is_alone:
                raise FailedUpdate(self.failure)

    def save(self, state: Any) -> None:
        """Writes the policy; that of a member that failed stays as it was before."""
        if self.folder is not None and self.failure is None and is_writer():
            self._save(self.folder.policy, self._group.policy(state, self._number))

    def outcome(self, state: Any, compile_seconds: float, *, stopped: bool) -> Outcome:
        """The outcome of the member."""
        length = self._end or (self._clock.env_steps, self._clock.seconds)
        policy, metrics = self._group.policy(state, self._number), self.recorder.arrays()
        return Outcome(policy, *length, compile_seconds, stopped=stopped, metrics=metrics, failure=self.failure)

    def _save(self, path: Path, policy: LearnedPolicy, validation_return: float | None = None) -> None:
        save_policy(path, policy, self._config, **self._source, validation_return=validation_return)


class Outputs:
    """The outputs of all members of a group, and the clock and the progress bar that they share."""

    def __init__(
        self,
        stack: contextlib.ExitStack,
        group: Group,
        folder: RunFolder | None,
        state: Any,
        progress: Progress,
        *,
        callback: Callback | None = None,
        show_progress: bool = True,
    ) -> None:
        """Opens the folders of the members.

        Args:
            stack: closes them, with the error if the run failed, which some outputs record.
            group: the members.
            folder: of the run; None writes nothing.
            state: of the group.
            progress: of the group.
            callback: called with each record.
            show_progress: whether to draw the progress bar.
        """
        self.group, self.folder, self.callback, config = group, folder, callback, group.config
        self.clock = Clock(config.steps_per_superstep, env_steps=progress.env_steps, seconds=progress.seconds)
        self._members = [Member(self, number, stack, state, progress) for number in range(len(group.named))]
        self._bar = stack.enter_context(Bar(config, progress.env_steps, is_shown=show_progress and is_writer()))

    @property
    def is_stop_requested(self) -> bool:
        """Whether the callback requests the end of the run."""
        return any(each.recorder.is_stop_requested for each in self._members)

    def add(self, superstep: int, state: Any, metrics: Any, validations: list[jax.Array | None]) -> None:
        """Takes the outputs of a superstep that still runs for each, and reports the one before."""
        for each, validation in zip(self._members, validations, strict=True):
            each.add(superstep, state, metrics, validation)
        self._show()

    def save(self, state: Any) -> None:
        """Writes the policy of each."""
        for each in self._members:
            each.save(state)

    def flush(self) -> None:
        """Reports all supersteps, and waits until the disk has their records."""
        for each in self._members:
            each.flush()
            each.recorder.flush()
        self._show()

    def outcomes(self, state: Any, compile_seconds: float, *, stopped: bool) -> dict[str, Outcome]:
        """Name -> outcome."""
        return {each.name: each.outcome(state, compile_seconds, stopped=stopped) for each in self._members}

    def _show(self) -> None:
        """Moves the progress bar to the means of their last records, if there are any."""
        records = [each.recorder.records[-1] for each in self._members if each.recorder.records]
        if records:
            newest = max(records, key=lambda record: record["superstep"])
            self._bar.show({**newest, **_means(records)})


def _means(records: list[dict[str, Any]]) -> dict[str, float | None]:
    """Name -> mean over the members that have it."""
    names = "return", "validation_return", "entropy"
    found = {name: [r[name] for r in records if r.get(name) is not None] for name in names}
    return {name: sum(values) / len(values) if values else None for name, values in found.items()}
