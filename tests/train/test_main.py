"""The command line: a whole run, and one line for each mistake."""

import dataclasses
import types

import numpy as np
import pytest
from probes import PROBES, Table

import jaxenv
from jaxenv import registry
from train import __main__ as command
from train.metrics import read_metrics

TINY = [
    *("--total-steps", "512", "--num-envs", "32", "--num-steps", "8"),
    *("--hidden", "16", "--count", "16", "--seed", "3"),
]
LIBRARY = types.SimpleNamespace(
    bank=PROBES["observation"].bank,
    ids=("a", "b", "c", "d"),
    returns=lambda name: {id: {"random": -1.0, "best": 1.0} for id in "abcd"},
)


@pytest.fixture
def table_is_registered(monkeypatch):
    """The probe `observation` as an environment with a library."""

    @dataclasses.dataclass(frozen=True)
    class Registered(Table):
        @property
        def default_params(self):
            return PROBES["observation"]

    monkeypatch.setitem(registry._FACTORIES, "Table-v0", Registered)
    monkeypatch.setattr(command, "load_library", lambda env, path=None: LIBRARY)


@pytest.mark.usefixtures("table_is_registered")
def test_train_then_evaluate(tmp_path, capsys):
    run_dir = tmp_path / "run"
    options = ["--env", "Table-v0", *TINY]
    assert command.main(["ppo", *options, "--run-dir", str(run_dir)]) == 0
    trained = capsys.readouterr().out
    assert "mean score" in trained
    assert {file.name for file in run_dir.iterdir()} == {"config.json", "metrics.jsonl", "policy.msgpack"}
    assert np.isfinite([record["value_loss"] for record in read_metrics(run_dir / "metrics.jsonl")]).all()

    assert command.main(["evaluate", str(run_dir)]) == 0
    assert capsys.readouterr().out.strip() == trained[trained.index("\n\n") :].strip()

    assert command.main(["ppo", *options, "--run-dir", str(run_dir)]) == 2
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ppo --env LifeOps-v00", "no environment 'LifeOps-v00'. Did you mean 'LifeOps-v0'?"),
        ("ppo", "which environment?"),
        ("ppo --preset LifeOps-v00", "no preset 'LifeOps-v00'. Did you mean 'LifeOps-v0'?"),
        ("ppo --env LifeOps-v0 --scenarios nowhere.yaml", "nowhere.yaml: there is no such file"),
        ("evaluate nowhere", "nowhere does not exist"),
        ("evaluat nowhere", "no command 'evaluat'. Did you mean 'evaluate'?"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(line, message, capsys):
    assert command.main(line.split()) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "line", ["ppo --env LifeOps-v0 --minibatches 7", "ppo --env LifeOps-v0 --sede 1", "ppo --env LifeOps-v0 --seed x"]
)
def test_a_wrong_option_is_status_2(line, capsys):
    assert command.main(line.split()) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("line", ["", "--help", "ppo --help", "ppo --env LifeOps-v0 --help", "evaluate --help"])
def test_help(line, capsys):
    assert command.main(line.split()) == 0
    assert "python -m train" in capsys.readouterr().out


def test_options_change_the_preset():
    config = command.parse_config(
        ["--env", "LifeOps-v0", "--gamma", "0.9", "--hidden", "8", "--difficulty", "0.2", "0.4"]
    )
    assert config.hyper.gamma == 0.9
    assert config.network.hidden == (8,)
    assert config.training.difficulty == (0.2, 0.4)
    assert not config.rollout.bootstrap_truncated


@pytest.mark.slow
@pytest.mark.parametrize("env_id", jaxenv.registered())
def test_every_environment_trains(env_id, tmp_path, capsys):
    options = ["--env", env_id, *TINY]
    assert command.main(["ppo", *options, "--run-dir", str(tmp_path / "run")]) == 0
    assert "mean score" in capsys.readouterr().out
