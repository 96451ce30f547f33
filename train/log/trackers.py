"""The metrics as TensorBoard events, if tensorboardX is installed."""

import contextlib
import importlib
import secrets
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from jaxenv.host.names import short
from jaxenv.host.regular_files import RefusedFile, read_regular
from train.save.writing import naming, write_atomic
from train.settings.config import Config
from train.settings.serialize import to_json


class Events:
    """Writes records as scalars over environment steps; does nothing if not wanted or not installed.

    It writes in the thread that calls: the one that tensorboardX begins dies on a full disk, and leaves the others
    waiting for it.
    """

    def __init__(self, folder: Path, *, after_step: int = 0, is_wanted: bool = True) -> None:
        """Starts an event file; TensorBoard hides earlier events beyond `after_step`, which come again."""
        self._name = folder / "events"
        with naming(self._name):
            self._writer: Any = _writer(self._name) if is_wanted else None
        if self._writer is not None:
            from tensorboardX.proto import event_pb2

            messages: Any = event_pb2  # whose names are made when it is imported
            begin = messages.SessionLog(status=messages.SessionLog.START)
            self._add(after_step + 1, session_log=begin)

    def write(self, record: dict[str, Any]) -> None:
        """Adds a point to each curve whose value is not None."""
        if self._writer is None:
            return
        from tensorboardX.summary import scalar

        for name, value in record.items():
            if value is not None and name not in ("superstep", "env_steps"):
                self._add(record["env_steps"], summary=scalar(name, value))

    def flush(self) -> None:
        """Flushes to disk, so that a killed run keeps its events."""
        if self._writer is not None:
            with naming(self._name):
                self._writer.flush()

    def _add(self, step: int, **content: Any) -> None:
        """Writes one event."""
        from tensorboardX.proto import event_pb2

        messages: Any = event_pb2
        with naming(self._name):
            self._writer.write_event(messages.Event(step=step, wall_time=time.time(), **content))

    def __enter__(self) -> "Events":
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        if self._writer is not None:
            with naming(self._name) if kind is None else contextlib.suppress(OSError):
                self._writer.close()


def _writer(name: Path) -> Any:
    """Writes events into the file of that name and the time, or None if tensorboardX is not installed."""
    try:
        from tensorboardX.event_file_writer import EventsWriter
    except ImportError:
        return None
    return EventsWriter(str(name))


MAX_ID = 1000  # bytes of an id, which has eight


def check_installed(config: Config) -> None:
    """A ValueError if the settings ask for Weights & Biases where it is not installed."""
    if config.wandb is not None:
        _module(config.wandb)


class WeightsAndBiases:
    """Logs records over environment steps, of a run that has the settings as its config.

    The run's id is kept in a file of the run folder, so that a run which resumes continues the same curves. Records
    that a killed run had logged beyond its checkpoint come again and are the same; Weights & Biases keeps the first.
    """

    def __init__(self, folder: Path, config: Config) -> None:
        """Starts or continues the run of a folder; does nothing without a project."""
        self._run = None if config.wandb is None else _start(_module(config.wandb), folder, config)

    def write(self, record: dict[str, Any]) -> None:
        """Adds a point to each curve whose value is not None."""
        if self._run is None:
            return
        values = {name: value for name, value in record.items() if value is not None and name != "env_steps"}
        self._run.log(values, step=record["env_steps"])

    def __enter__(self) -> "WeightsAndBiases":
        return self

    def __exit__(self, *exception: object) -> None:
        if self._run is not None:
            self._run.finish(exit_code=int(exception[0] is not None))


def _start(wandb: ModuleType, folder: Path, config: Config) -> Any:
    """A run of Weights & Biases, named like the folder."""
    file = folder / "wandb_id"
    if not file.exists():
        write_atomic(file, secrets.token_hex(4).encode())
    return wandb.init(
        project=config.wandb, name=folder.name, id=_id_in(file), resume="allow", config=to_json(config), dir=str(folder)
    )


def _id_in(file: Path) -> str:
    """The id of the run; a ValueError names a file that holds none."""
    try:
        return read_regular(file, MAX_ID).decode()
    except RefusedFile as error:
        raise ValueError(f"{file} is {error}: expected the id of a run of Weights & Biases") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not text: expected the id of a run of Weights & Biases") from error


def _module(project: str) -> ModuleType:
    """The package; a ValueError names the command that installs it."""
    try:
        return importlib.import_module("wandb")
    except ImportError as error:
        raise ValueError(
            f"--wandb {short(project)}: wandb is not installed; install it with pip install wandb"
        ) from error
