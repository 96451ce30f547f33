"""Outputs: each record is a superstep late, timed from the end of the one before, and stopped by one that failed."""

import contextlib
import types

import jax.numpy as jnp
import pytest

from jaxenv.wrappers import EpisodeSummary
from train.experience.rollout import EpisodeTotals
from train.run import progress as run_clock
from train.run.group import ALONE
from train.run.outputs import FailedUpdate, Member, Outputs
from train.run.progress import Bar, Clock
from train.save.description import Progress

NONE = jnp.zeros(1, jnp.int32)
TOTALS = EpisodeTotals(EpisodeSummary(NONE, NONE, NONE), NONE)
POLICY = "policy"


def metrics(failed=False):
    return types.SimpleNamespace(totals=TOTALS, not_finite={"loss": jnp.array([failed])}, means=dict)


def group_of(config, *names):
    return types.SimpleNamespace(
        config=config,
        named=dict.fromkeys(names, config),
        is_alone=names == (ALONE,),
        algorithm=types.SimpleNamespace(name="idle"),
        policy=lambda state, member: POLICY,
        of_member=lambda tree, member: tree if names == (ALONE,) else tree[member],
    )


def is_bad(metrics):
    return [name for name, found in metrics.not_finite.items() if found.any()]


@pytest.fixture(autouse=True)
def to_host(monkeypatch):
    """Metrics here are records of Python, not trees of arrays."""
    monkeypatch.setattr("train.run.outputs.reduce_metrics", lambda metrics: {"return": None})
    monkeypatch.setattr("train.run.outputs.not_finite", is_bad)


@pytest.fixture
def member(config):
    of = types.SimpleNamespace(group=group_of(config, ALONE), folder=None, callback=None, clock=Clock(1000))
    made = Member(of, 0, contextlib.ExitStack(), None, Progress(scenarios=""))
    made.kept = []
    made._best = types.SimpleNamespace(candidate=lambda policy: made.kept.append)
    return made


def test_a_record_is_written_when_the_next_superstep_runs(member):
    written = member.recorder.records
    member.add(0, None, metrics(), None)
    assert written == []
    member.add(1, None, metrics(), jnp.float32(3.5))
    assert [record["superstep"] for record in written] == [0]
    member.flush()
    member.flush()
    assert [record["superstep"] for record in written] == [0, 1]
    assert [record["validation_return"] for record in written] == [None, 3.5]


def test_a_policy_is_kept_once_its_validation_return_is_known(member):
    member.add(0, None, metrics(), jnp.float32(3.5))
    assert member.kept == []
    member.add(1, None, metrics(), None)
    assert member.kept == [3.5]
    member.add(2, None, metrics(failed=True), jnp.float32(3.5))
    with pytest.raises(FailedUpdate):
        member.flush()
    assert member.kept == [3.5]


def test_a_failed_update_is_written_and_raised_once(member):
    member.add(0, None, metrics(failed=True), jnp.float32(3.5))
    with pytest.raises(FailedUpdate, match="loss"):
        member.add(1, None, metrics(failed=True), None)
    assert [record["validation_return"] for record in member.recorder.records] == [None]
    member.flush()
    assert len(member.recorder.records) == 1


def test_a_member_that_failed_stands_still_while_the_others_go_on(config, monkeypatch):
    shown = []
    monkeypatch.setattr(Bar, "show", lambda self, record: shown.append(record["superstep"]))
    group = group_of(config, "a", "b")
    with contextlib.ExitStack() as stack:
        outputs = Outputs(stack, group, None, None, Progress(scenarios=""), show_progress=False)
        for number in range(3):
            outputs.add(number, None, [metrics(failed=number == 0), metrics()], [None, None])
            outputs.clock.tick()
        outputs.flush()
        failed, other = outputs.outcomes(None, 0.0, stopped=False).values()
    assert shown == [0, 1, 2]
    assert (failed.failure, other.failure) == ("loss", None)
    assert (failed.env_steps, other.env_steps) == (config.steps_per_superstep, 3 * config.steps_per_superstep)
    assert [len(each.metrics["superstep"]) for each in (failed, other)] == [1, 3]


def test_supersteps_are_timed_from_the_end_of_the_one_before(monkeypatch):
    """Each takes 2 s, beside which the host works for half a second; a validation of 3 s counts for neither."""
    now = [100.0]
    monkeypatch.setattr(run_clock, "time", types.SimpleNamespace(perf_counter=lambda: now[0]))
    takes = iter([2.0, 2.0, 3.0, 2.0])

    def wait(tree):
        now[0] += next(takes)

    monkeypatch.setattr(run_clock, "jax", types.SimpleNamespace(block_until_ready=wait))
    clock, speeds = Clock(1000), []
    clock.wait(None)
    for validations in ([None], [1.0], [None]):
        clock.wait((None, validations))
        speeds.append(clock.latest["steps_per_second"])
        now[0] += 0.5
    assert speeds == [1000 / 2.0, 1000 / 2.5, 1000 / 2.5]
    assert clock.latest["seconds"] == 2.0 + 2.5 + 3.0 + 2.5
