"""The metrics as TensorBoard events, if tensorboardX is installed."""

import contextlib
import time
from pathlib import Path
from typing import Any

from train.save.writing import naming


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
