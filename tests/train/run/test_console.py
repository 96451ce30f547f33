"""The clock: what a superstep takes, and what the run takes."""

import types

import pytest

from train.run import console
from train.run.console import Clock
from train.settings.config import Config, Rollout


def test_steps_per_second_are_those_of_supersteps_alone(monkeypatch):
    """Supersteps of 2 s, with 3 s in between for validation and a checkpoint."""
    now = 100.0
    monkeypatch.setattr(console, "time", types.SimpleNamespace(perf_counter=lambda: now))
    clock, records = Clock(1000, env_steps=5000, seconds=7.0), []
    for _ in range(3):
        clock.start()
        now += 2.0
        records.append(clock.tick())
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


@pytest.mark.parametrize(
    ("num_envs", "total", "line"),
    [
        (1024, 4_000_000, "4,063,232 environment steps: 62 supersteps of 65,536 (rounded up from 4,000,000)"),
        (65_536, 4_000_000, "4,194,304 environment steps: 1 superstep of 4,194,304 (rounded up from 4,000,000)"),
        (1024, 131_072, "131,072 environment steps: 2 supersteps of 65,536"),
    ],
)
def test_the_length_of_a_run_in_words(num_envs, total, line):
    assert console.length(Config(env="any", total_steps=total, rollout=Rollout(num_envs=num_envs))) == line
