"""The progress of a run: its clock, its length in words, and its bar in the terminal."""

import time
from collections.abc import Sequence
from typing import Any

import jax
from tqdm import tqdm

from train.settings.config import Config

# But for those of several agents the presets make 46 to 153 supersteps, and 2,900 to 9,900 gradient steps.
FEW_SUPERSTEPS, FEW_GRADIENT_STEPS = 10, 1000


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

    def tick(self) -> None:
        """Marks the end of a superstep, in `latest`: `env_steps` and `seconds` so far, and its own `steps_per_second`.

        Work between supersteps (validation, checkpoints) counts in `seconds`, not in `steps_per_second`.
        """
        now = time.perf_counter()
        self.env_steps, self.seconds = self.env_steps + self._steps_per_superstep, now - self._began
        steps_per_second = self._steps_per_superstep / (now - self._superstep_began)
        self._superstep_began = now  # of the next one, unless `start` says otherwise
        self.latest = {"env_steps": self.env_steps, "seconds": self.seconds, "steps_per_second": steps_per_second}


def length(config: Config, num_agents: int = 1) -> str:
    """The length of a run in words, and whether it is a short one. It is rounded up to whole supersteps.

    >>> print(length(Config(env="LifeOps-v0", total_steps=100_000)))
    131,072 environment steps: 2 supersteps of 65,536 (rounded up from 100,000); 256 gradient steps
    A short run: fewer than 10 supersteps and 1,000 gradient steps.
    """
    steps, count, gradient_steps = config.steps_per_superstep, config.num_supersteps, config.num_gradient_steps
    supersteps = "1 superstep" if count == 1 else f"{count:,} supersteps"
    planned = f"{steps * count:,} environment steps: {supersteps} of {steps:,}"
    rounded = "" if steps * count == config.total_steps else f" (rounded up from {config.total_steps:,})"
    few = [f"{FEW_SUPERSTEPS} supersteps"] * (count < FEW_SUPERSTEPS)
    few += [f"{FEW_GRADIENT_STEPS:,} gradient steps"] * (num_agents * gradient_steps < FEW_GRADIENT_STEPS)
    short = f"\nA short run: fewer than {' and '.join(few)}." if few else ""
    return f"{planned}{rounded}; {num_agents * gradient_steps:,} gradient steps{short}"


class Bar(tqdm):
    """A progress bar in environment steps: steps/s, return, last validation return, entropy if any, time left."""

    def __init__(self, config: Config, env_steps: int, *, is_shown: bool) -> None:
        """Draws a bar that starts at `env_steps`."""
        self._validation = ""
        super().__init__(
            total=config.num_supersteps * config.steps_per_superstep,
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
            entropy = "" if record.get("entropy") is None else f", entropy {record['entropy']:.2f}"
            self.set_postfix_str(f"return {record['return']:.2f}{self._validation}{entropy}", refresh=False)
        self.update(record["env_steps"] - self.n)
