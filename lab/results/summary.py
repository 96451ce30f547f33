"""Measurements as a few numbers with their intervals: a row for each agent."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from lab.results import statistics
from lab.results.measure import LIBRARY, Measured
from train.score.held_out import TEST
from train.score.scores import Aggregate, ReferenceReturns, aggregate, mean, score

REFERENCE_AGENT = "PPO"  # whom the others are compared with
WHOLE_TEST = "test"  # easy, medium and hard together
COMPARED = (WHOLE_TEST, "shifted")
Arrays = Mapping[str, np.ndarray]  # set -> [seeds, S]


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


def rows(measured: Mapping[str, Measured], reference: ReferenceReturns | None) -> list[Row]:
    """A row for each agent.

    Args:
        measured: agent -> its results in one environment.
        reference: the returns of Random and those that score 1 on the library, if it has one.
    """
    return [_row(agent, measured, reference) for agent in measured]


def _row(agent: str, measured: Mapping[str, Measured], reference: ReferenceReturns | None) -> Row:
    found, rival = measured[agent], None if agent == REFERENCE_AGENT else measured.get(REFERENCE_AGENT)
    can_be_won = any(shares.any() for each in measured.values() for shares in each.succeeded.values())
    returns, succeeded = _with_test(found.returns), _with_test(found.succeeded if can_be_won else {})
    rival_returns, rival_succeeded = (_with_test(rival.returns), _with_test(rival.succeeded)) if rival else ({}, {})
    library_score = None if reference is None else _library_score(returns, reference)
    return Row(
        agent=agent,
        returns=_over(returns, returns, statistic=mean),
        succeeded=_over(succeeded, succeeded, statistic=mean),
        return_gained=_over(COMPARED, returns, rival_returns, statistic=statistics.paired_difference),
        success_gained=_over(COMPARED, succeeded, rival_succeeded, statistic=statistics.paired_difference),
        interquartile=_over([WHOLE_TEST], returns, statistic=statistics.interquartile_mean).get(WHOLE_TEST),
        better=_over([WHOLE_TEST], returns, rival_returns, statistic=statistics.probability_of_improvement).get(
            WHOLE_TEST
        ),
        library_score=library_score,
        score_is="" if reference is None or library_score is None else reference.kind,
        figures=_figures(found.about.get("figures", {})),
        about=found.about,
    )


def _with_test(arrays: Arrays) -> Arrays:
    """The whole test set, if any of it is there, before its parts and the other sets."""
    parts = [arrays[name] for name in TEST if name in arrays]
    return {**({WHOLE_TEST: np.concatenate(parts, axis=1)} if parts else {}), **arrays}


def _over(names: Iterable[str], *samples: Arrays, statistic: Callable[..., float]) -> dict[str, Aggregate]:
    """Set -> a statistic of the samples, for the sets that all samples have."""
    sizes = [samples[0][name].shape[1] for name in TEST if name in samples[0]]
    strata = {WHOLE_TEST: np.repeat(np.arange(len(sizes)), sizes)}
    return {
        name: aggregate(*(sample[name] for sample in samples), statistic=statistic, strata=strata.get(name))
        for name in names
        if all(name in sample for sample in samples)
    }


def _library_score(returns: Arrays, reference: ReferenceReturns) -> Aggregate | None:
    """The mean score over the scenarios that have one; None if none has."""
    if LIBRARY not in returns:
        return None
    scores = np.stack([score(each, reference) for each in returns[LIBRARY]])
    scored = scores[:, ~np.isnan(scores[0])]
    return aggregate(scored) if scored.size else None


def _figures(by_set: Mapping[str, Mapping[str, list[float]]]) -> dict[str, list[float]]:
    """Name -> mean over the test set, of each seed."""
    parts = [by_set[name] for name in TEST if name in by_set]
    return {name: np.mean([part[name] for part in parts], axis=0).tolist() for name in (parts[0] if parts else {})}
