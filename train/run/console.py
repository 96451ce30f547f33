"""A run in the terminal: its clock, its progress bar, and its stop signal."""

import signal
import time
from types import FrameType
from typing import Any

from tqdm import tqdm

from train.settings.config import Config


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

        The time between supersteps (validation, checkpoints) counts in `seconds`, not in `steps_per_second`.
        """
        now = time.perf_counter()
        self.env_steps, self.seconds = self.env_steps + self._steps_per_superstep, now - self._began
        steps_per_second = self._steps_per_superstep / (now - self._superstep_began)
        return {"env_steps": self.env_steps, "seconds": self.seconds, "steps_per_second": steps_per_second}


def length(config: Config) -> str:
    """The length of a run in words; it is rounded up to whole supersteps, which can be a lot.

    >>> length(Config(env="LifeOps-v0", total_steps=100_000))
    '131,072 environment steps: 2 supersteps of 65,536 (rounded up from 100,000)'
    """
    steps, count = config.steps_per_superstep, config.num_supersteps
    supersteps = "1 superstep" if count == 1 else f"{count:,} supersteps"
    planned = f"{steps * count:,} environment steps: {supersteps} of {steps:,}"
    return planned if steps * count == config.total_steps else f"{planned} (rounded up from {config.total_steps:,})"


class Bar:
    """A progress bar in environment steps: steps/s, return, last validation return, time left."""

    def __init__(self, config: Config, env_steps: int, *, is_shown: bool) -> None:
        """Draws a bar that starts at `env_steps`."""
        total = config.num_supersteps * config.steps_per_superstep
        self._validation = ""
        self._bar = tqdm(
            total=total,
            initial=env_steps,
            unit=" steps",
            unit_scale=True,
            desc=config.env,
            disable=not is_shown,
            dynamic_ncols=True,
        )

    def show(self, record: dict[str, Any]) -> None:
        """Moves the bar to a record of the metrics."""
        if record["validation_return"] is not None:
            self._validation = f", validation {record['validation_return']:.2f}"
        if record["return"] is not None:
            text = f"return {record['return']:.2f}{self._validation}, entropy {record['entropy']:.2f}"
            self._bar.set_postfix_str(text, refresh=False)
        self._bar.update(record["env_steps"] - self._bar.n)

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.close()


class StopSignal:
    """Turns the first SIGINT or SIGTERM into a request to stop after the superstep; a second one acts as usual."""

    def __init__(self) -> None:
        """Starts without a request."""
        self.is_requested = False
        self._previous: dict[int, Any] = {}

    def _request(self, number: int, frame: FrameType | None) -> None:
        self.is_requested = True
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def __enter__(self) -> "StopSignal":
        for number in (signal.SIGINT, signal.SIGTERM):
            self._previous[number] = signal.signal(number, self._request)
        return self

    def __exit__(self, *exception: object) -> None:
        self._restore()
