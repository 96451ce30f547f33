"""Where the records of a run go: memory, files, TensorBoard, Weights & Biases; from one process alone.

The packages of TensorBoard and Weights & Biases are imported here alone.
"""

import contextlib
import importlib.util
import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from jaxenv.host.companions import optional
from jaxenv.host.names import short
from jaxenv.host.regular_files import read_regular
from train.log.metrics import MetricsWriter, read_metrics
from train.processes import is_writer
from train.save.description import Progress
from train.save.folder import RunFolder
from train.save.writing import make_folder, naming, write_atomic
from train.settings.config import Config
from train.settings.serialize import to_json

MAX_ID = 1000  # bytes of an id, which has eight

Callback = Callable[[Mapping[str, Any]], bool | None]
"""Is shown the record of each superstep, one superstep late; True stops the run as a signal does."""


class Recorder:
    """Writes each record everywhere; records of a killed run beyond its checkpoint are dropped and come again."""

    def __init__(
        self,
        stack: contextlib.ExitStack,
        config: Config,
        folder: RunFolder | None,
        progress: Progress,
        *,
        callback: Callback | None = None,
        may_have_gaps: bool = False,
    ) -> None:
        """Opens all outputs of a run with this progress, which the stack closes.

        Its metrics may have gaps if `may_have_gaps`.
        """
        self.records: list[dict[str, Any]] = []  # of the whole run, also of its earlier parts
        self.is_stop_requested = False
        self._callback = callback
        self._writers, self._flushes = [], []
        if folder is None or not is_writer():
            return
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

    def write(self, record: dict[str, Any]) -> None:
        """Writes the record of one superstep, and shows it to the callback."""
        if not is_writer():
            return
        for write in self._writers:
            write(record)
        self.records.append(record)
        if self._callback is not None and self._callback(record):
            self.is_stop_requested = True

    def arrays(self) -> dict[str, np.ndarray]:
        """Name -> [supersteps], the records so far; NaN where a record has no such number."""
        names = dict.fromkeys(name for record in self.records for name in record)
        columns = {name: [record.get(name) for record in self.records] for name in names}
        return {name: np.array([np.nan if x is None else x for x in column]) for name, column in columns.items()}

    def flush(self) -> None:
        """Flushes to disk, so that a checkpoint never has more supersteps than the metrics, even if the machine stops.

        To be called before each checkpoint, not after each superstep: a disk takes its time.
        """
        for flush in self._flushes:
            flush()


class Events(contextlib.AbstractContextManager["Events"]):
    """Writes records as scalars over environment steps, as TensorBoard reads them; it needs tensorboardX.

    It writes in the thread that calls: the one that tensorboardX begins dies on a full disk, and leaves the others
    waiting for it.
    """

    def __init__(self, folder: Path, *, after_step: int = 0) -> None:
        """Starts an event file; TensorBoard hides earlier events beyond `after_step`, which come again."""
        from tensorboardX.event_file_writer import EventsWriter
        from tensorboardX.proto import event_pb2

        self._name = folder / "events"
        self._messages: Any = event_pb2  # whose names are made when it is imported
        with naming(self._name):
            # By a name that nobody knows before: it is opened through links.
            self._writer: Any = EventsWriter(str(self._name), f".{secrets.token_hex(8)}")
        self._add(after_step + 1, session_log=self._messages.SessionLog(status=self._messages.SessionLog.START))

    @staticmethod
    def is_possible() -> bool:
        """Whether tensorboardX is installed."""
        return importlib.util.find_spec("tensorboardX") is not None

    def write(self, record: dict[str, Any]) -> None:
        """Adds a point to each curve whose value is not None."""
        from tensorboardX.summary import scalar

        for name, value in record.items():
            if value is not None and name not in ("superstep", "env_steps"):
                self._add(record["env_steps"], summary=scalar(name, value))

    def flush(self) -> None:
        """Flushes to disk, so that a killed run keeps its events."""
        with naming(self._name):
            self._writer.flush()

    def _add(self, step: int, **content: Any) -> None:
        """Writes one event."""
        with naming(self._name):
            self._writer.write_event(self._messages.Event(step=step, wall_time=time.time(), **content))

    def __exit__(self, kind: object, *exception: object) -> None:
        with naming(self._name) if kind is None else contextlib.suppress(OSError):
            self._writer.close()


def check_installed(config: Config) -> None:
    """An ImportError if the settings ask for Weights & Biases where it is not installed."""
    if config.wandb is not None:
        _wandb(config)


class WeightsAndBiases(contextlib.AbstractContextManager["WeightsAndBiases"]):
    """Logs records over environment steps, of a run that has the settings as its config.

    The run's id is kept in a file of the run folder, so that a run which resumes continues the same curves. Records
    that a killed run had logged beyond its checkpoint come again and are the same; Weights & Biases keeps the first.
    """

    def __init__(self, folder: Path, config: Config) -> None:
        """Starts or continues the run of a folder."""
        wandb, file = _wandb(config), folder / "wandb_id"
        if not file.exists():
            write_atomic(file, secrets.token_hex(4).encode())
        try:
            id = read_regular(file, MAX_ID).decode()
        except ValueError as error:
            raise ValueError(f"{file} does not hold the id of a run of Weights & Biases: {error}") from error
        make_folder(folder / "wandb")
        place = {"name": folder.name, "dir": str(folder)}
        self._run = wandb.init(project=config.wandb, id=id, resume="allow", config=to_json(config), **place)

    def write(self, record: dict[str, Any]) -> None:
        """Adds a point to each curve whose value is not None."""
        values = {name: value for name, value in record.items() if value is not None and name != "env_steps"}
        self._run.log(values, step=record["env_steps"])

    def __exit__(self, *exception: object) -> None:
        self._run.finish(exit_code=int(exception[0] is not None))


def _wandb(config: Config) -> Any:
    """The package; an ImportError names what installs it."""
    return optional("wandb", f"--wandb {short(str(config.wandb))}", "wandb")
