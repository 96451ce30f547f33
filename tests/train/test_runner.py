"""The loop: what a run leaves behind, that it compiles once, and how it stops."""

import dataclasses
import json
import signal

import jax
import pytest
from probes import PROBES

from train import run_folder, runner
from train.metrics import read_metrics
from train.policy import load_policy


@pytest.fixture
def folder(config, tmp_path):
    return run_folder.create(dataclasses.replace(config, run_dir=tmp_path / "run"))


def test_a_run(config, env, folder, caplog, monkeypatch):
    """Five supersteps on generated scenarios, drawn anew before each: nothing is compiled after the second."""
    config = dataclasses.replace(config, total_steps=5 * config.steps_per_superstep)
    compiled = []
    monkeypatch.setattr(runner.Bar, "show", lambda self, record: compiled.append(len(caplog.records)))
    with jax.log_compiles():
        outcome = runner.run(config, env, PROBES["observation"], folder, show_progress=False)
    assert 0 < compiled[1] == compiled[-1]

    records = list(read_metrics(folder.metrics))
    assert [record["env_steps"] for record in records] == [n * config.steps_per_superstep for n in range(1, 6)]
    assert json.loads(folder.config.read_text())["seed"] == config.seed
    assert outcome.env_steps == records[-1]["env_steps"]
    assert not outcome.stopped
    load_policy(folder.policy, env, PROBES["observation"])


def test_scenarios_are_drawn_anew_when_it_is_their_time(config):
    def refreshed(**settings):
        told = dataclasses.replace(config, training=dataclasses.replace(config.training, **settings))
        return [number for number in range(7) if runner.is_refreshed(number, told)]

    assert refreshed(refresh=1) == [1, 2, 3, 4, 5, 6]
    assert refreshed(refresh=3) == [3, 6]
    assert refreshed(refresh=0) == refreshed(scenarios="library") == []


def test_a_signal_ends_a_run_after_its_superstep(config, env, folder, monkeypatch):
    monkeypatch.setattr(runner.Bar, "show", lambda self, record: signal.raise_signal(signal.SIGTERM))
    before = signal.getsignal(signal.SIGTERM)
    outcome = runner.run(config, env, PROBES["one step"], folder, show_progress=False)
    assert outcome.stopped
    assert len(list(read_metrics(folder.metrics))) == 1
    assert folder.policy.exists()
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_second_signal_acts_as_ever():
    with runner.StopSignal() as stop:
        signal.raise_signal(signal.SIGINT)
        assert stop.was_asked
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_a_run_folder_is_never_written_over(config, folder, tmp_path, monkeypatch):
    with pytest.raises(FileExistsError, match="exists already"):
        run_folder.create(dataclasses.replace(config, run_dir=folder.path))
    monkeypatch.chdir(tmp_path)
    unnamed = [run_folder.create(config).path for _ in range(2)]
    assert [str(path) for path in unnamed] == ["runs/Table-v0-0-0", "runs/Table-v0-0-1"]
