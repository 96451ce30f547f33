"""Scores: where a policy stands between a random policy (0) and the best known return (1), per scenario."""

import dataclasses
from collections.abc import Sequence

import numpy as np

MIN_SPREAD = 0.1  # of best - random: scenarios with less to win have no score
RESAMPLES = 10_000


@dataclasses.dataclass(frozen=True)
class ReferenceReturns:
    """Reference returns of S scenarios, NaN where unknown."""

    ids: Sequence[str]
    random: np.ndarray  # [S] mean return of a random policy
    best: np.ndarray  # [S] best known return


@dataclasses.dataclass(frozen=True)
class Summary:
    """A policy over S scenarios."""

    returns: np.ndarray  # [S], means over repetitions
    scores: np.ndarray  # [S], NaN where there is no score
    mean_score: float  # over the scenarios with a score
    interval: tuple[float, float]  # 95 % confidence interval of the mean score
    terminated: float  # share of episodes that terminated rather than hit the time limit
    succeeded: float = 0.0  # share of episodes that ended in success


def summarize(
    returns: np.ndarray,
    terminated: np.ndarray,
    reference: ReferenceReturns,
    succeeded: np.ndarray | None = None,
) -> Summary:
    """The summary of a policy from its returns, terminations and successes, all [S, R] with R repetitions."""
    means = returns.mean(axis=1)
    each = score(means, reference)
    scored = each[~np.isnan(each)]
    mean_score = float(scored.mean()) if scored.size else float("nan")
    success_rate = 0.0 if succeeded is None else float(succeeded.mean())
    return Summary(means, each, mean_score, bootstrap_interval(scored), float(terminated.mean()), success_rate)


def score(returns: np.ndarray, reference: ReferenceReturns) -> np.ndarray:
    """[S]: (return - random) / (best - random), NaN where best - random is unknown or less than 0.1.

    >>> score(np.array([3.0, 3.0]), ReferenceReturns(("a", "b"), np.array([1.0, 1.0]), np.array([5.0, np.nan])))
    array([0.5, nan])
    """
    spread = reference.best - reference.random
    is_scored = spread >= MIN_SPREAD
    return np.where(is_scored, (returns - reference.random) / np.where(is_scored, spread, 1.0), np.nan)


def bootstrap_interval(values: np.ndarray) -> tuple[float, float]:
    """A 95 % interval of the mean: percentiles of the means of 10,000 resamples; NaN if there are no values."""
    if not values.size:
        return float("nan"), float("nan")
    drawn = np.random.default_rng(0).integers(values.size, size=(RESAMPLES, values.size))
    low, high = np.percentile(values[drawn].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)
