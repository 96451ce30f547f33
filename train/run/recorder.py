"""Where the records of a run go: the metrics file, TensorBoard and the progress bar; of several processes, from one."""

import contextlib
from typing import Any

from train.run.checkpoint import Progress
from train.run.console import Bar
from train.run.events import Events
from train.run.folder import RunFolder
from train.run.metrics import MetricsWriter
from train.run.processes import is_writer
from train.settings.config import Config


class Recorder:
    """Writes each record everywhere; what a killed run wrote beyond its checkpoint is dropped, since it comes again."""

    def __init__(self, config: Config, folder: RunFolder, progress: Progress, *, show_progress: bool) -> None:
        """Opens all outputs of a run that has come so far."""
        self._writers, self._flush, self._stack = (), lambda: None, contextlib.ExitStack()
        if not is_writer():
            return
        with contextlib.ExitStack() as stack:
            metrics = stack.enter_context(MetricsWriter(folder.metrics, from_superstep=progress.superstep))
            events = Events(folder.path, after_step=progress.env_steps, is_wanted=config.tensorboard)
            stack.enter_context(events)
            bar = stack.enter_context(Bar(config, progress.env_steps, is_shown=show_progress))
            self._writers = (metrics.write, events.write, bar.show)
            self._flush = events.flush
            self._stack = stack.pop_all()

    def write(self, record: dict[str, Any]) -> None:
        """Writes the record of one superstep."""
        for write in self._writers:
            write(record)

    def flush(self) -> None:
        """Flushes to disk, so that a killed run keeps what was written."""
        self._flush()

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()
