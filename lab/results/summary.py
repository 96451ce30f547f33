"""Measurements as a few numbers with their intervals: a row for each agent."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from lab.results import statistics
from train.protocol.score import WHOLE_TEST, Score, over, score_of_library, with_test
from train.score.held_out import TEST
from train.score.scores import Aggregate, ReferenceReturns, mean, paired_difference

REFERENCE_AGENT = "PPO"  # whom the others are compared with
COMPARED = (WHOLE_TEST, "shifted")


@dataclasses.dataclass(frozen=True)
class Row:
    """An agent in an environment; no entry, or None, where there is nothing to say."""

    agent: str
    returns: Mapping[str, Aggregate]  # mean, by set
    succeeded: Mapping[str, Aggregate]  # share of episodes, by set; empty if no agent ever succeeds
    return_gained: Mapping[str, Aggregate]  # paired difference to the agent `REFERENCE_AGENT`, by set
    success_gained: Mapping[str, Aggregate]  # the same of the share of successes
    interquartile: Aggregate | None  # interquartile mean of returns on the test set
    better: Aggregate | None  # probability that it improves upon the agent `REFERENCE_AGENT` on the test set
    library_score: Aggregate | None  # mean score: 0 is Random
    score_is: str  # the kind of return that scores 1, "" without scores
    figures: Mapping[str, list[float]]  # figures of each seed on the test set, where they exist
    about: Mapping[str, Any]


def rows(measured: Mapping[str, Score], reference: ReferenceReturns | None) -> list[Row]:
    """A row for each agent.

    Args:
        measured: agent -> its results in one environment.
        reference: the returns of Random and those that score 1 on the library, if it has one.
    """
    return [_row(agent, measured, reference) for agent in measured]


def _row(agent: str, measured: Mapping[str, Score], reference: ReferenceReturns | None) -> Row:
    found, rival = measured[agent], None if agent == REFERENCE_AGENT else measured.get(REFERENCE_AGENT)
    can_be_won = any(shares.any() for each in measured.values() for shares in each.succeeded.values())
    returns, succeeded = with_test(found.returns), with_test(found.succeeded if can_be_won else {})
    rival_returns, rival_succeeded = (with_test(rival.returns), with_test(rival.succeeded)) if rival else ({}, {})
    library_score = None if reference is None else score_of_library(returns, reference)
    return Row(
        agent=agent,
        returns=_by_set(returns, returns, statistic=mean),
        succeeded=_by_set(succeeded, succeeded, statistic=mean),
        return_gained=_by_set(COMPARED, returns, rival_returns, statistic=paired_difference),
        success_gained=_by_set(COMPARED, succeeded, rival_succeeded, statistic=paired_difference),
        interquartile=_by_set([WHOLE_TEST], returns, statistic=statistics.interquartile_mean).get(WHOLE_TEST),
        better=_by_set([WHOLE_TEST], returns, rival_returns, statistic=statistics.probability_of_improvement).get(
            WHOLE_TEST
        ),
        library_score=library_score,
        score_is="" if reference is None or library_score is None else reference.kind,
        figures=_figures(found.about.get("figures", {})),
        about=found.about,
    )


def _by_set(names: Iterable[str], *samples: Mapping[str, Any], statistic: Callable[..., float]) -> dict[str, Aggregate]:
    """Set -> a statistic of the samples, for the sets that all samples have."""
    played = [name for name in names if all(name in sample for sample in samples)]
    return {name: over(name, *samples, statistic=statistic) for name in played}


def _figures(by_set: Mapping[str, Mapping[str, list[float]]]) -> dict[str, list[float]]:
    """Name -> mean over the test set, of each seed."""
    parts = [by_set[name] for name in TEST if name in by_set]
    return {name: np.mean([part[name] for part in parts], axis=0).tolist() for name in (parts[0] if parts else {})}
