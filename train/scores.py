"""Scores: how far from a random policy to the best known return a policy comes, scenario by scenario."""

import dataclasses
from collections.abc import Sequence

import numpy as np

LEAST_SPREAD = 0.1  # of best - random: where less can be won, a scenario has no score
RESAMPLES = 10_000


@dataclasses.dataclass(frozen=True)
class Known:
    """What is known of S scenarios beforehand; NaN where nothing is."""

    ids: Sequence[str]
    random: np.ndarray  # [S] mean return of a random policy
    best: np.ndarray  # [S] best known return


@dataclasses.dataclass(frozen=True)
class Summary:
    """A policy over S scenarios."""

    returns: np.ndarray  # [S], means over repetitions
    scores: np.ndarray  # [S], NaN where there is no score
    mean_score: float  # over the scenarios with a score
    interval: tuple[float, float]  # 95 %, of the mean score
    terminated: float  # share of episodes that came to a natural end
    succeeded: float = 0.0  # share of episodes that ended in success


def summarise(
    returns: np.ndarray, terminated: np.ndarray, known: Known, succeeded: np.ndarray | None = None
) -> Summary:
    """The summary of a policy from its returns, natural ends and successes, all [S, R] with R repetitions."""
    means = returns.mean(axis=1)
    each = score(means, known)
    scored = each[~np.isnan(each)]
    mean_score = float(scored.mean()) if scored.size else float("nan")
    won = 0.0 if succeeded is None else float(succeeded.mean())
    return Summary(means, each, mean_score, bootstrap_interval(scored), float(terminated.mean()), won)


def score(returns: np.ndarray, known: Known) -> np.ndarray:
    """[S]: (return - random) / (best - random), NaN where best - random is under 0.1 or not known."""
    spread = known.best - known.random
    is_scored = spread >= LEAST_SPREAD
    return np.where(is_scored, (returns - known.random) / np.where(is_scored, spread, 1.0), np.nan)


def bootstrap_interval(values: np.ndarray) -> tuple[float, float]:
    """A 95 % interval of the mean: percentiles of the means of 10,000 resamples, NaN of no values."""
    if not values.size:
        return float("nan"), float("nan")
    drawn = np.random.default_rng(0).integers(values.size, size=(RESAMPLES, values.size))
    low, high = np.percentile(values[drawn].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)
