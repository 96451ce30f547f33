"""The clock of a run: environment steps, and the seconds that they take."""

import time


class Clock:
    """Counts environment steps, as Python ints, and the seconds that they take."""

    def __init__(self, steps_per_superstep: int, *, env_steps: int = 0, seconds: float = 0.0) -> None:
        """Starts now, from the counts of an earlier part of the run."""
        self.env_steps, self.seconds = env_steps, seconds
        self.latest: dict[str, float | int] = {}  # what the last tick told
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
        self._superstep_began = now  # of the next one, unless `start` says otherwise
        self.latest = {"env_steps": self.env_steps, "seconds": self.seconds, "steps_per_second": steps_per_second}
        return self.latest


class MemberClock:
    """The clock of a member of a population, whose supersteps are timed once, for all members together.

    It stands still when the member does.
    """

    def __init__(self, population: Clock) -> None:
        """Starts from the counts of the population."""
        self.env_steps, self.seconds = population.env_steps, population.seconds
        self._population = population

    def start(self) -> None:
        """Nothing: the population starts its own clock."""

    def tick(self) -> dict[str, float | int]:
        """What the clock of the population told at the end of its last superstep."""
        self.env_steps, self.seconds = self._population.env_steps, self._population.seconds
        return self._population.latest
