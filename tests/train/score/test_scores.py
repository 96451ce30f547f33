"""Scores and the table made of them."""

import numpy as np
import pytest

from jaxenv.evaluation import Evaluation
from train.score.report import table
from train.score.scores import ReferenceReturns, bootstrap_interval, summarize

KNOWN = ReferenceReturns(
    ids=("a", "b", "flat", "new"), random=np.array([0.0, 2.0, 1.0, 0.0]), best=np.array([4.0, 4.0, 1.05, np.nan])
)


def evaluation(returns, won=100) -> Evaluation:
    returns = np.array(returns, np.float32)[:, None]
    ended = np.array([True, False, True, True])[:, None]
    return Evaluation(returns, np.ones_like(returns, int), ended, returns > 100, returns >= won)


def test_a_score_is_a_share_of_the_best_return():
    played = evaluation([2.0, 4.0, 1.0, 7.0])
    summary = summarize(played.returns, played.terminated, KNOWN)
    np.testing.assert_array_equal(summary.scores, [0.5, 1.0, np.nan, np.nan])
    assert summary.mean_score == 0.75
    assert summary.terminated == 0.75


def test_repetitions_are_averaged_before_they_are_scored():
    returns = np.array([[1.0, 3.0], [4.0, 4.0], [1.0, 1.0], [0.0, 0.0]])
    assert summarize(returns, returns > 0, KNOWN).scores[0] == 0.5


def test_the_interval_holds_the_mean_and_narrows_with_more():
    few = np.random.default_rng(0).normal(0.5, 0.2, size=12)
    low, high = bootstrap_interval(few)
    assert low < few.mean() < high
    assert high - low == pytest.approx(2 * 1.96 * few.std() / 12**0.5, rel=0.15)
    narrow = np.subtract(*bootstrap_interval(np.tile(few, 16))[::-1])
    assert narrow == pytest.approx((high - low) / 4, rel=0.15)


def test_unknown_best_returns_give_no_score():
    unknown = ReferenceReturns(("a",), np.zeros(1), np.full(1, np.nan))
    summary = summarize(np.ones((1, 1)), np.ones((1, 1)), unknown)
    assert np.isnan([summary.mean_score, *summary.interval]).all()


def test_the_table():
    text = table(KNOWN, {"Rules": evaluation([1, 2, 1, 1]), "PPO": evaluation([2, 4, 1, 7])})
    header, _, first, *_ = text.splitlines()
    assert header.split() == ["Random", "Rules", "PPO", "best", "known", "score"]
    assert first.split() == ["a", "0.00", "1.00", "2.00", "4.00", "0.50"]
    mean = next(line for line in text.splitlines() if line.startswith("mean score"))
    assert mean.split()[2:] == ["0.00", "0.12", "0.75", "1.00", "0.75"]
    assert "unknown or less than 0.1: flat, new" in text
    assert "validation" not in text
    assert "succeeded" not in text


def test_the_table_shows_successes_if_any():
    lines = table(KNOWN, {"Rules": evaluation([1, 2, 1, 1]), "PPO": evaluation([2, 4, 1, 7], won=4)}).splitlines()
    assert next(line for line in lines if line.startswith("succeeded")).split() == ["succeeded", "0%", "50%"]


def test_the_table_shows_validation_returns():
    results = {"Rules": evaluation([1, 2, 1, 1]), "PPO": evaluation([2, 4, 1, 7])}
    *_, last, _, _, _ = table(KNOWN, results, {"Random": -1.0, "Rules": 2.5, "PPO": 12.345}).splitlines()
    assert last.split() == ["validation", "return", "-1.00", "2.50", "12.35"]


def test_the_table_without_scores():
    unknown = ReferenceReturns(("a",), np.zeros(1), np.full(1, np.nan))
    one = Evaluation(np.ones((1, 1)), np.ones((1, 1), int), *(np.full((1, 1), end) for end in (True, False, False)))
    text = table(unknown, {"PPO": one})
    assert "no scores" in text
    assert "nan" not in text
    assert "mean score" not in text
