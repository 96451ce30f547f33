"""The throughput command: what it measures, prints and writes, and what it does without other suites."""

import importlib.util
import json
import os
import types

import pytest

import jaxenv
from jaxenv.core import masking
from train.cli import benchmark


@pytest.mark.parametrize("id", ["LifeOps-v0", pytest.param("TeamsClone-MultiAgent-v0", marks=pytest.mark.slow)])
def test_a_program_is_measured_and_reported(id, tmp_path, capsys):
    found, counted = benchmark.benchmark(num_envs=8, rounds=3, peers=False, only=id, out=tmp_path / "figures.json")
    assert (found.name, counted.name) == (id, f"{id}, counted")
    assert len(found.steps_per_s) == 3
    assert min(found.steps_per_s) <= found.median <= max(found.steps_per_s)
    assert counted.bytes_per_env > found.bytes_per_env > 100
    head, columns, row, _ = capsys.readouterr().out.splitlines()
    assert head.startswith("8 environments, random legal actions")
    assert row.split()[0] == id
    assert row.split()[1] == f"{found.median / 1e6:.3f}"
    assert columns.split()[0] == "environment"
    (written, _) = json.loads((tmp_path / "figures.json").read_text())
    assert (written["name"], written["steps_per_s"]) == (id, found.steps_per_s)


def test_programs_are_chosen_by_the_names_that_are_printed(monkeypatch, capsys):
    """Without a program that takes time: what is compiled is only listed."""
    names = []
    monkeypatch.setattr(benchmark, "_bare", lambda id: names.append(id))
    monkeypatch.setattr(benchmark, "_counted", lambda id: names.append(f"{id}, counted"))
    monkeypatch.setattr(benchmark, "_compile", lambda name, program, num_envs: (name, lambda: 1.0))
    monkeypatch.setattr(benchmark, "_table", lambda results, num_envs: " / ".join(results))
    benchmark.benchmark(rounds=0, peers=False, only="counted")
    expected = [f"{id}, counted" for id in jaxenv.registered()]
    assert names == capsys.readouterr().out.strip().split(" / ") == expected
    with pytest.raises(ValueError, match=r"no program's name contains 'jumanji'\. Available: LifeOps-v0; "):
        benchmark.benchmark(peers=False, only="jumanji")
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert f"{os.cpu_count()} CPU cores" in benchmark._device()


def test_missing_suites_are_skipped(monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert benchmark._peer_programs() == {}
    assert capsys.readouterr().err.splitlines() == [
        "jumanji is not installed (extra `peers`): skipped",
        "gymnax is not installed (extra `peers`): skipped",
    ]


@pytest.mark.parametrize("build", [benchmark._bare, benchmark._jumanji_program, benchmark._gymnax_program])
def test_actions_are_picked_in_the_same_way_for_every_suite(build, monkeypatch):
    """Through one function, whatever the suite and however many its actions are."""
    program = build({"_bare": "LifeOps-v0", "_jumanji_program": "Knapsack-v1"}.get(build.__name__, "CartPole-v1"))
    picked = []

    def pick(key, mask):
        picked.append(mask.shape)
        return masking.sample_uniform(key, mask)

    monkeypatch.setattr(benchmark, "masking", types.SimpleNamespace(sample_uniform=pick))
    result, run = benchmark._compile("it", program, 4)
    assert run() > 0
    assert {"_bare": (4, 16), "_jumanji_program": (4, 50)}.get(build.__name__, (4, 2)) in picked
    assert len(set(picked)) == 1
    assert len(picked) >= 2  # the first action, and those of the scan that is timed
    assert result.bytes_per_env > 0


def test_a_ratio_is_taken_within_each_round():
    slow = benchmark.Result("jumanji Knapsack-v1", 1.0, 10, [1e6, 2e6, 4e6])  # on a machine that gets faster
    fast = benchmark.Result("LifeOps-v0", 1.0, 10, [2e6, 4e6, 6e6])
    assert fast.ratio(slow) == 2.0
    columns, row = benchmark._table([fast, slow], 8).splitlines()[1:3]
    assert "x Knapsack-v1" in columns
    assert "2.00" in row
