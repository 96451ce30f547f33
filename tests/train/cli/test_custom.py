"""Runs in an environment and with a network of a user's own, whose code each command is told anew."""

import sys
from pathlib import Path

import pytest

from jaxenv import registry
from train.cli.main import main
from train.networks import custom
from train.save.folder import RunFolder

NAMES = {"--env": "walk:Gridworld", "--network": "nets:Net"}
SIZES = ["--num-envs", "8", "--num-steps", "8", "--minibatch-size", "64", "--updates-per-superstep", "1"]
WIDE = "\n\ndef wide():\n    return Net(8)\n"


@pytest.fixture
def forget(monkeypatch, tmp_path):
    """() -> as in a new process, in which nobody has imported the modules `walk` and `nets`."""
    source = Path(__file__).with_name("gridworld.py").read_text()
    (tmp_path / "walk.py").write_text(source)
    (tmp_path / "nets.py").write_text(source.replace("width: int = 32", "width: int") + WIDE)
    monkeypatch.syspath_prepend(tmp_path)

    def forgotten():
        for name in ("walk", "nets"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.setattr(registry, "_FACTORIES", {})
        monkeypatch.setattr(custom, "_MODULES", {})

    forgotten()
    yield forgotten
    forgotten()


@pytest.mark.slow
def test_commands_say_which_code_they_need(forget, tmp_path, capsys):
    run_dir = tmp_path / "run"
    options = [*SIZES, "--total-steps", "64", "--no-tensorboard", "--run-dir", str(run_dir), "--normalize-observations"]
    assert main(["ppo", "--env", NAMES["--env"], "--network", "nets:wide", *options]) == 0
    capsys.readouterr()
    policy, resume, more = run_dir / "policy.msgpack", ["ppo", "--resume", str(run_dir)], ["--total-steps", "128"]
    trained_in = f"{policy} was trained in Gridworld-v0, which is not registered here: for an environment of your own"
    network = "the network nets:Net is not known here: import it first; on a command line add --network nets:Net"
    for command, given, message in (
        (["evaluate", str(policy)], [], f"{trained_in} add --env MODULE:FACTORY"),
        (["evaluate", str(run_dir)], ["--env"], f"{policy} cannot be loaded: {network}"),
        (["evaluate", str(run_dir), "--repetitions", "2"], ["--env", "--network"], None),
        (resume, [], f"{run_dir} is a run in an environment of your own: add --env walk:Gridworld"),
        (resume, ["--env"], network),
        ([*resume, *more], ["--env", "--network"], None),
    ):
        forget()
        assert main([*command, *(word for name in given for word in (name, NAMES[name]))]) == (2 if message else 0)
        error = capsys.readouterr().err
        assert not message or error == f"jaxenv: {message}\n"
    assert len(RunFolder(run_dir).metrics.read_text().splitlines()) == 2
    forget()
    again = ["--env", NAMES["--env"], "--network", "nets:wide", "--total-steps", "192"]
    assert main(["ppo", "--resume", str(run_dir), *again]) == 0


def test_a_run_that_was_begun_from_python_says_so(forget, tmp_path, capsys):
    del forget
    (tmp_path / "config.json").write_text('{"env": "Gridworld-v0"}')
    assert main(["ppo", "--resume", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert "config.json names the environment 'Gridworld-v0', which is not registered here." in error
    assert error.endswith(" A run that was begun from Python goes on by the same call there\n")


def test_a_population_needs_no_scenarios(forget, tmp_path, capsys):
    del forget
    run = ["--total-steps", "64", "--no-tensorboard", "--run-dir", str(tmp_path / "run"), "--seeds", "2"]
    assert main(["ppo", "--env", NAMES["--env"], *SIZES, *run]) == 0
    assert "seed=1" in capsys.readouterr().out
