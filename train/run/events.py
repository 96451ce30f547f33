"""The metrics as TensorBoard events, if tensorboardX is installed."""

from pathlib import Path
from typing import Any


class Events:
    """Writes records as scalars over environment steps; does nothing if not wanted or not installed."""

    def __init__(self, folder: Path, *, after_step: int = 0, is_wanted: bool = True) -> None:
        """Starts an event file; TensorBoard hides earlier events beyond `after_step`, which come again."""
        self._writer = _summary_writer(folder, after_step + 1) if is_wanted else None

    def write(self, record: dict[str, Any]) -> None:
        """Adds a point to each curve whose value is not None."""
        if self._writer is None:
            return
        for name, value in record.items():
            if value is not None and name not in ("superstep", "env_steps"):
                self._writer.add_scalar(name, value, record["env_steps"])

    def flush(self) -> None:
        """Flushes to disk, so that a killed run keeps what was written."""
        if self._writer is not None:
            self._writer.flush()

    def __enter__(self) -> "Events":
        return self

    def __exit__(self, *exception: object) -> None:
        if self._writer is not None:
            self._writer.close()


def _summary_writer(folder: Path, purge_step: int) -> Any:
    """A tensorboardX writer, or None if tensorboardX is not installed."""
    try:
        from tensorboardX import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder), purge_step=purge_step)
