"""The benchmark's commands: what they measure, print and write."""

import json
import subprocess
import sys

import numpy as np
import pytest

from train.benchmark import hardware, measure, report
from train.benchmark.measure import Result
from train.benchmark.workload import Sizes
from train.cli import benchmark, benchmark_gpu, profiling
from train.cli.main import main


@pytest.mark.usefixtures("probe_is_registered")
def test_a_program_is_measured_and_reported(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(measure, "MIN_SECONDS", 1e-3)
    out, plot = tmp_path / "figures.json", tmp_path / "figure.svg"
    found, counted = benchmark.benchmark(num_envs="8", rounds=3, peers=False, only="Table", out=out, plot=plot)
    assert (found.name, counted.name) == ("Table-v0", "Table-v0, counted")
    assert len(found.steps_per_s) == len(found.floor) == len(found.cpu_s_per_step) == 3
    assert min(found.steps_per_s) <= found.median <= max(found.steps_per_s)
    assert counted.sizes.state == found.sizes.state + 8  # a return and a length
    assert found.share_of_floor > 0
    head, _, size, columns, row, _, written = capsys.readouterr().out.splitlines()
    assert head.startswith("random legal actions, automatic reset, 128 steps per scan; ")
    assert size == "8 environments"
    assert row.split()[:2] == ["Table-v0", f"{found.median / 1e6:.3f}"]
    assert columns.split()[0] == "environment"
    assert written == f"written to {plot}"
    document = json.loads(out.read_text())
    assert document["results"][0]["steps_per_s"] == found.steps_per_s
    assert document["hardware"]["cores"] == hardware.cores()
    assert document["hardware"]["versions"]["jax"]
    assert document["hardware"]["command"].startswith("jaxenv")
    assert hardware.describe()["commit"] is None or len(hardware.describe()["commit"].removesuffix("-dirty")) >= 12
    assert "Table-v0" in plot.read_text()


def test_ratios_to_the_yardsticks_are_columns():
    slow = Result("jumanji Knapsack-v1", 8, 1.0, 10, Sizes(10, 10), [1e6, 2e6, 4e6])
    fast = Result("LifeOps-v0", 8, 1.0, 10, None, [2e6, 4e6, 6e6])
    columns, row, other = report.table([fast, slow]).splitlines()
    assert "x Knapsack-v1" in columns
    assert row.split()[4] == "2.00"
    assert other.split()[5] == "1.00"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("bench --num-envs many", "--num-envs many: expected whole numbers from 1 on"),
        ("bench --measure speed", "no 'speed' here. Available: environments"),
        ("bench --threads 1", "comes too late: JAX has already started"),
        ("bench --compile-for tpu", "no target 'tpu'"),
        ("profile LifeOps-v00", "no environment 'LifeOps-v00'. Did you mean 'LifeOps-v0'?"),
        ("bench-gpu --score-env TeamsClone-v0 --num-envs 0", "--num-envs 0: expected whole numbers"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(line, message, capsys):
    np.asarray(hardware.jax.numpy.zeros(1))  # JAX has started
    assert main(line.split()) == 2
    error = capsys.readouterr().err
    assert message in error
    lines = [line for line in error.splitlines() if not line.endswith("is not installed (extra `peers`): skipped")]
    assert len(lines) == 1


@pytest.mark.parametrize("command", ["bench", "bench-gpu", "profile"])
def test_help(command, capsys):
    assert main([command, "--help"]) == 0
    assert f"jaxenv {command}" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.usefixtures("probe_is_registered")
def test_parts_rollout_and_training_in_two_sizes(capsys):
    kinds = "environments,rollout,training"
    found = benchmark.benchmark(
        num_envs="8,16", rounds=2, peers=False, only="Table", measure=kinds, steps=8, num_steps=8, parts=True
    )
    assert [each.num_envs for each in found] == [8, 8, 8, 8, 16, 16, 16, 16]
    text = capsys.readouterr().out
    assert text.count("Table-v0, training") == 2
    assert "random draws" in text


@pytest.mark.slow
def test_one_thread_is_one_core():
    line = [sys.executable, "-m", "train", "bench", "--threads", "1", "--only", "CartPole", "--num-envs", "8"]
    found = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert ", 1 CPU cores, " in found
    assert "gymnax CartPole-v1" in found


@pytest.mark.slow
@pytest.mark.usefixtures("probe_is_registered")
def test_a_superstep_is_profiled(tmp_path, capsys):
    profiling.profile("Table-v0", num_envs=32, rounds=2, trace_dir=tmp_path)
    text = capsys.readouterr().out
    for part in ("environment", "network: acting", "network: gradients", "advantages", "optimizer", "new scenarios"):
        assert f"%  {part}" in text
    assert "temporaries" in text
    assert list((tmp_path / "Table-v0").rglob("*.xplane.pb"))
    assert f"trace of one superstep: {tmp_path / 'Table-v0'}" in text


@pytest.mark.slow
def test_the_gpu_command_runs_to_its_end(tmp_path, capsys):
    """On any device, with small sizes: it is known to work where a GPU is at hand."""
    out = tmp_path / "gpu.json"
    found = benchmark_gpu.bench_gpu(
        num_envs="32,64",
        training_envs="32",
        only="LifeOps-v0",
        minutes=10,
        score=0.2,
        bandwidth_bytes=1 << 20,
        rounds=1,
        peers=False,
        out=out,
    )
    document = json.loads(out.read_text())
    assert found["left_out"] == []
    assert [(each["name"], each["num_envs"]) for each in document["results"]] == [
        ("LifeOps-v0", 32),
        ("LifeOps-v0", 64),
        ("LifeOps-v0, rollout", 32),
        ("LifeOps-v0, training", 32),
    ]
    assert document["to_score"]["is_reached"]
    assert document["to_score"]["env_steps"] > 0
    assert "of the bandwidth" in capsys.readouterr().out


@pytest.mark.slow
def test_what_does_not_fit_the_time_is_left_out(tmp_path, capsys):
    found = benchmark_gpu.bench_gpu(
        num_envs="32", training_envs="32", minutes=0, score=-1e9, bandwidth_bytes=1 << 10, out=tmp_path / "gpu.json"
    )
    assert len(found["left_out"]) == 2
    assert "no time left" in capsys.readouterr().out
    with pytest.raises(ValueError, match="TeamsClone-Mentions-v0 has no scores"):
        benchmark_gpu.library_score("TeamsClone-Mentions-v0")
