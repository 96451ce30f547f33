"""The clock: what a superstep takes, and what the run takes."""

import types

from train.run import progress as run_clock
from train.run.progress import Clock


def test_steps_per_second_are_those_of_supersteps_alone(monkeypatch):
    """Supersteps of 2 s, with 3 s in between for validation and a checkpoint."""
    now = 100.0
    monkeypatch.setattr(run_clock, "time", types.SimpleNamespace(perf_counter=lambda: now))
    clock, records = Clock(1000, env_steps=5000, seconds=7.0), []
    for _ in range(3):
        clock.start()
        now += 2.0
        clock.tick()
        records.append(clock.latest)
        now += 3.0
    assert [record["steps_per_second"] for record in records] == [500.0] * 3
    assert [record["seconds"] for record in records] == [9.0, 14.0, 19.0]
    assert [record["env_steps"] for record in records] == [6000, 7000, 8000]


def test_counters_exceed_32_bits():
    clock = Clock(2**33)
    for _ in range(3):
        clock.start()
        clock.tick()
    assert clock.env_steps == 3 * 2**33
