"""Scores: where a policy stands between a random policy (0) and a reference return (1), and means with an interval.

The bootstrap resamples seeds, which play all scenarios, and the scenarios too; that of Agarwal et al. 2021 resamples
the runs of each task.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from jaxenv.evaluation import Evaluation

RESAMPLES = 2_000
MIN_SPREAD = 0.1  # of top - random: scenarios with less to win have no score
MEANINGS = {
    "exact best": "1 the best return, exact by search",
    "upper bound": "1 a proven upper bound of the mean return, which may be out of reach",
    "best known": "1 the best known return",
}
"""Kind of reference return, from the strongest -> the meaning of a score of 1."""


@dataclasses.dataclass(frozen=True)
class Aggregate:
    """A point estimate and its 95 % interval."""

    value: float  # of the statistic
    low: float  # the 2.5th percentile of the resamples
    high: float  # the 97.5th

    def __str__(self) -> str:
        """`0.982 (0.975 to 0.990)`."""
        return f"{self}"

    def __format__(self, form: str) -> str:
        """The same with another format of the three numbers, such as `.1f` or `.0%`."""
        form = form or ".3f"
        return f"{self.value:{form}} ({self.low:{form}} to {self.high:{form}})"


def mean(scores: np.ndarray) -> float:
    """The mean over scenarios of the mean over seeds, of [seeds, S] scores."""
    return float(scores.mean())


def paired_difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The mean over scenarios of the difference between the mean over the seeds of `ours` and over those of `theirs`.

    >>> paired_difference(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([[2.5, 4.0]]))
    0.25

    Args:
        ours: [seeds, S] scores.
        theirs: [other seeds, S] scores on the same scenarios.
    """
    return float((ours.mean(axis=0) - theirs.mean(axis=0)).mean())


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
    labels = np.zeros(samples[0].shape[1], int) if strata is None else strata
    drawn = _draws(tuple(map(len, samples)), tuple(labels.tolist()), RESAMPLES, seed)
    resampled = [
        statistic(*(scores[np.ix_(rows, columns)] for scores, rows in zip(samples, seeds, strict=True)))
        for seeds, columns in drawn
    ]
    low, high = np.percentile(resampled, [2.5, 97.5])
    return Aggregate(statistic(*samples), float(low), float(high))


@functools.lru_cache(maxsize=4)  # sets of as many scenarios share them, and the draws cost more than a mean
def _draws(seeds: tuple[int, ...], labels: tuple[Any, ...], resamples: int, seed: int) -> list[Any]:
    """(the seeds of each sample, the scenarios) of each resample."""
    random = np.random.default_rng(seed)
    groups = [np.flatnonzero(np.equal(labels, label)) for label in sorted(set(labels))]

    def draw() -> tuple[list[np.ndarray], np.ndarray]:
        rows = [random.integers(size, size=size) for size in seeds]
        return rows, np.concatenate([random.choice(group, size=group.size) for group in groups]).astype(np.int32)

    return [draw() for _ in range(resamples)]


@dataclasses.dataclass(frozen=True)
class ReferenceReturns:
    """Reference returns of S scenarios, NaN where unknown."""

    ids: Sequence[str]
    random: np.ndarray  # [S] mean return of a random policy
    top: np.ndarray  # [S] the return that scores 1
    kind: str  # of `top`, one of `MEANINGS`

    @property
    def meaning(self) -> str:
        """The meaning of 0 and 1, in words."""
        return f"0 is Random, {MEANINGS[self.kind]}"


@dataclasses.dataclass(frozen=True)
class Summary:
    """A policy over S scenarios."""

    returns: np.ndarray  # [S], means over repetitions
    scores: np.ndarray  # [S], NaN where there is no score
    mean_score: Aggregate | None  # over the scenarios with a score, its interval over scenarios; None if none has one
    terminated: float  # share of episodes that terminated rather than hit the time limit
    succeeded: float = 0.0  # share of episodes that ended in success


def references(ids: Sequence[str], rows: Mapping[str, Mapping[str, Any]]) -> ReferenceReturns:
    """The references in rows of known returns, by scenario; they are called by the weakest kind among them.

    A row has `random` and `best`; where `best_is` is not `exact`, it may have `upper`, a proven bound of `best`.

    >>> references(("a", "b"), {"a": {"random": 0.0, "best": 3.0, "best_is": "found", "upper": 4.0}})
    ReferenceReturns(ids=('a', 'b'), random=array([ 0., nan]), top=array([ 4., nan]), kind='upper bound')
    """
    tops = {id: _top(row) for id, row in rows.items()}
    random = np.array([rows[id]["random"] if id in rows else np.nan for id in ids])
    top = np.array([tops[id][1] if id in tops else np.nan for id in ids])
    kinds = [kind for kind in MEANINGS if kind in {kind for kind, _ in tops.values()}]
    return ReferenceReturns(ids, random, top, kinds[-1] if kinds else "best known")


