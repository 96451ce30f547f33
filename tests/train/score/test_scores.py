"""Scores and the table made of them."""

import numpy as np
import pytest

from jaxenv.evaluation import Evaluation
from train.score.scores import ReferenceReturns, references, summarize, table

KNOWN = ReferenceReturns(
    ids=("a", "b", "flat", "new"),
    random=np.array([0.0, 2.0, 1.0, 0.0]),
    top=np.array([4.0, 4.0, 1.05, np.nan]),
    kind="exact best",
)
UNKNOWN = ReferenceReturns(("a",), np.zeros(1), np.full(1, np.nan), "best known")


def evaluation(returns, won=100) -> Evaluation:
    returns = np.array(returns, np.float32)[:, None]
    ended = np.array([True, False, True, True])[:, None]
    return Evaluation(returns, np.ones_like(returns, int), ended, returns > 100, returns >= won)


def test_a_score_is_a_share_of_the_best_return():
    played = evaluation([2.0, 4.0, 1.0, 7.0])
    summary = summarize(played, KNOWN)
    np.testing.assert_array_equal(summary.scores, [0.5, 1.0, np.nan, np.nan])
    assert summary.mean_score.value == 0.75
    assert summary.terminated == 0.75


def test_repetitions_are_averaged_before_they_are_scored():
    returns = np.array([[1.0, 3.0], [4.0, 4.0], [1.0, 1.0], [0.0, 0.0]])
    assert summarize(Evaluation(returns, *[returns > 0] * 4), KNOWN).scores[0] == 0.5


def test_the_interval_holds_the_mean_and_narrows_with_more():
    def interval(scores):
        reference = ReferenceReturns(tuple(map(str, scores)), 0 * scores, 0 * scores + 1, "exact best")
        found = summarize(Evaluation(*[scores[:, None]] * 5), reference).mean_score
        assert found.low < few.mean() < found.high
        return found.high - found.low

    few = np.random.default_rng(0).normal(0.5, 0.2, size=12)
    assert interval(few) == pytest.approx(2 * 1.96 * few.std() / 12**0.5, rel=0.15)
    assert interval(np.tile(few, 16)) == pytest.approx(interval(few) / 4, rel=0.15)


def test_unknown_best_returns_give_no_score():
    assert summarize(Evaluation(*[np.ones((1, 1))] * 5), UNKNOWN).mean_score is None


def test_a_bound_is_no_best_return_and_is_called_so():
    exact, bound = {"random": 0.0, "best": 2.0}, {"random": 0.0, "best": 3.0, "best_is": "found", "upper": 4.0}
    found = references(("a", "b", "new"), {"a": exact, "b": bound})
    np.testing.assert_array_equal(found.top, [2.0, 4.0, np.nan])
    assert found.kind == "upper bound"
    assert "a proven upper bound of the mean return, which may be out of reach" in found.meaning
    assert references(("a",), {"a": exact}).kind == "exact best"
    assert references(("a",), {"a": {**exact, "best_is": "found"}}).kind == "best known"
    assert references(("new",), {}).kind == "best known"


def test_the_table():
    text = table(KNOWN, {"Rules": evaluation([1, 2, 1, 1]), "PPO": evaluation([2, 4, 1, 7])})
    header, _, first, *_ = text.splitlines()
    assert header.split() == ["Random", "Rules", "PPO", "exact", "best", "score"]
    assert first.split() == ["a", "0.00", "1.00", "2.00", "4.00", "0.50"]
    mean = next(line for line in text.splitlines() if line.startswith("mean score"))
    assert mean.split()[2:] == ["0.00", "0.12", "0.75", "1.00", "0.75"]
    assert "exact best - random is unknown or less than 0.1: flat, new" in text
    assert "score: 0 is Random, 1 the best return, exact by search" in text
    assert "validation" not in text
    assert "succeeded" not in text


def test_the_table_shows_successes_if_any():
    lines = table(KNOWN, {"Rules": evaluation([1, 2, 1, 1]), "PPO": evaluation([2, 4, 1, 7], won=4)}).splitlines()
    assert next(line for line in lines if line.startswith("succeeded")).split() == ["succeeded", "0%", "50%"]


def test_the_table_shows_validation_returns():
    results = {"Rules": evaluation([1, 2, 1, 1]), "PPO": evaluation([2, 4, 1, 7])}
    *_, last, _, _, _, _ = table(KNOWN, results, {"Random": -1.0, "Rules": 2.5, "PPO": 12.345}).splitlines()
    assert last.split() == ["validation", "return", "-1.00", "2.50", "12.35"]


def test_the_table_without_scores():
    one = Evaluation(np.ones((1, 1)), np.ones((1, 1), int), *(np.full((1, 1), end) for end in (True, False, False)))
    text = table(UNKNOWN, {"PPO": one})
    assert "no scores" in text
    assert "nan" not in text
    assert "mean score" not in text


class Counted:
    """Statistics that tell figures."""

    def pooled(self):
        return {"messages": 12.0, "coverage": 0.5}


def test_the_table_shows_what_each_policy_did_where_that_is_counted():
    rules, ours = evaluation([1, 2, 1, 1]), evaluation([2, 4, 1, 7]).replace(statistics=Counted())
    lines = table(KNOWN, {"Rules": rules.replace(statistics=Counted()), "PPO": ours}).splitlines()
    assert ["coverage", "0.50", "0.50"] in [line.split() for line in lines]
    assert ["messages", "12.00", "12.00"] in [line.split() for line in lines]
    assert rules.figures() == {}
