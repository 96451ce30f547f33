"""Several seeds over many scenarios as a number and its interval.

Interquartile mean and probability of improvement are those of Agarwal et al. 2021. Their bootstrap resamples the runs
of each task; this one resamples seeds, which play all scenarios, and the scenarios too.
"""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

RESAMPLES = 2_000
TRIMMED = 0.25  # of the values at either end, for the interquartile mean


@dataclasses.dataclass(frozen=True)
class Aggregate:
    """A point estimate and its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """`0.982 (0.975 to 0.990)`."""
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


def interquartile_mean(values: np.ndarray) -> float:
    """The mean of the middle half of all values, whatever their axes.

    >>> interquartile_mean(np.array([[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 100.0]]))
    3.5
    """
    ordered = np.sort(values, axis=None)
    cut = int(TRIMMED * ordered.size)
    return float(ordered[cut : ordered.size - cut].mean())


def probability_of_improvement(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The mean over scenarios of P(a seed of ours is better than one of theirs), where a tie counts one half.

    >>> probability_of_improvement(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([[2.0, 5.0]]))
    0.5

    Args:
        ours: [seeds, S] scores.
        theirs: [other seeds, S] scores on the same scenarios.
    """
    above = (ours[:, None] > theirs[None]).astype(float) + 0.5 * (ours[:, None] == theirs[None])
    return float(above.mean())


def aggregate(
    scores: np.ndarray,
    statistic: Callable[[np.ndarray], float] = interquartile_mean,
    *,
    strata: np.ndarray | None = None,
    seed: int = 0,
) -> Aggregate:
    """A statistic of scores, with a percentile interval by a bootstrap over seeds and scenarios.

    A resample draws as many seeds as there are, and within each stratum as many scenarios, both with replacement. So
    the interval says what another few seeds and another set of scenarios would give.

    Args:
        scores: [seeds, S].
        statistic: of such an array.
        strata: [S] labels, such as difficulties; all scenarios are one stratum by default.
        seed: of the resampling.
    """
    return _interval(lambda found: statistic(*found), (scores,), strata, seed)


def improvement(ours: np.ndarray, theirs: np.ndarray, *, strata: np.ndarray | None = None, seed: int = 0) -> Aggregate:
    """The probability of improvement with such an interval: seeds are resampled for each, scenarios for both alike.

    Args:
        ours: [seeds, S] scores.
        theirs: [other seeds, S] scores on the same scenarios.
        strata: [S] labels; all scenarios are one stratum by default.
        seed: of the resampling.
    """
    return _interval(lambda found: probability_of_improvement(*found), (ours, theirs), strata, seed)


def _interval(
    statistic: Callable[[Sequence[np.ndarray]], float],
    samples: Sequence[np.ndarray],
    strata: np.ndarray | None,
    seed: int,
) -> Aggregate:
    """A statistic of samples, [seeds, S] each, and the percentiles of its values over resamples."""
    random = np.random.default_rng(seed)
    labels = np.zeros(samples[0].shape[1]) if strata is None else strata
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]

    def resampled() -> float:
        seeds = [random.integers(len(scores), size=len(scores)) for scores in samples]
        columns = np.concatenate([random.choice(group, size=group.size) for group in groups])
        return statistic([scores[np.ix_(rows, columns)] for scores, rows in zip(samples, seeds, strict=True)])

    low, high = np.percentile([resampled() for _ in range(RESAMPLES)], [2.5, 97.5])
    return Aggregate(statistic(samples), float(low), float(high))
