"""Metrics: sums, means, and files with an incomplete last line."""

import json

import jax.numpy as jnp
import numpy as np
import pytest

from jaxenv.wrappers import EpisodeSummary
from train.experience.rollout import EpisodeTotals
from train.learning.algorithm import Metrics
from train.log.metrics import MetricsWriter, not_finite, read_metrics, reduce_metrics


def metrics(counts, losses, **not_finite) -> Metrics:
    """Of several updates: episodes of return 2 and length 3, half of them natural ends; every loss the same."""
    count, loss = jnp.array(counts, jnp.int32), jnp.array(losses, jnp.float32)
    episodes = EpisodeSummary(count=count, return_sum=2.0 * count, length_sum=3 * count)
    return Metrics(EpisodeTotals(episodes, count // 2), {"policy_loss": loss, "grad_norm": loss}, not_finite)


def test_means_are_taken_over_episodes_and_updates():
    record = reduce_metrics(metrics([4, 0, 2], [1.0, 2.0, 6.0]))
    assert (record["episodes"], record["return"], record["length"], record["terminated"]) == (6, 2.0, 3.0, 0.5)
    assert record["policy_loss"] == record["grad_norm"] == 3.0


def test_no_episode_no_mean():
    record = reduce_metrics(metrics([0, 0], [1.0, 1.0]))
    assert record["episodes"] == 0
    assert record["return"] is record["length"] is record["terminated"] is None


def test_counts_exceed_31_bits():
    many = 700_000_000
    record = reduce_metrics(metrics([many] * 5, [1.0] * 5))
    assert record["episodes"] == 5 * many
    assert (record["return"], record["terminated"]) == (pytest.approx(2.0), 0.5)
    assert record["length"] == pytest.approx(3.0)


def test_the_return_of_several_agents_is_their_mean():
    both = metrics([4, 2], [1.0, 1.0])
    returns = jnp.array([[4.0, 8.0], [2.0, 10.0]])  # two updates, two agents
    episodes = both.totals.episodes.replace(return_sum=returns)
    both = both.replace(totals=both.totals.replace(episodes=episodes))
    assert reduce_metrics(both)["return"] == (6.0 + 18.0) / 2 / 6


def test_the_terms_of_the_first_failed_update_are_named():
    no = jnp.zeros(3, bool)
    assert not_finite(metrics([1, 1, 1], [1.0, 1.0, 1.0], value_loss=no, grad_norm=no)) == []
    yes = {"value_loss": no.at[2].set(True), "grad_norm": no.at[1].set(True), "entropy": no}
    assert not_finite(metrics([1, 1, 1], [1.0, 1.0, 1.0], **yes)) == ["grad_norm"]


def test_a_number_that_is_not_finite_is_null(tmp_path):
    path = tmp_path / "metrics.jsonl"
    with MetricsWriter(path) as writer:
        writer.write({"superstep": 0, "loss": float("nan"), "norm": float("-inf"), "return": 1.0})

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    record = json.loads(path.read_text(), parse_constant=refuse)
    assert record == {"superstep": 0, "loss": None, "norm": None, "return": 1.0}


def test_records_are_read_except_an_incomplete_one(tmp_path):
    path = tmp_path / "metrics.jsonl"
    with MetricsWriter(path) as writer:
        writer.write({"superstep": 0, "return": None, "env_steps": 2**40})
        assert list(read_metrics(path)) == [{"superstep": 0, "return": None, "env_steps": 2**40}]
        writer.write({"superstep": 1, "return": 1.5, "env_steps": 2**41})
    whole = path.read_text()
    path.write_text(whole[:-3])
    np.testing.assert_equal(list(read_metrics(path)), [{"superstep": 0, "return": None, "env_steps": 2**40}])


@pytest.mark.parametrize(
    "junk",
    [
        *(
            b"junk",
            b"3",
            b"[]",
            b'{"superstep": "3"}',
            b"{}",
            b'{"superstep": 1, "a": []}',
            b"\xff",
            b"[" * 100_000,
            b"",
        ),
        *(b'{"superstep": NaN}', b'{"superstep": -1}', b'{"superstep": 1.0}', b'{"superstep": 1, "return": NaN}'),
        *(b'{"superstep": 1, "return": -Infinity}', b'{"superstep": 1, "return": 1e999}'),
    ],
)
def test_a_line_that_is_no_record_is_named(tmp_path, junk):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"superstep": 0}\n' + junk + b'\n{"superstep": 2}\n')
    with pytest.raises(ValueError, match=r"metrics.jsonl, line 2: expected a record of the metrics, got b'") as raised:
        list(read_metrics(path))
    assert len(str(raised.value)) < 400


def test_records_that_come_again_are_dropped(tmp_path):
    path = tmp_path / "metrics.jsonl"
    with MetricsWriter(path) as writer:
        for superstep in range(5):
            writer.write({"superstep": superstep})
    with MetricsWriter(path, from_superstep=3) as writer:
        assert list(read_metrics(path)) == [{"superstep": n} for n in range(3)]
        writer.write({"superstep": 3})
    assert list(read_metrics(path)) == [{"superstep": n} for n in range(4)]


ORDERS = {
    "one is missing": ([0, 1, 3, 4], 5, r"line 3: expected the record of superstep 2, got that of 3;"),
    "one is there twice": ([0, 1, 1, 2], 3, r"line 3: expected the record of superstep 2, got that of 1;"),
    "the first is missing": ([1, 2], 3, r"line 1: expected the record of superstep 0, got that of 1;"),
    "the last is missing": ([0, 1], 3, r"line 3: expected the record of superstep 2, and there is none;"),
    "one before the cut is missing": ([0, 1, 3, 4], 3, r"line 3: expected the record of superstep 2, and there is"),
    "all are missing": ([], 3, r"line 1: expected the record of superstep 0, and there is none;"),
}


@pytest.mark.parametrize("name", ORDERS)
def test_records_that_are_not_those_of_all_supersteps_are_told(tmp_path, name):
    supersteps, done, words = ORDERS[name]
    path = tmp_path / "metrics.jsonl"
    path.write_text(before := "".join(f'{{"superstep": {number}}}\n' for number in supersteps))
    with pytest.raises(ValueError, match=rf"^{path}, {words}"):
        MetricsWriter(path, from_superstep=done)
    assert path.read_text() == before


def test_metrics_that_are_gone_are_told(tmp_path):
    with pytest.raises(ValueError, match=r"line 1: expected the record of superstep 0, and there is none"):
        MetricsWriter(tmp_path / "metrics.jsonl", from_superstep=1)
    MetricsWriter(tmp_path / "metrics.jsonl").__exit__()


def test_a_member_that_failed_has_gaps_but_no_record_twice(tmp_path):
    path = tmp_path / "metrics.jsonl"
    for supersteps in ([0, 1], [0, 1, 5], [0, 5, 6]):
        path.write_text("".join(f'{{"superstep": {number}}}\n' for number in supersteps))
        with MetricsWriter(path, from_superstep=7, may_have_gaps=True):
            assert [record["superstep"] for record in read_metrics(path)] == supersteps
    for supersteps in ([0, 1, 1], [1, 2], [0, 2, 1]):
        path.write_text("".join(f'{{"superstep": {number}}}\n' for number in supersteps))
        with pytest.raises(ValueError, match=r"expected the record of superstep"):
            MetricsWriter(path, from_superstep=7, may_have_gaps=True)
