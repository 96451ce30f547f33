"""A member of a population: its records, clock and files, as those of a run of its own."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax

from train.networks.policy import LearnedPolicy
from train.run.algorithm import Algorithm
from train.run.best_policy import BestPolicy
from train.run.checkpoint import Progress
from train.run.clock import Clock, MemberClock
from train.run.folder import RunFolder
from train.run.policy_file import save_policy
from train.run.recorder import Recorder
from train.run.reports import FailedUpdate, Reports
from train.run.runner import Outcome
from train.settings.config import Config


class Member:
    """One member's records, clock and files."""

    def __init__(
        self,
        algorithm: Algorithm,
        config: Config,
        folder: RunFolder | None,
        name: str,
        progress: Progress,
        clock: Clock,
        policy: LearnedPolicy,
    ) -> None:
        """Opens its folder.

        Args:
            algorithm: how it learns.
            config: its settings.
            folder: that of the population; None writes nothing.
            name: its name there.
            progress: of the population.
            clock: that of the population.
            policy: an example of those that it will save.
        """
        self.name, self.config, self.algorithm = name, config, algorithm
        self.folder = None if folder is None else RunFolder(folder.path / name)
        if self.folder is not None:
            self.folder.path.mkdir(exist_ok=True)
            self.folder.write_config(self.config)
        self._clock = MemberClock(clock)
        self._recorder = Recorder(self.config, self.folder, progress, show_progress=False, may_have_gaps=True)
        self._reports = Reports(self._recorder, self._clock)
        self._failed: FailedUpdate | None = None
        self._scenarios = progress.scenarios
        best_path = None if self.folder is None else self.folder.best_policy
        self._best = BestPolicy(best_path, self._save, policy)

    @property
    def latest(self) -> Mapping[str, Any] | None:
        """Its last record, if there is one."""
        return self._recorder.records[-1] if self._recorder.records else None

    def add(self, number: int, metrics: Any, validation: jax.Array | None, policy: LearnedPolicy) -> None:
        """Takes what a superstep will give, and reports what came before."""
        if self._failed is None:
            candidate = None if validation is None else self._best.candidate(policy)
            self._guard(lambda: self._reports.add(number, metrics, validation, candidate))

    def flush(self) -> None:
        """Reports what is not reported yet."""
        if self._failed is None:
            self._guard(self._reports.flush)
        self._recorder.flush()

    def save(self, policy: LearnedPolicy) -> None:
        """Writes the policy; that of a member that failed stays as it was before."""
        if self.folder is not None and self._failed is None:
            self._save(self.folder.policy, policy)

    def _save(self, path: Path, policy: LearnedPolicy, validation_return: float | None = None) -> None:
        save_policy(
            path,
            policy,
            self.config,
            scenarios=self._scenarios,
            algorithm=self.algorithm.name,
            validation_return=validation_return,
        )

    def outcome(self, policy: LearnedPolicy, compile_seconds: float, *, stopped: bool) -> Outcome:
        """What has become of it."""
        return Outcome(
            policy,
            self._clock.env_steps,
            self._clock.seconds,
            compile_seconds,
            stopped=stopped,
            metrics=self._recorder.arrays(),
            failure=None if self._failed is None else str(self._failed),
        )

    def _guard(self, report: Any) -> None:
        """Reports; where an update failed, this is the last record."""
        try:
            report()
        except FailedUpdate as failed:
            self._failed = failed

    def __enter__(self) -> "Member":
        self._recorder.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._recorder.__exit__(*exception)
