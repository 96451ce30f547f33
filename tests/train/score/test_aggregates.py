"""Aggregates by hand, and intervals that cover what they should."""

import numpy as np

from train.score import scores as aggregates


def test_the_interval_covers_the_truth_as_often_as_it_says(monkeypatch):
    """Means of eight seeds and forty scenarios around 0, whose effects are drawn anew: about 95 % hold it."""
    monkeypatch.setattr(aggregates, "RESAMPLES", 200)
    random, covered = np.random.default_rng(1), 0
    for _ in range(200):
        scores = random.normal(size=(8, 1)) * 0.3 + random.normal(size=(1, 40)) + 0.5 * random.normal(size=(8, 40))
        found = aggregates.aggregate(scores)
        assert found.low <= found.value <= found.high
        covered += found.low <= 0.0 <= found.high
    assert 0.85 <= covered / 200 <= 1.0


def test_strata_keep_their_share():
    """Scenarios of two difficulties with scores 0 and 1: each resample has as many of each."""
    scores = np.repeat([[0.0] * 30 + [1.0] * 10], 3, axis=0)
    found = aggregates.aggregate(scores, strata=np.array([0] * 30 + [1] * 10))
    assert found.low == found.high == 0.25
    assert str(found) == "0.250 (0.250 to 0.250)"
