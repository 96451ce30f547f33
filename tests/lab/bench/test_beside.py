"""The benchmark beside other suites: one way to pick for all, ratios to yardsticks, and a GPU to its end."""

import functools
import importlib.util
import json

import jax
import jax.numpy as jnp
import pytest

from lab.__main__ import main
from lab.bench import gpu, speeds
from train.benchmark import measure, workload
from train.benchmark.measure import Result
from train.benchmark.workload import Sizes, sizes, steps_of

OURS = functools.partial(workload.registered, "LifeOps-v0")


@pytest.mark.parametrize(
    ("build", "actions"),
    [
        (OURS, 16),
        (functools.partial(speeds.jumanji, "Knapsack-v1"), 50),
        (functools.partial(speeds.gymnax, "CartPole-v1"), 2),
    ],
)
def test_actions_are_picked_in_the_same_way_for_every_suite(build, actions, monkeypatch):
    """Through one function, whatever the suite; traced alone, nothing is compiled."""
    if build is not OURS:
        pytest.importorskip(build.func.__name__, reason="the extra `peers` is not installed")
    picked = []

    def pick(key, mask):
        picked.append(mask.shape)
        return jnp.zeros(mask.shape[:-1], jnp.int32)

    monkeypatch.setattr(workload, "sample_uniform", pick)
    work = steps_of(build(), 4, steps=3)
    params = work.params()
    carry = jax.eval_shape(work.start, jax.random.key(0), params)
    after, _ = jax.eval_shape(work.run, jax.random.key(0), carry, params)
    assert set(picked) == {(4, actions)}
    assert len(picked) >= 2  # the first action, and those of the scan
    assert jax.tree.structure(after) == jax.tree.structure(carry)
    assert sizes(work, carry).state > 0


def test_ratios_to_the_yardsticks_are_columns():
    slow = Result("jumanji Knapsack-v1", 8, 1.0, 10, Sizes(10, 10), [1e6, 2e6, 4e6])
    fast = Result("LifeOps-v0", 8, 1.0, 10, None, [2e6, 4e6, 6e6])
    columns, row, other = measure.table([fast, slow], speeds.YARDSTICKS).splitlines()
    assert "x Knapsack-v1" in columns
    assert row.split()[4] == "2.00"
    assert other.split()[5] == "1.00"


def test_the_bandwidth_of_a_copy():
    assert gpu.copy_bandwidth(1 << 16, rounds=1) > 1e6


def test_environments_of_other_suites_are_named_by_their_suite():
    pytest.importorskip("gymnax", reason="the extra `peers` is not installed")
    assert list(speeds.others(["environments"], ["gymnax"])) == ["gymnax Breakout-MinAtar", "gymnax CartPole-v1"]
    assert speeds.others(["training"], ["gymnax"]) == {}
    with pytest.raises(ValueError, match=r"no suite 'gymnac'\. Did you mean 'gymnax'\?"):
        speeds.others(["environments"], ["gymnac"])


def test_missing_suites_are_skipped(monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert speeds.programs(["jumanji", "gymnax"]) == {}
    assert capsys.readouterr().err.splitlines() == [
        "jumanji is not installed (extra `peers`): skipped",
        "gymnax is not installed (extra `peers`): skipped",
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("bench --num-envs many", "--num-envs many: expected whole numbers from 1 on"),
        ("compile-for tpu --against none", "no suite 'none'"),
        ("compile-for tpu --against=", "no target 'tpu'"),
        ("bench-gpu --score-env TeamsClone-v0 --num-envs 0", "--num-envs 0: expected whole numbers"),
        ("bench-cpu", "no command 'bench-cpu'. Did you mean 'bench-gpu'?"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(line, message, capsys):
    assert main(line.split()) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1


@pytest.mark.slow
def test_the_gpu_command_runs_to_its_end(tmp_path, capsys):
    """On any device, with small sizes: it is known to work where a GPU is at hand."""
    out = tmp_path / "gpu.json"
    found = gpu.bench_gpu(
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
    found = gpu.bench_gpu(
        num_envs="32", training_envs="32", minutes=0, score=-1e9, bandwidth_bytes=1 << 10, out=tmp_path / "gpu.json"
    )
    assert len(found["left_out"]) == 2
    assert "no time left" in capsys.readouterr().out
    with pytest.raises(ValueError, match="TeamsClone-Mentions-v0 has no scores"):
        gpu.library_score("TeamsClone-Mentions-v0")
