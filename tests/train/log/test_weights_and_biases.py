"""Weights & Biases, in its place a module that keeps what it is given."""

import contextlib
import dataclasses
import sys
import types

import pytest
from probes import PROBES

import train
from train.cli.main import main
from train.log.metrics import read_metrics
from train.log.recorder import Recorder, WeightsAndBiases
from train.save.description import Progress
from train.save.folder import RunFolder

RECORD = {"superstep": 0, "env_steps": 512, "return": 1.5, "length": None}


@pytest.fixture
def runs(monkeypatch):
    """The arguments of each run, with the points that it logged and its exit code."""
    started = []

    def init(**arguments):
        run = {**arguments, "logged": []}
        started.append(run)
        return types.SimpleNamespace(
            log=lambda values, step: run["logged"].append((step, values)),
            finish=lambda exit_code: run.update(exit_code=exit_code),
        )

    monkeypatch.setitem(sys.modules, "wandb", types.SimpleNamespace(init=init))
    return started


def test_a_record_is_a_point_over_environment_steps(runs, config, tmp_path):
    with WeightsAndBiases(tmp_path, dataclasses.replace(config, wandb="days")) as logged:
        logged.write(RECORD)
    (run,) = runs
    assert run["logged"] == [(512, {"superstep": 0, "return": 1.5})]
    assert (run["project"], run["name"], run["dir"]) == ("days", tmp_path.name, str(tmp_path))
    assert (run["resume"], run["exit_code"]) == ("allow", 0)
    assert run["config"]["hyper"]["gamma"] == config.hyper.gamma


def test_nothing_happens_unless_wanted(runs, config, tmp_path):
    settings = dataclasses.replace(config, tensorboard=False)
    with contextlib.ExitStack() as stack:
        recorder = Recorder(stack, settings, RunFolder(tmp_path), Progress(scenarios=""))
        recorder.write(RECORD)
    assert not runs
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.jsonl"]


def test_an_error_is_told(runs, config, tmp_path):
    with pytest.raises(ArithmeticError), WeightsAndBiases(tmp_path, dataclasses.replace(config, wandb="days")):
        raise ArithmeticError
    assert runs[0]["exit_code"] == 1


@pytest.mark.slow
def test_a_run_that_resumes_goes_on_in_the_same_curves(runs, config, env, tmp_path):
    config = dataclasses.replace(config, run_dir=tmp_path / "run", total_steps=4 * config.steps_per_superstep)
    config = dataclasses.replace(config, wandb="days")
    params = PROBES["observation"]
    stop = {"callback": lambda record: record["superstep"] == 0, "show_progress": False}
    assert train.train(env, params, config, **stop).stopped
    train.train(env, params, config, show_progress=False)
    first, second = (run["id"] for run in runs)
    assert first == second == (tmp_path / "run" / "wandb_id").read_text()
    assert len(first) == 8
    steps = [step for run in runs for step, _ in run["logged"]]
    assert steps == [record["env_steps"] for record in read_metrics(tmp_path / "run" / "metrics.jsonl")]


@pytest.mark.usefixtures("probe_is_registered")
def test_it_must_be_installed(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "wandb", None)
    assert main(["ppo", "--env", "Table-v0", "--wandb", "days", "--run-dir", str(tmp_path / "run")]) == 2
    error = "--wandb days needs wandb: in a checkout of jaxenv, pip install '.[wandb]'"
    assert error in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
