"""The table at the end of a run: policies side by side over the scenarios of a bank."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from jaxenv.evaluation import Evaluation
from train.score.scores import MIN_SPREAD, ReferenceReturns, Summary, summarize


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
    summaries = {
        name: summarize(
            np.asarray(result.returns), np.asarray(result.terminated), reference, np.asarray(result.succeeded)
        )
        for name, result in results.items()
    }
    name, summary = list(summaries.items())[-1]
    header = ["", "Random", *summaries, reference.kind, "score"]
    figures = [result.figures() for result in results.values()]
    did = [[figure, "", *(_number(each[figure]) for each in figures), "", ""] for figure in figures[-1]]
    rows = [*_scenario_rows(reference, list(summaries.values())), *_summary_rows(summaries, validation or {}), *did]
    lines = _aligned([header, *rows])
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


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as lines, with the first column left-aligned and the others right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
