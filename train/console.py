"""What the terminal sees of a run and says to it: a clock, a bar, and the wish to stop."""

import signal
import time
from types import FrameType
from typing import Any

from tqdm import tqdm

from train.config import Config


class Clock:
    """Counts environment steps, as Python ints, and the seconds they take."""

    def __init__(self, steps_per_superstep: int, *, env_steps: int = 0, seconds: float = 0.0) -> None:
        """Starts now, from what was counted before."""
        self.env_steps, self.seconds = env_steps, seconds
        self._steps_per_superstep = steps_per_superstep
        self._superstep_began = time.perf_counter()
        self._began = self._superstep_began - seconds

    def start(self) -> None:
        """A superstep begins."""
        self._superstep_began = time.perf_counter()

    def tick(self) -> dict[str, float | int]:
        """The superstep is done: `env_steps` and `seconds` so far, and `steps_per_second` of this superstep alone.

        What lies between two supersteps (looks at the validation set, checkpoints) is in the seconds and slows no
        superstep.
        """
        now = time.perf_counter()
        self.env_steps, self.seconds = self.env_steps + self._steps_per_superstep, now - self._began
        steps_per_second = self._steps_per_superstep / (now - self._superstep_began)
        return {"env_steps": self.env_steps, "seconds": self.seconds, "steps_per_second": steps_per_second}


def length(config: Config) -> str:
    """How long a run will be, in words: it is rounded up to whole supersteps, which can be far."""
    steps, count = config.steps_per_superstep, config.num_supersteps
    supersteps = "1 superstep" if count == 1 else f"{count:,} supersteps"
    planned = f"{steps * count:,} environment steps: {supersteps} of {steps:,}"
    return planned if steps * count == config.total_steps else f"{planned} (rounded up from {config.total_steps:,})"


class Bar:
    """A progress bar in environment steps: steps/s, return, the last look at the validation set, time left."""

    def __init__(self, config: Config, env_steps: int, *, is_shown: bool) -> None:
        """Draws a bar that is filled by what was done before."""
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
            told = f"return {record['return']:.2f}{self._validation}, entropy {record['entropy']:.2f}"
            self._bar.set_postfix_str(told, refresh=False)
        self._bar.update(record["env_steps"] - self._bar.n)

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.close()


class StopSignal:
    """Turns the first SIGINT or SIGTERM into a wish to stop after the superstep; a second one acts as ever."""

    def __init__(self) -> None:
        """Nothing is asked yet."""
        self.was_asked = False
        self._previous: dict[int, Any] = {}

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.was_asked = True
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def __enter__(self) -> "StopSignal":
        for number in (signal.SIGINT, signal.SIGTERM):
            self._previous[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, *exception: object) -> None:
        self._restore()