def _top(row: Mapping[str, Any]) -> tuple[str, float]:
    """(its kind, the return that scores 1)."""
    if "upper" in row:
        return "upper bound", row["upper"]
    return "exact best" if row.get("best_is", "exact") == "exact" else "best known", row["best"]


def summarize(played: Evaluation, reference: ReferenceReturns) -> Summary:
    """The summary of a policy from its episodes, R of each of the S scenarios."""
    means = np.asarray(played.returns).mean(axis=1)
    each = score(means, reference)
    scored = each[~np.isnan(each)]
    mean_score = aggregate(scored[None]) if scored.size else None
    return Summary(means, each, mean_score, *(float(np.mean(ends)) for ends in (played.terminated, played.succeeded)))


def score(returns: np.ndarray, reference: ReferenceReturns) -> np.ndarray:
    """[S]: (return - random) / (top - random), NaN where top - random is unknown or less than 0.1.

    >>> known = ReferenceReturns(("a", "b"), np.array([1.0, 1.0]), np.array([5.0, np.nan]), "exact best")
    >>> score(np.array([3.0, 3.0]), known)
    array([0.5, nan])
    """
    spread = reference.top - reference.random
    is_scored = spread >= MIN_SPREAD
    return np.where(is_scored, (returns - reference.random) / np.where(is_scored, spread, 1.0), np.nan)


def table(
    reference: ReferenceReturns, results: Mapping[str, Evaluation], validation: Mapping[str, float] | None = None
) -> str:
    """A row per scenario: Random, each policy, the reference return by its kind, and the score of the last policy.

    Below are means, and statistics of each policy where the environment counts them (`jaxenv.Evaluation.figures`).

    Args:
        reference: ids, random and reference returns of the S scenarios.
        results: name -> evaluation over those scenarios; the last is the policy that the table is about.
        validation: name -> mean return on the validation set, Random included; no row if it is empty.
    """
    summaries = {name: summarize(result, reference) for name, result in results.items()}
    name, summary = list(summaries.items())[-1]
    header = ["", "Random", *summaries, reference.kind, "score"]
    figures = [result.figures() for result in results.values()]
    did = [[figure, "", *(_number(each[figure]) for each in figures), "", ""] for figure in figures[-1]]
    rows = [*_scenario_rows(reference, list(summaries.values())), *_summary_rows(summaries, validation or {}), *did]
    lines = aligned([header, *rows])
    rule = "-" * len(lines[0])
    last_scenario = 1 + len(reference.ids)
    return "\n".join(
        [lines[0], rule, *lines[1:last_scenario], rule, *lines[last_scenario:], "", *_notes(name, summary, reference)]
    )


def _scenario_rows(reference: ReferenceReturns, summaries: Sequence[Summary]) -> list[list[str]]:
    """A row of returns per scenario."""
    columns = [reference.random, *(summary.returns for summary in summaries), reference.top, summaries[-1].scores]
    return [[id, *(_number(column[row]) for column in columns)] for row, id in enumerate(reference.ids)]


def _summary_rows(summaries: Mapping[str, Summary], validation: Mapping[str, float]) -> list[list[str]]:
    """The rows below the scenarios; by definition Random scores 0 and the reference 1."""
    each = list(summaries.values())
    scores = [summary.mean_score.value for summary in each if summary.mean_score]
    terminated = [f"{summary.terminated:.0%}" for summary in each]
    rows = [["mean score", *map(_number, [0.0, *scores, 1.0, scores[-1]])]] if scores else []
    rows.append(["ended naturally", "", *terminated, "", ""])
    if any(summary.succeeded for summary in each):
        rows.append(["succeeded", "", *(f"{summary.succeeded:.0%}" for summary in each), "", ""])
    if validation:
        rows.append(["validation return", *(_number(validation[name]) for name in ("Random", *summaries)), "", ""])
    return rows


def _notes(name: str, summary: Summary, reference: ReferenceReturns) -> Iterable[str]:
    """The confidence interval, the meaning of scores, and the scenarios without a score."""
    is_scored, found = ~np.isnan(summary.scores), summary.mean_score
    if found is None:
        yield "no scores: the best return of these scenarios is unknown, or too close to random"
        return
    yield (
        f"{name}: mean score {found.value:.3f}, 95 % interval {found.low:.3f} to {found.high:.3f} "
        f"(bootstrap over {np.count_nonzero(is_scored)} scenarios)"
    )
    yield f"score: {reference.meaning}"
    if not is_scored.all():
        ids = [id for id, scored in zip(reference.ids, is_scored, strict=True) if not scored]
        yield f"without a score, since {reference.kind} - random is unknown or less than {MIN_SPREAD}: {', '.join(ids)}"


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as lines, with the first column left-aligned and the others right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
