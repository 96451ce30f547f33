"""Statistics that compare agents, by hand."""

import itertools

import numpy as np
import pytest

from lab.results import statistics
from train.score import scores as aggregates


def test_the_interquartile_mean_is_that_of_the_middle_half():
    values = np.array([9.0, 1.0, 2.0, -50.0, 3.0, 4.0, 5.0, 80.0]).reshape(2, 4)
    assert statistics.interquartile_mean(values) == np.mean([2.0, 3.0, 4.0, 5.0])
    assert statistics.interquartile_mean(np.array([[1.0, 2.0, 6.0]])) == 3.0  # nothing to cut: less than a quarter


def test_the_probability_of_improvement_against_every_pair():
    random = np.random.default_rng(0)
    ours, theirs = random.integers(4, size=(3, 5)), random.integers(4, size=(4, 5))
    pairs = [
        1.0 if a[k] > b[k] else 0.5 if a[k] == b[k] else 0.0
        for a, b in itertools.product(ours, theirs)
        for k in range(5)
    ]
    assert statistics.probability_of_improvement(ours, theirs) == pytest.approx(np.mean(pairs))
    assert statistics.probability_of_improvement(theirs, ours) == pytest.approx(1 - np.mean(pairs))


def test_the_mean_and_the_paired_difference_order_what_two_humps_hide():
    """A half of the crises is won for +10, else lost for -9; ours wins two of twenty more and pays 0.01 of upkeep."""
    theirs = np.where(np.arange(20) < 10, 10.0, -9.0)[None].repeat(3, axis=0)
    ours = np.where(np.arange(20) < 12, 9.99, -9.01)[None].repeat(3, axis=0)
    assert aggregates.paired_difference(ours, theirs) == pytest.approx(2 * 19 / 20 - 0.01)
    assert aggregates.paired_difference(ours, theirs) == pytest.approx(aggregates.mean(ours) - aggregates.mean(theirs))
    assert statistics.probability_of_improvement(ours, theirs) == 0.1  # "worse"
    assert statistics.interquartile_mean(ours[:, :15]) == pytest.approx(9.99)  # one of five is lost, and not seen


def test_a_paired_difference_draws_the_same_scenarios_for_both():
    """Scenarios differ by far more than the agents do: paired, the interval is that of the difference alone."""
    random = np.random.default_rng(2)
    theirs = 100 * random.normal(size=(1, 50)).repeat(4, axis=0)
    found = aggregates.aggregate(theirs + 0.5, theirs, statistic=aggregates.paired_difference)
    assert [found.value, found.low, found.high] == pytest.approx([0.5] * 3)
    assert aggregates.aggregate(theirs).high - aggregates.aggregate(theirs).low > 10
