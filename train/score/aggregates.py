"""Several seeds over many scenarios as a number and its interval.

The bootstrap resamples seeds, which play all scenarios, and the scenarios too; that of Agarwal et al. 2021 resamples
the runs of each task.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

RESAMPLES = 2_000


@dataclasses.dataclass(frozen=True)
class Aggregate:
    """A point estimate and its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """`0.982 (0.975 to 0.990)`."""
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


def mean(scores: np.ndarray) -> float:
    """The mean over scenarios of the mean over seeds, of [seeds, S] scores."""
    return float(scores.mean())


def aggregate(
    *samples: np.ndarray, statistic: Callable[..., float] = mean, strata: np.ndarray | None = None, seed: int = 0
) -> Aggregate:
    """A statistic of scores, with a percentile interval by a bootstrap over seeds and scenarios.

    A resample draws as many seeds as there are, and within each stratum as many scenarios, both with replacement. So
    the interval says what another few seeds and another set of scenarios would give. Of several samples seeds are drawn
    for each, scenarios for all alike.

    >>> aggregate(np.array([[1.0, 1.0], [1.0, 1.0]]))
    Aggregate(value=1.0, low=1.0, high=1.0)

    Args:
        *samples: [seeds, S] scores each: one, or two on the same scenarios.
        statistic: of as many such arrays.
        strata: [S] labels, such as difficulties; all scenarios are one stratum by default.
        seed: of the resampling.
    """
    random = np.random.default_rng(seed)
    labels = np.zeros(samples[0].shape[1]) if strata is None else strata
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]

    def resampled() -> float:
        seeds = [random.integers(len(scores), size=len(scores)) for scores in samples]
        columns = np.concatenate([random.choice(group, size=group.size) for group in groups])
        return statistic(*(scores[np.ix_(rows, columns)] for scores, rows in zip(samples, seeds, strict=True)))

    low, high = np.percentile([resampled() for _ in range(RESAMPLES)], [2.5, 97.5])
    return Aggregate(statistic(*samples), float(low), float(high))
