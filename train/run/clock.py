"""The clock of a run: environment steps, and the seconds that they take."""

import time
from collections.abc import Sequence
from typing import Any

import jax


class Clock:
    """Counts environment steps, as Python ints, and the seconds that they take."""

    def __init__(self, steps_per_superstep: int, *, env_steps: int = 0, seconds: float = 0.0) -> None:
        """Starts now, from the counts of an earlier part of the run."""
        self.env_steps, self.seconds = env_steps, seconds
        self.latest: dict[str, float | int] = {}  # of the last tick
        self._steps_per_superstep = steps_per_superstep
        self._superstep_began = time.perf_counter()
        self._began = self._superstep_began - seconds

    def wait(self, running: tuple[Any, Sequence[Any]] | None) -> None:
        """Waits for a superstep that is running, if one is, and times it; then for its validation.

        It is timed from the end of the one before, or of the work between them: the next one may be running already.

        Args:
            running: its metrics, and the validation returns of the members after it, each None if there is none.
        """
        if running is None:
            return
        metrics, validations = running
        jax.block_until_ready(metrics)
        self.tick()
        if any(each is not None for each in validations):
            jax.block_until_ready(validations)
            self.start()

    def start(self) -> None:
        """Marks the start of a superstep."""
        self._superstep_began = time.perf_counter()

    def tick(self) -> dict[str, float | int]:
        """Marks the end of a superstep: `env_steps` and `seconds` so far, and its own `steps_per_second`.

        Work between supersteps (validation, checkpoints) counts in `seconds`, not in `steps_per_second`.
        """
        now = time.perf_counter()
        self.env_steps, self.seconds = self.env_steps + self._steps_per_superstep, now - self._began
        steps_per_second = self._steps_per_superstep / (now - self._superstep_began)
        self._superstep_began = now  # of the next one, unless `start` says otherwise
        self.latest = {"env_steps": self.env_steps, "seconds": self.seconds, "steps_per_second": steps_per_second}
        return self.latest
