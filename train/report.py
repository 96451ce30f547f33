"""The table at the end of a run: policies side by side over the scenarios of a bank."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from jaxenv.evaluation import Evaluation
from train.scores import LEAST_SPREAD, Known, Summary, summarise


def table(known: Known, results: Mapping[str, Evaluation], validation: Mapping[str, float] | None = None) -> str:
    """A row per scenario: Random, each policy, the best known return, and the score of the last policy.

    Args:
        known: ids, random and best returns of the S scenarios.
        results: name -> evaluation over those scenarios; the last is the policy that the table is about.
        validation: name -> mean return on the validation set, of Random too; no row where it is empty.
    """
    summaries = {
        name: summarise(np.asarray(result.returns), np.asarray(result.terminated), known, np.asarray(result.succeeded))
        for name, result in results.items()
    }
    name, summary = list(summaries.items())[-1]
    header = ["", "Random", *summaries, "best known", "score"]
    rows = [*_scenario_rows(known, list(summaries.values())), *_summary_rows(summaries, validation or {})]
    lines = _aligned([header, *rows])
    rule = "-" * len(lines[0])
    last_scenario = 1 + len(known.ids)
    return "\n".join(
        [lines[0], rule, *lines[1:last_scenario], rule, *lines[last_scenario:], "", *_notes(name, summary, known)]
    )


def _scenario_rows(known: Known, summaries: Sequence[Summary]) -> list[list[str]]:
    """A row of returns per scenario."""
    columns = [known.random, *(summary.returns for summary in summaries), known.best, summaries[-1].scores]
    return [[id, *(_number(column[row]) for column in columns)] for row, id in enumerate(known.ids)]


def _summary_rows(summaries: Mapping[str, Summary], validation: Mapping[str, float]) -> list[list[str]]:
    """The rows under the line; by its definition the score of Random is 0 and that of the best 1."""
    each = list(summaries.values())
    means = [0.0, *(summary.mean_score for summary in each), 1.0, each[-1].mean_score]
    ended = [f"{summary.terminated:.0%}" for summary in each]
    rows = [["mean score", *map(_number, means)], ["ended naturally", "", *ended, "", ""]]
    if any(summary.succeeded for summary in each):
        rows.append(["succeeded", "", *(f"{summary.succeeded:.0%}" for summary in each), "", ""])
    if validation:
        rows.append(["validation return", *(_number(validation[name]) for name in ("Random", *summaries)), "", ""])
    return rows[1:] if np.isnan(each[-1].mean_score) else rows


def _notes(name: str, summary: Summary, known: Known) -> Iterable[str]:
    """What the table does not show: the interval, and the scenarios without a score."""
    is_scored = ~np.isnan(summary.scores)
    if not is_scored.any():
        yield "no scores: what can be won in these scenarios is not known, or too little"
        return
    low, high = summary.interval
    yield (
        f"{name}: mean score {summary.mean_score:.3f}, 95 % interval {low:.3f} to {high:.3f} "
        f"(bootstrap over {np.count_nonzero(is_scored)} scenarios)"
    )
    if not is_scored.all():
        ids = [id for id, scored in zip(known.ids, is_scored, strict=True) if not scored]
        yield f"without a score, as best - random is under {LEAST_SPREAD} or not known: {', '.join(ids)}"


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as lines: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
