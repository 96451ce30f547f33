"""Where the records of a run go: memory, files, TensorBoard, Weights & Biases; from one process alone."""

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from train.log.metrics import MetricsWriter, read_metrics
from train.log.trackers import Events, WeightsAndBiases
from train.processes import is_writer
from train.save.checkpoint import Progress
from train.save.folder import RunFolder
from train.settings.config import Config

Callback = Callable[[Mapping[str, Any]], bool | None]
"""Is shown the record of each superstep, one superstep late; True stops the run as a signal does."""


class Recorder:
    """Writes each record everywhere; records of a killed run beyond its checkpoint are dropped and come again."""

    def __init__(
        self,
        config: Config,
        folder: RunFolder | None,
        progress: Progress,
        *,
        callback: Callback | None = None,
        may_have_gaps: bool = False,
    ) -> None:
        """Opens all outputs of a run with this progress; its metrics may have gaps if `may_have_gaps`."""
        self.records: list[dict[str, Any]] = []  # of the whole run, also of its earlier parts
        self.is_stop_requested = False
        self._callback = callback
        self._writers, self._flushes, self._stack = [], [], contextlib.ExitStack()
        if not is_writer():
            return
        with contextlib.ExitStack() as stack:
            if folder is not None:
                kept = {"from_superstep": progress.superstep, "may_have_gaps": may_have_gaps}
                metrics = stack.enter_context(MetricsWriter(folder.metrics, **kept))
                self.records = list(read_metrics(folder.metrics))
                self._writers, self._flushes = [metrics.write], [metrics.sync]
                if config.tensorboard and Events.is_possible():
                    events = stack.enter_context(Events(folder.path, after_step=progress.env_steps))
                    self._writers.append(events.write)
                    self._flushes.append(events.flush)
                if config.wandb is not None:
                    self._writers.append(stack.enter_context(WeightsAndBiases(folder.path, config)).write)
            self._writers += [self.records.append, self._call]
            self._stack = stack.pop_all()

    def write(self, record: dict[str, Any]) -> None:
        """Writes the record of one superstep."""
        for write in self._writers:
            write(record)

    def arrays(self) -> dict[str, np.ndarray]:
        """Name -> [supersteps], the records so far; NaN where a record has no such number."""
        names = dict.fromkeys(name for record in self.records for name in record)
        columns = {name: [record.get(name) for record in self.records] for name in names}
        return {name: np.array([np.nan if x is None else x for x in column]) for name, column in columns.items()}

    def _call(self, record: dict[str, Any]) -> None:
        """Shows a record to the callback, which may ask for the end of the run."""
        if self._callback is not None and self._callback(record):
            self.is_stop_requested = True

    def flush(self) -> None:
        """Flushes to disk, so that a checkpoint never has more supersteps than the metrics, even if the machine stops.

        To be called before each checkpoint, not after each superstep: a disk takes its time.
        """
        for flush in self._flushes:
            flush()

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stack.__exit__(*exception)  # some outputs record whether the run failed
