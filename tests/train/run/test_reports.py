"""Reports: each a superstep late, timed from the end of the one before, and stopped by one that failed."""

import types

import jax.numpy as jnp
import pytest

from jaxenv.wrappers import EpisodeSummary
from train.experience.rollout import EpisodeTotals
from train.run import clock as run_clock
from train.run import reports as run_reports
from train.run.clock import Clock
from train.run.reports import FailedUpdate, Reports

NONE = jnp.zeros(1, jnp.int32)
TOTALS = EpisodeTotals(EpisodeSummary(NONE, NONE, NONE), NONE)


def metrics(failed=False):
    return types.SimpleNamespace(totals=TOTALS, not_finite={"loss": jnp.array([failed])}, means=dict)


@pytest.fixture
def made(monkeypatch):
    """(reports, the records written, a function that lets time pass), where waiting for a superstep takes 2 s."""
    now, written = [100.0], []
    monkeypatch.setattr(run_clock, "time", types.SimpleNamespace(perf_counter=lambda: now[0]))

    def wait(metrics):
        now[0] += 2.0
        return {"return": None}

    monkeypatch.setattr(run_reports, "reduce_metrics", wait)
    monkeypatch.setattr(
        run_reports, "not_finite", lambda metrics: [k for k, v in metrics.not_finite.items() if v.any()]
    )
    return Reports(types.SimpleNamespace(write=written.append), Clock(1000)), written, now


def test_a_record_is_written_when_the_next_superstep_runs(made):
    reports, written, _ = made
    reports.add(0, metrics(), None)
    assert written == []
    reports.add(1, metrics(), jnp.float32(3.5))
    assert [record["superstep"] for record in written] == [0]
    reports.flush()
    reports.flush()
    assert [record["superstep"] for record in written] == [0, 1]
    assert [record["validation_return"] for record in written] == [None, 3.5]


def test_a_validation_return_is_told_once_it_is_known(made):
    reports, written, _ = made
    told = []
    reports.add(0, metrics(), jnp.float32(3.5), told.append)
    reports.add(1, metrics(), None, told.append)
    assert told == [written[0]["validation_return"]] == [3.5]
    reports.add(2, metrics(failed=True), jnp.float32(3.5), told.append)
    with pytest.raises(FailedUpdate):
        reports.flush()
    assert told == [3.5]


def test_a_superstep_is_timed_from_the_end_of_the_one_before(made):
    reports, written, now = made
    for number in range(3):
        reports.add(number, metrics(), None)
        now[0] += 0.5  # what the host does beside it
    reports.flush()
    assert [record["steps_per_second"] for record in written] == [1000 / 2.5] * 3


def test_a_failed_update_is_written_and_raised_once(made):
    reports, written, _ = made
    reports.add(0, metrics(failed=True), jnp.float32(3.5))
    with pytest.raises(FailedUpdate, match="loss"):
        reports.add(1, metrics(failed=True), None)
    assert [record["validation_return"] for record in written] == [None]
    reports.flush()
    assert len(written) == 1
