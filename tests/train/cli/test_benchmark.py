"""The benchmark's commands: what they measure, print and write."""

import json

import pytest

from train.benchmark import hardware, measure
from train.cli import benchmark
from train.cli.main import main


@pytest.mark.usefixtures("probe_is_registered")
def test_a_program_is_measured_and_reported(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(measure, "MIN_SECONDS", 1e-3)
    out = tmp_path / "figures.json"
    found, counted = benchmark.benchmark(num_envs="8", rounds=3, only="Table", out=out)
    assert (found.name, counted.name) == ("Table-v0", "Table-v0, counted")
    assert len(found.steps_per_s) == len(found.floor) == 3
    assert min(found.steps_per_s) <= found.median <= max(found.steps_per_s)
    assert counted.sizes.state == found.sizes.state + 8  # a return and a length
    assert found.share_of_floor > 0
    head, _, size, columns, row, _ = capsys.readouterr().out.splitlines()
    assert head.startswith("random legal actions, automatic reset, 128 steps per scan; ")
    assert size == "8 environments"
    assert row.split()[:2] == ["Table-v0", f"{found.median / 1e6:.3f}"]
    assert columns.split()[0] == "environment"
    document = json.loads(out.read_text())
    assert document["results"][0]["steps_per_s"] == found.steps_per_s
    assert document["hardware"]["cores"] == hardware.cores()
    assert document["hardware"]["versions"]["jax"]
    assert document["hardware"]["command"].startswith("jaxenv")
    assert hardware.describe()["commit"] is None or len(hardware.describe()["commit"].removesuffix("-dirty")) >= 12


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("bench --num-envs many", "--num-envs many: expected whole numbers from 1 on"),
        ("bench --measure speed", "no 'speed' here. Available: environments"),
        ("profile LifeOps-v00", "no environment 'LifeOps-v00'. Did you mean 'LifeOps-v0'?"),
        ("bench --num-envs 0", "--num-envs 0: expected whole numbers"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(line, message, capsys):
    assert main(line.split()) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize("command", ["bench", "profile"])
def test_help(command, capsys):
    assert main([command, "--help"]) == 0
    assert f"jaxenv {command}" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.usefixtures("probe_is_registered")
def test_rollout_and_training_in_two_sizes(capsys):
    kinds = "environments,rollout,training"
    found = benchmark.benchmark(num_envs="8,16", rounds=2, only="Table", measure=kinds, steps=8, num_steps=8)
    assert [each.num_envs for each in found] == [8, 8, 8, 8, 16, 16, 16, 16]
    out = capsys.readouterr().out
    assert out.count("Table-v0, training") == 2
    rows = [line.split() for line in out.splitlines() if line.startswith("Table-v0 ")]
    of_kinds = [[f"{each.median / 1e6:.3f}" for each in found[start + 1 : start + 4]] for start in (0, 4)]
    assert [row[1:] for row in rows if len(row) == 4] == of_kinds


@pytest.mark.slow
@pytest.mark.usefixtures("probe_is_registered")
def test_a_superstep_is_profiled(tmp_path, capsys):
    benchmark.profile("Table-v0", num_envs=32, rounds=2, trace_dir=tmp_path)
    text = capsys.readouterr().out
    for part in ("environment", "network: acting", "learning: advantages", "new scenarios"):
        assert f"%  {part}" in text
    assert "temporaries" in text
    assert list((tmp_path / "Table-v0").rglob("*.xplane.pb"))
    assert f"trace of one superstep: {tmp_path / 'Table-v0'}" in text
