"""Metrics: sums add up, means are means, a torn line is left out."""

import jax.numpy as jnp
import numpy as np

from jaxenv.wrappers import EpisodeSummary
from train.metrics import Ended, Losses, Metrics, MetricsWriter, over_updates, read_metrics, summarise


def metrics(counts, losses) -> Metrics:
    """Of several updates: episodes of return 2 and length 3, half of them natural ends; every loss the same."""
    count, loss = jnp.array(counts, jnp.int32), jnp.array(losses, jnp.float32)
    episodes = EpisodeSummary(count=count, return_sum=2.0 * count, length_sum=3 * count)
    return Metrics(Ended(episodes, count // 2), Losses(*[loss] * 5), loss, loss, loss, loss)


def test_means_are_taken_over_episodes_and_updates():
    record = summarise(over_updates(metrics([4, 0, 2], [1.0, 2.0, 6.0])))
    assert (record["episodes"], record["return"], record["length"], record["terminated"]) == (6, 2.0, 3.0, 0.5)
    assert record["policy_loss"] == record["grad_norm"] == 3.0


def test_no_episode_no_mean():
    record = summarise(over_updates(metrics([0, 0], [1.0, 1.0])))
    assert record["episodes"] == 0
    assert record["return"] is record["length"] is record["terminated"] is None


def test_records_come_back_but_for_a_torn_one(tmp_path):
    path = tmp_path / "metrics.jsonl"
    with MetricsWriter(path) as writer:
        writer.write({"return": None, "env_steps": 2**40})
        assert list(read_metrics(path)) == [{"return": None, "env_steps": 2**40}]
        writer.write({"return": 1.5, "env_steps": 2**41})
    whole = path.read_text()
    path.write_text(whole[:-3])
    np.testing.assert_equal(list(read_metrics(path)), [{"return": None, "env_steps": 2**40}])


def test_what_comes_again_is_cut_off(tmp_path):
    path = tmp_path / "metrics.jsonl"
    with MetricsWriter(path) as writer:
        for superstep in range(5):
            writer.write({"superstep": superstep})
    with MetricsWriter(path, from_superstep=3) as writer:
        assert list(read_metrics(path)) == [{"superstep": n} for n in range(3)]
        writer.write({"superstep": 3})
    assert list(read_metrics(path)) == [{"superstep": n} for n in range(4)]
