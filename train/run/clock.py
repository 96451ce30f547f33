"""The clock of a run: environment steps, and the seconds that they take."""

import time


class Clock:
    """Counts environment steps, as Python ints, and the seconds that they take."""

    def __init__(self, steps_per_superstep: int, *, env_steps: int = 0, seconds: float = 0.0) -> None:
        """Starts now, from the counts of an earlier part of the run."""
        self.env_steps, self.seconds = env_steps, seconds
        self._steps_per_superstep = steps_per_superstep
        self._superstep_began = time.perf_counter()
        self._began = self._superstep_began - seconds

    def start(self) -> None:
        """Marks the start of a superstep."""
        self._superstep_began = time.perf_counter()

    def tick(self) -> dict[str, float | int]:
        """Marks the end of a superstep: `env_steps` and `seconds` so far, and its own `steps_per_second`.

        What comes between supersteps (validation, checkpoints) counts in `seconds`, not in `steps_per_second`.
        """
        now = time.perf_counter()
        self.env_steps, self.seconds = self.env_steps + self._steps_per_superstep, now - self._began
        steps_per_second = self._steps_per_superstep / (now - self._superstep_began)
        return {"env_steps": self.env_steps, "seconds": self.seconds, "steps_per_second": steps_per_second}
