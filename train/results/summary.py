"""What was measured as a few numbers with their intervals: a row for each agent."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from train.results.held_out import SETS, TEST
from train.results.measure import LIBRARY, Measured
from train.score.aggregates import Aggregate, aggregate, improvement
from train.score.scores import ReferenceReturns, score

REFERENCE_AGENT = "PPO"  # whom the others are compared with


@dataclasses.dataclass(frozen=True)
class Row:
    """An agent in an environment; None where there is nothing to say."""

    agent: str
    test: Aggregate | None  # interquartile mean of returns over all difficulties
    sets: Mapping[str, Aggregate]  # the same of each set
    succeeded: Mapping[str, float]  # share of episodes, by set
    library_score: Aggregate | None  # mean score: 0 is Random, 1 the best known return
    library_return: float | None  # mean
    better: Aggregate | None  # probability that it improves upon the agent `REFERENCE_AGENT` on the test set
    about: Mapping[str, Any]


def rows(measured: Mapping[str, Measured], reference: ReferenceReturns | None) -> list[Row]:
    """A row for each agent.

    Args:
        measured: agent -> what it reached in one environment.
        reference: the returns of Random and the best known ones on the library, if it has one.
    """
    return [_row(agent, measured, reference) for agent in measured]


def _row(agent: str, measured: Mapping[str, Measured], reference: ReferenceReturns | None) -> Row:
    found, rival = measured[agent], measured.get(REFERENCE_AGENT)
    library = found.returns.get(LIBRARY)
    test, strata = _test(found)
    rival_test = None if rival is None or agent == REFERENCE_AGENT else _test(rival)[0]
    return Row(
        agent=agent,
        test=None if test is None else aggregate(test, strata=strata),
        sets={name: aggregate(found.returns[name]) for name in SETS if name in found.returns},
        succeeded={name: float(values.mean()) for name, values in found.succeeded.items()},
        library_score=None if library is None or reference is None else _library_score(library, reference),
        library_return=None if library is None else float(library.mean()),
        better=None if test is None or rival_test is None else improvement(test, rival_test, strata=strata),
        about=found.about,
    )


def _test(measured: Measured) -> tuple[np.ndarray | None, np.ndarray | None]:
    """([seeds, S] returns on the test set, [S] their difficulties), None without one."""
    parts = [measured.returns[name] for name in TEST if name in measured.returns]
    if not parts:
        return None, None
    return np.concatenate(parts, axis=1), np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])


def _library_score(returns: np.ndarray, reference: ReferenceReturns) -> Aggregate | None:
    """The mean score over the scenarios that have one; None if none has."""
    scores = np.stack([score(each, reference) for each in returns])
    scored = scores[:, ~np.isnan(scores[0])]
    return aggregate(scored, lambda values: float(values.mean())) if scored.size else None
