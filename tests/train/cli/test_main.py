"""The command line: a whole run, and one line for each mistake."""

import dataclasses
import re
import shutil
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import jax
import numpy as np
import pytest
from probes import LIBRARY, PROBES

import jaxenv
import scenarios
from jaxenv import registry
from jaxenv.core import Environment
from strategies.ids import IDS
from strategies.tables import Table
from train.cli import commands, comparison, policies, watching
from train.cli.main import main
from train.log.metrics import read_metrics
from train.protocol import shipped
from train.run import runner

SIZES = [  # those of `SMALL`, so that its program is found where it was compiled
    *("--total-steps", "5120", "--num-envs", "32", "--num-steps", "8", "--updates-per-superstep", "2"),
    *("--minibatch-size", "64", "--seed", "3", "--no-tensorboard"),
]
TINY = [*SIZES, "--hidden", "16"]  # with its network


@pytest.fixture
def table_is_registered(monkeypatch):
    """The probe `observation` as an environment with a library."""

    @dataclasses.dataclass(frozen=True)
    class Registered(Table):
        label: str = "first"

        @property
        def default_params(self):
            return PROBES["observation"]

    monkeypatch.setitem(registry._FACTORIES, "Table-v0", Registered)
    monkeypatch.setattr(shipped, "library_for", lambda env, path=None: LIBRARY)


@pytest.mark.slow
def test_an_environment_and_a_network_of_ones_own(tmp_path, capsys, monkeypatch):
    """No bank, no generator, no library: a gridworld is trained in, resumed and scored by its module's name."""
    monkeypatch.syspath_prepend(Path(__file__).parent)
    monkeypatch.setattr(registry, "_FACTORIES", dict(registry._FACTORIES))
    names = ["--env", "gridworld:Gridworld", "--network", "gridworld:Net"]
    sizes = ["--total-steps", "20480", "--num-envs", "32", "--minibatch-size", "128", "--learning-rate", "5e-3"]
    run_dir = str(tmp_path / "run")
    options = [*names, *sizes, "--cost", "0.05", "--no-tensorboard", "--gamma", "0.9"]
    assert main(["ppo", *options, "--run-dir", run_dir]) == 0
    line = capsys.readouterr().out.partition("mean return of 64 episodes: ")[2]
    found = dict(re.findall(r"(\w+) (-?[\d.]+)", line))
    assert float(found["PPO"]) > 0.55 > float(found["Random"]) + 0.1  # 1 less 0.1 a step
    assert main(["evaluate", run_dir, *names]) == 0
    assert "64 episodes: Random" in capsys.readouterr().out
    assert main(["ppo", *names, "--resume", run_dir, "--total-steps", "22528"]) == 0

    for wrong, message in (
        ("gridworld", "no environment 'gridworld'"),
        ("gridwold:Gridworld", "--env gridwold:Gridworld: No module named 'gridwold'"),
        ("gridworld:Gridwold", "no 'Gridwold' in gridworld. Did you mean 'Gridworld'?"),
    ):
        assert main(["ppo", "--env", wrong]) == 2
        assert message in capsys.readouterr().err


def test_the_environments_are_listed(capsys):
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(jaxenv.registered())
    assert all(re.search(r"  \w.*\.$", line) for line in lines if line.split()[0] in IDS)


def test_the_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"jaxenv {jaxenv.__version__}, jax {jax.__version__}\n"


