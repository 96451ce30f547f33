"""A run in the terminal: its length in words, and its progress bar."""

from typing import Any

from tqdm import tqdm

from train.settings.config import Config


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
    """A progress bar in environment steps: steps/s, return, last validation return, entropy if any, time left."""

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
            entropy = "" if record.get("entropy") is None else f", entropy {record['entropy']:.2f}"
            self._bar.set_postfix_str(f"return {record['return']:.2f}{self._validation}{entropy}", refresh=False)
        self._bar.update(record["env_steps"] - self._bar.n)

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.close()
