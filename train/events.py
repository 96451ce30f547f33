"""The metrics once more as TensorBoard events, where tensorboardX is installed."""

from pathlib import Path
from typing import Any


class Events:
    """Writes the numbers of a record as scalars over environment steps, or nothing at all."""

    def __init__(self, folder: Path, *, after_step: int = 0, is_wanted: bool = True) -> None:
        """Begins a file of events; what earlier files tell of steps beyond `after_step` is no longer shown."""
        self._writer = _summary_writer(folder, after_step + 1) if is_wanted else None

    def write(self, record: dict[str, Any]) -> None:
        """Adds a point to each curve; what is None has none."""
        if self._writer is None:
            return
        for name, value in record.items():
            if value is not None and name not in ("superstep", "env_steps"):
                self._writer.add_scalar(name, value, record["env_steps"])

    def flush(self) -> None:
        """Puts what was written onto the disk, where a killed run leaves it."""
        if self._writer is not None:
            self._writer.flush()

    def __enter__(self) -> "Events":
        return self

    def __exit__(self, *exception: object) -> None:
        if self._writer is not None:
            self._writer.close()


def _summary_writer(folder: Path, purge_step: int) -> Any:
    """A tensorboardX writer, or None where there is no tensorboardX."""
    try:
        from tensorboardX import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder), purge_step=purge_step)