@pytest.mark.usefixtures("table_is_registered")
@pytest.mark.parametrize("members", [[], ["--seeds", "2"]])
def test_a_command_that_fails_before_it_trains_can_be_corrected(tmp_path, capsys, monkeypatch, members):
    class Faulty(Table):
        default_params = PROBES["observation"]

        def transition(self, key, state, action, params):
            raise LookupError("its own error")

    monkeypatch.syspath_prepend(Path(__file__).parent)
    options = ["ppo", "--env", "Table-v0", *SIZES, *members, "--run-dir", str(tmp_path / "run")]
    assert main([*options, "--network", "gridworld:Net"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("jaxenv: gridworld:Net gives arrays of shape [[2, 4], [2]], expected ")
    assert error.endswith("Table-v0 has 3 actions\n")
    monkeypatch.setitem(registry._FACTORIES, "Table-v0", Faulty)
    with pytest.raises(LookupError, match="its own error"):
        main([option for option in options if option not in ("--minibatch-size", "64")])
    assert not list(tmp_path.iterdir())
    first = capsys.readouterr().out.splitlines()  # a line each: where, what the environments change, how long
    assert first[1] == "32 environments (the preset has 1,024) change --minibatch-size 512 (from 2,048)"
    assert "5,120 environment steps: 10 supersteps of 512; 80 gradient steps" in first[2]
    assert first[3] == "A short run: fewer than 1,000 gradient steps."


@pytest.mark.smoke
@pytest.mark.usefixtures("table_is_registered")
def test_train_then_evaluate(tmp_path, capsys):
    run_dir = tmp_path / "run"
    options = ["--env", "Table-v0", "--env-args", "label=second", "--max-steps-in-episode", "50", *TINY]
    assert main(["ppo", *options, "--run-dir", str(run_dir)]) == 0
    trained = capsys.readouterr().out
    assert "mean score" in trained
    assert trained.rstrip().endswith("than the defaults: max_steps_in_episode 50 (scored with 1000000)")
    files = {file.name for file in run_dir.iterdir()}
    policies = {"policy.msgpack", "policy_best.msgpack"}
    assert files == {
        "checkpoints",
        "checkpoints.begun",
        "config.json",
        "learning_curve.png",
        "validation.json",
        "metrics.jsonl",
        *policies,
    }
    assert np.isfinite([record["value_loss"] for record in read_metrics(run_dir / "metrics.jsonl")]).all()

    assert main(["evaluate", str(run_dir)]) == 0
    table = trained[trained.index("\n\n") :].strip()
    assert capsys.readouterr().out.strip() == table
    assert main(["evaluate", str(run_dir), "--best"]) == 0
    assert "mean score" in capsys.readouterr().out
    assert main(["evaluate", str(run_dir), "--no-greedy", "--repetitions", "50"]) == 0
    assert "mean score" in capsys.readouterr().out

    assert main(["plot", str(run_dir), "--out", str(tmp_path / "curve.svg")]) == 0
    assert "curve.svg" in capsys.readouterr().out

    assert main(["ppo", "--resume", str(run_dir), "--total-steps", "5632"]) == 0
    told = capsys.readouterr().out
    assert told.index("resuming at step 5,120\n") < told.index("compiling …")
    for again, message in (
        ([*options, "--run-dir", str(run_dir)], f"already exists: resume that run with --resume {run_dir}"),
        ([*options, "--resume", str(run_dir)], "the run is finished"),
        (["--resume", str(run_dir), "--env-args", "label=third"], "env_args.label is second there and third here"),
        (["--resume", str(run_dir), "--seed", "4"], "cannot be resumed: seed is 3 there and 4 here"),
    ):
        assert main(["ppo", *again]) == 2
        told = capsys.readouterr()
        assert message in told.err
        assert told.err.count("\n") == 1
        assert "compiling" not in told.out


@pytest.mark.slow
@pytest.mark.usefixtures("table_is_registered")
def test_train_a_population(tmp_path, capsys):
    run_dir = tmp_path / "run"
    options = ["--env", "Table-v0", *TINY, "--seeds", "2"]
    assert main(["ppo", *options, "--run-dir", str(run_dir)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"2 members of Table-v0 on one device, written to {run_dir}"
    assert [line.split()[0] for line in lines[-4:]] == ["seed=3", "seed=4", "mean", "score:"]
    assert (run_dir / "learning_curve.png").exists()
    assert main(["evaluate", str(run_dir / "seed=4")]) == 0
    assert "mean score" in capsys.readouterr().out
    assert main(["plot", str(run_dir), "--out", str(tmp_path / "curve.png")]) == 0
    assert main(["ppo", "--resume", str(run_dir), "--total-steps", "5632"]) == 0
    told = capsys.readouterr().out
    assert told.index("resuming at step 5,120\n") < told.index("compiling …")
    for again, message in (
        (["--resume", str(run_dir)], "the population is finished"),
        ([*options, "--sweep", "gama=0.9,1", "--run-dir", str(tmp_path / "sweep")], "Did you mean 'gamma'?"),
    ):
        assert main(["ppo", *again]) == 2
        told = capsys.readouterr()
        assert message in told.err
        assert "compiling" not in told.out
    assert not (tmp_path / "sweep").exists()


@pytest.mark.slow
def test_an_environment_without_a_generator_trains_on_the_bank_that_it_has(monkeypatch, capsys, tmp_path):
    class Fixed(Table):
        generate = Environment.generate

    monkeypatch.setitem(registry._FACTORIES, "Table-v0", Fixed)
    assert main(["ppo", "--env", "Table-v0", *TINY, "--run-dir", str(tmp_path / "run")]) == 0
    assert "mean return of 256 episodes: Random 1.00, PPO 1.00" in capsys.readouterr().out
    assert main(["ppo", "--env", "Table-v0", *TINY, "--scenarios", "generated"]) == 2
    assert "Table-v0 does not generate scenarios: train with --scenarios library" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("table_is_registered")
def test_the_table_scores_with_the_default_params(tmp_path, monkeypatch):
    scored = []
    monkeypatch.setattr(
        comparison, "compare", lambda policy, env, params, *_, **__: scored.append((env, params)) or ("", {})
    )
    run_dir = str(tmp_path / "run")
    line = ["ppo", "--env", "Table-v0", "--env-args", "label=second", "--max-steps-in-episode", "50", *TINY]
    assert main([*line, "--run-dir", run_dir]) == main(["evaluate", run_dir]) == 0
    assert [(env.label, int(params.max_steps_in_episode)) for env, params in scored] == 2 * [("second", 1_000_000)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ppo --env LifeOps-v00", "no environment 'LifeOps-v00'. Did you mean 'LifeOps-v0'?"),
        ("ppo", "missing --env ID. Available: "),
        ("ppo --preset LifeOps-v00", "no preset 'LifeOps-v00'. Did you mean 'LifeOps-v0'?"),
        ("ppo --env LifeOps-v0 --scenarios nowhere.yaml", "nowhere.yaml: there is no such file"),
        ("ppo --env LifeOps-v0 --scenarios teamsclone", "a library of teamsclone, expected documents of lifeops"),
        ("ppo --resume nowhere", "nowhere is not a run folder"),
        ("evaluate nowhere", "nowhere does not exist"),
        ("evaluate nowhere --best", "nowhere/policy_best.msgpack does not exist: only a run folder has one"),
        ("watch nowhere", "nowhere does not exist"),
        ("watch nowhere --fps 0", "--fps 0.0: expected a number above 0"),
        ("plot nowhere", "nowhere is not a run folder"),
        ("plot", "missing run folders"),
        ("evaluat nowhere", "no command 'evaluat'. Did you mean 'evaluate'?"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(line, message, capsys):
    assert main(line.split()) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "line",
    ["ppo --env LifeOps-v0 --minibatch-size 7", "ppo --env LifeOps-v0 --sede 1", "ppo --env LifeOps-v0 --seed x"],
)
def test_a_wrong_option_is_status_2(line, capsys):
    assert main(line.split()) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        "",
        "--help",
        "ppo --help",
        "ppo --env LifeOps-v0 --help",
        "ppo --resume x --help",
        "evaluate --help",
        "plot --help",
        "collect --help",
        "watch --help",
    ],
)
def test_help(line, capsys):
    assert main(line.split()) == 0
    assert "jaxenv" in capsys.readouterr().out


@pytest.mark.parametrize("members", [[], ["--seeds", "2"]])
@pytest.mark.parametrize(("places", "told"), [((), ""), (("Gym",), "1 warning"), (("Gym", "Zoo"), "2 warnings")])
def test_warnings_about_scenarios_are_mentioned_before_they_are_used(
    tmp_path, capsys, monkeypatch, members, places, told
):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    requests = (f"{{event_id: {n}, start_min: 600, end_min: 630, location: {n}}}" for n in places or ("Home",))
    day = f"persona: busy_parent\npending_requests: [{', '.join(requests)}]\ntravel_times: {{Home: {{Office: 20}}}}\n"
    (file := tmp_path / "day.yaml").write_text(day)
    expected = [f"{file}: {told}, see `jaxenv scenarios check {file}`"] if told else []
    monkeypatch.setattr(runner, "run_members", interrupted)
    options = ["--scenarios", str(file), *TINY, *members, "--run-dir", str(tmp_path / "run")]
    assert main(["ppo", "--env", "LifeOps-v0", *options]) == 130
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if "scenarios check" in line] == lines[: len(expected)] == expected

    env, params = jaxenv.make("LifeOps-v0")
    monkeypatch.setattr(policies, "read", lambda *_, **__: (None, env, params, {}))
    monkeypatch.setattr(comparison, "compare", lambda *_, **__: ("table", {}))
    assert main(["evaluate", "run", "--scenarios", str(file)]) == 0
    assert capsys.readouterr().out.splitlines() == [*expected, "table"]

    def refused(*_, **__):
        raise ValueError("nothing is played here")

    monkeypatch.setattr(watching.rendering, "record", refused)
    monkeypatch.setattr(policies.dataset, "collect", refused)
    (path := tmp_path / "policy.msgpack").touch()
    monkeypatch.setattr(policies, "read", lambda *_, **__: (None, env, params, {"scenarios": ""}))
    for line in (["watch", str(path)], ["collect", str(path), "--out", str(tmp_path / "data.npz")]):
        assert main([*line, "--scenarios", str(file)]) == 2
        lines = capsys.readouterr().out.splitlines()
        assert [line for line in lines if "scenarios check" in line] == expected


def test_the_help_of_env_has_both_kinds_of_names(capsys):
    assert main(["ppo", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "--env STR id of a registered environment, or MODULE:FACTORY of one of your own" in text


@pytest.mark.parametrize("command", commands.COMMANDS)
def test_the_help_of_a_command_has_no_examples_of_docstrings(command, capsys):
    assert main([command, "--help"]) == 0
    assert ">>>" not in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.usefixtures("table_is_registered")
def test_an_interruption_while_compiling_leaves_a_run_that_resumes(tmp_path, capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    run_dir = tmp_path / "run"
    run_dir.mkdir()  # an empty folder is no run
    with monkeypatch.context() as patched:
        patched.setattr(runner, "run_members", interrupted)
        assert main(["ppo", "--env", "Table-v0", *TINY, "--run-dir", str(run_dir)]) == 130
    assert f"interrupted; resume with: jaxenv ppo --resume {run_dir}" in capsys.readouterr().out
    assert main(["ppo", "--resume", str(run_dir)]) == 0
    told = capsys.readouterr().out
    assert "there is no checkpoint yet: it starts from the beginning" in told
    assert told.index("compiling …") < told.index("scoring …") < told.index("mean score")

    shutil.rmtree(run_dir / "checkpoints")
    before = {file.name: file.read_bytes() for file in run_dir.iterdir()}
    assert main(["ppo", "--resume", str(run_dir)]) == 2
    assert f"{run_dir / 'checkpoints'} has no checkpoint, although" in capsys.readouterr().err
    assert {file.name: file.read_bytes() for file in run_dir.iterdir() if file.is_file()} == before


def test_shipped_scenarios_have_reference_returns_wherever_their_files_are(tmp_path):
    env, _ = jaxenv.make("LifeOps-v0")
    ours = shipped.load_library(env)
    expected = ours.returns(env.name)
    file = scenarios.libraries.SHIPPED / "lifeops" / "s1_basic_conflict.yaml"
    (tmp_path / "mine.yaml").write_text(file.read_text("utf-8"))
    for path in (file, tmp_path / "mine.yaml"):
        found = shipped.stored_returns(env, shipped.load_library(env, str(path)))
        assert found == {"s1_basic_conflict": expected["s1_basic_conflict"]}
    changed = types.SimpleNamespace(is_shipped=False, ids=ours.ids, documents=(*ours.documents[1:], ours.documents[0]))
    assert shipped.stored_returns(env, changed) == {}


@pytest.mark.parametrize(
    ("env_id", "kind", "top"), [("LifeOps-v0", "exact best", "best"), ("TeamsClone-v0", "upper bound", "upper")]
)
def test_a_score_of_1_is_exact_or_a_proven_bound_and_never_what_a_policy_earned(env_id, kind, top):
    env, params = jaxenv.make(env_id)
    library = shipped.load_library(env)
    found = shipped.reference_returns(env, params, library, None)
    assert found.kind == kind
    assert found.top.tolist() == [row[top] for row in library.returns(env_id).values()]


@pytest.mark.slow
@pytest.mark.parametrize("env_id", jaxenv.registered())
def test_every_environment_trains(env_id, tmp_path, capsys):
    options = ["--env", env_id, *TINY]
    assert main(["ppo", *options, "--run-dir", str(tmp_path / "run")]) == 0
    has_best = shipped.load_library(jaxenv.make(env_id)[0]).returns(env_id)
    assert ("mean score" if has_best else "no scores: the best return") in capsys.readouterr().out


@pytest.mark.slow
def test_a_killed_command_is_resumed(tmp_path):
    """With the command line alone, on an environment that people train."""
    line = [sys.executable, "-m", "train", "ppo"]
    options = ["--env", "LifeOps-Shaped-v0", *TINY, "--total-steps", "102400", "--checkpoint-every", "0.2"]
    subprocess.run([*line, *options, "--run-dir", str(tmp_path / "whole")], check=True)
    child = subprocess.Popen([*line, *options, "--run-dir", str(tmp_path / "cut")])
    while not any(path.name.isdigit() for path in (tmp_path / "cut" / "checkpoints").glob("*")):
        assert child.poll() is None
        time.sleep(0.01)
    child.kill()
    assert child.wait() == -signal.SIGKILL
    subprocess.run([*line, "--resume", str(tmp_path / "cut")], check=True)
    policies = [(tmp_path / name / "policy.msgpack").read_bytes() for name in ("whole", "cut")]
    assert policies[0] == policies[1]
