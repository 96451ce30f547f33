"""The throughput command: what it measures, prints and writes, and what it does without other suites."""

import importlib.util
import json

import pytest

from train import benchmark


@pytest.mark.parametrize("id", ["LifeOps-v0", pytest.param("TeamsClone-MultiAgent-v0", marks=pytest.mark.slow)])
def test_a_program_is_measured_told_and_written(id, tmp_path, capsys):
    (found,) = benchmark.benchmark(num_envs=8, rounds=3, peers=False, only=id, out=tmp_path / "figures.json")
    assert found.name == id
    assert len(found.steps_per_s) == 3
    assert min(found.steps_per_s) <= found.median <= max(found.steps_per_s)
    assert found.bytes_per_env > 100
    head, columns, row = capsys.readouterr().out.splitlines()
    assert head.startswith("8 environments, random legal actions")
    assert row.split()[0] == id
    assert row.split()[1] == f"{found.median / 1e6:.3f}"
    assert columns.split()[0] == "environment"
    (written,) = json.loads((tmp_path / "figures.json").read_text())
    assert (written["name"], written["steps_per_s"]) == (id, found.steps_per_s)


def test_suites_that_are_not_installed_are_left_out(monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert benchmark._peer_programs() == []
    assert capsys.readouterr().err.splitlines() == [
        "jumanji is not installed (extra `peers`): left out",
        "gymnax is not installed (extra `peers`): left out",
    ]
