"""Aggregates by hand, and intervals that cover what they should."""

import itertools

import numpy as np
import pytest

from train.score import aggregates


def test_the_interquartile_mean_is_that_of_the_middle_half():
    values = np.array([9.0, 1.0, 2.0, -50.0, 3.0, 4.0, 5.0, 80.0]).reshape(2, 4)
    assert aggregates.interquartile_mean(values) == np.mean([2.0, 3.0, 4.0, 5.0])
    assert aggregates.interquartile_mean(np.array([[1.0, 2.0, 6.0]])) == 3.0  # nothing to cut: less than a quarter


def test_the_probability_of_improvement_against_every_pair():
    random = np.random.default_rng(0)
    ours, theirs = random.integers(4, size=(3, 5)), random.integers(4, size=(4, 5))
    pairs = [
        1.0 if a[k] > b[k] else 0.5 if a[k] == b[k] else 0.0
        for a, b in itertools.product(ours, theirs)
        for k in range(5)
    ]
    assert aggregates.probability_of_improvement(ours, theirs) == pytest.approx(np.mean(pairs))
    assert aggregates.probability_of_improvement(theirs, ours) == pytest.approx(1 - np.mean(pairs))


def test_the_interval_covers_the_truth_as_often_as_it_says(monkeypatch):
    """Means of eight seeds and forty scenarios around 0, whose effects are drawn anew: about 95 % hold it."""
    monkeypatch.setattr(aggregates, "RESAMPLES", 200)
    random, covered = np.random.default_rng(1), 0
    for _ in range(200):
        scores = random.normal(size=(8, 1)) * 0.3 + random.normal(size=(1, 40)) + 0.5 * random.normal(size=(8, 40))
        found = aggregates.aggregate(scores, lambda x: float(x.mean()))
        assert found.low <= found.value <= found.high
        covered += found.low <= 0.0 <= found.high
    assert 0.85 <= covered / 200 <= 1.0


def test_strata_keep_their_share():
    """Scenarios of two difficulties with scores 0 and 1: each resample has as many of each."""
    scores = np.repeat([[0.0] * 30 + [1.0] * 10], 3, axis=0)
    found = aggregates.aggregate(scores, lambda x: float(x.mean()), strata=np.array([0] * 30 + [1] * 10))
    assert found.low == found.high == 0.25
    assert str(found) == "0.250 (0.250 to 0.250)"
