"""The loop: what a run writes, that it compiles once, how it stops, and that it resumes bit for bit."""

import concurrent.futures
import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import jax
import pytest
from probes import PROBES, run_alone

from train import ppo
from train.log.metrics import read_metrics
from train.run.group import Group
from train.run.job import prepare
from train.run.progress import Bar
from train.run.runner import stop_signals
from train.save import folder as run_folder
from train.save.arrays import by_name, copied
from train.save.checkpoint import CheckpointError
from train.save.policy_file import load_policy
from train.score.held_out import validation_returns
from train.settings.groups import Scenarios

PARAMS = PROBES["observation"]
TIMES = ("seconds", "steps_per_second")


@pytest.fixture(scope="module")
def config(generated):
    """All that is trained on here is generated, and saved at the end, unless a test says otherwise."""
    return dataclasses.replace(generated, checkpoint_every=3600.0)  # or a slow compilation makes one due


@pytest.fixture
def folder(config, tmp_path):
    return run_folder.create(dataclasses.replace(config, run_dir=tmp_path / "run"))


@pytest.fixture(scope="module")
def whole(config, env, tmp_path_factory):
    """The folder of an uninterrupted run."""
    folder = run_folder.create(dataclasses.replace(config, run_dir=tmp_path_factory.mktemp("whole") / "run"))
    run_alone(prepare(ppo, config, env, PARAMS), folder, show_progress=False)
    return folder


def run_and_stop(config, env, params, folder, monkeypatch, after=2):
    """A run that is told to stop during a superstep, when the record of the one before is first shown."""
    shown = set()

    def show(self, record):
        if record["superstep"] == after - 2 and not shown:
            shown.add(record["superstep"])
            signal.raise_signal(signal.SIGTERM)

    with monkeypatch.context() as patch:
        patch.setattr(Bar, "show", show)
        return run_alone(prepare(ppo, config, env, params), folder, show_progress=False)


def assert_same_run(found, expected):
    """The same weights, to the byte, and the same metrics except times, with no line doubled or lost."""
    assert found.policy.read_bytes() == expected.policy.read_bytes()
    found, expected = (
        [{name: value for name, value in record.items() if name not in TIMES} for record in read_metrics(each.metrics)]
        for each in (found, expected)
    )
    assert found == expected


def test_a_run(config, env, folder, caplog, monkeypatch):
    """On generated scenarios, renewed in each update: nothing is compiled once training has started."""
    compiled = []
    monkeypatch.setattr(Bar, "show", lambda self, record: compiled.append(len(caplog.records)))
    with jax.log_compiles():
        outcome = run_alone(prepare(ppo, config, env, PARAMS), folder, show_progress=False)
    assert 0 < compiled[0] == compiled[-1]

    records = list(read_metrics(folder.metrics))
    steps = [n * config.steps_per_superstep for n in range(1, config.num_supersteps + 1)]
    assert [record["env_steps"] for record in records] == steps
    assert json.loads(folder.config.read_text())["seed"] == config.seed
    assert outcome.env_steps == records[-1]["env_steps"]
    assert not outcome.stopped
    load_policy(folder.policy, env, PARAMS)
    validations = {record["superstep"]: record["validation_return"] for record in records}
    assert [number for number, found in validations.items() if found is not None] == [3, 7, 9]
    assert {"PPO": validations[9]} == validation_returns({"PPO": outcome.policy}, env, PARAMS)


def test_a_state_is_made_and_copied_by_few_programs(config, env, caplog):
    """Not by one for each of its arrays, which would take longer than to compile all else: of sizes of its own."""
    sizes = dataclasses.replace(config.rollout, num_envs=17, minibatch_size=17)
    with jax.log_compiles(), caplog.at_level("WARNING", "jax"):
        state = ppo.init(jax.random.key(0), PARAMS, config=dataclasses.replace(config, rollout=sizes), env=env)
        copied(by_name(state))
    assert caplog.text.count("Compiling") < len(jax.tree.leaves(state))  # 20 of 35 on JAX 0.10


@pytest.mark.slow
def test_a_signal_stops_a_run_after_its_superstep_and_it_resumes(config, env, folder, whole, monkeypatch):
    before = signal.getsignal(signal.SIGTERM)
    stopped = run_and_stop(config, env, PARAMS, folder, monkeypatch)
    assert stopped.stopped
    assert len(list(read_metrics(folder.metrics))) == 2
    assert signal.getsignal(signal.SIGTERM) == before
    load_policy(folder.policy, env, PARAMS)

    outcome = run_alone(prepare(ppo, config, env, PARAMS), folder, show_progress=False)
    assert not outcome.stopped
    assert outcome.env_steps == config.num_supersteps * config.steps_per_superstep
    assert outcome.seconds > stopped.seconds
    assert_same_run(folder, whole)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"refresh": 3}, {"refresh": 0}, {"scenarios": "library"}])
def test_a_bank_that_stays_is_restored(config, env, tmp_path, monkeypatch, settings):
    """Stopped within the life of a bank: the environments continue in the middle of their episodes."""
    config = dataclasses.replace(config, training=Scenarios(**settings))
    folders = [run_folder.create(dataclasses.replace(config, run_dir=tmp_path / name)) for name in ("cut", "whole")]
    stopped = run_and_stop(config, env, PROBES["time limit"], folders[0], monkeypatch, after=5)
    assert stopped.env_steps == 5 * config.steps_per_superstep
    for folder in folders:
        run_alone(prepare(ppo, config, env, PROBES["time limit"]), folder, show_progress=False)
    assert_same_run(*folders)


@pytest.mark.slow
def test_what_is_remembered_is_restored(config, env, tmp_path, monkeypatch):
    """Stopped in the middle of episodes of five steps, of which a network with memory has seen a part."""
    network = dataclasses.replace(config.network, core="gru", core_units=8)
    config = dataclasses.replace(config, network=network, total_steps=4 * config.steps_per_superstep)
    folders = [run_folder.create(dataclasses.replace(config, run_dir=tmp_path / name)) for name in ("cut", "whole")]
    assert run_and_stop(config, env, PROBES["time limit"], folders[0], monkeypatch).stopped
    for folder in folders:
        run_alone(prepare(ppo, config, env, PROBES["time limit"]), folder, show_progress=False)
    assert_same_run(*folders)


CHILD = """
import dataclasses, sys, time
from pathlib import Path
from probes import GENERATED, PROBES, run_alone
from strategies.tables import Table
from train import ppo
from train.save import folder as run_folder
from train.save.arrays import by_name, copied
from train.run.progress import Bar
from train.run.job import prepare

Bar.show = lambda self, record: time.sleep(0.1)
config = dataclasses.replace(GENERATED, run_dir=Path(sys.argv[1]), checkpoint_every=0.25)
run_alone(prepare(ppo, config, Table(), PROBES["observation"]), run_folder.create(config), show_progress=False)
"""


def test_a_killed_run_resumes_bit_for_bit(config, env, whole, tmp_path, compiled):
    folder = run_folder.RunFolder(tmp_path / "run")
    paths = [str(Path(__file__).parents[1]), *sys.path]
    settings = {"JAX_COMPILATION_CACHE_DIR": str(compiled), "PYTHONPATH": os.pathsep.join(paths)}
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(folder.path)], env={**os.environ, **settings})
    while not any(path.name.isdigit() for path in folder.checkpoints.glob("*")):
        assert child.poll() is None
        time.sleep(0.01)
    child.kill()
    assert child.wait() == -signal.SIGKILL
    assert 0 < len(list(read_metrics(folder.metrics))) < config.num_supersteps
    with folder.metrics.open("a") as file:
        file.write('{"superstep": 9, "retu')  # as a run that is killed in the middle of a line leaves it

    run_alone(prepare(ppo, config, env, PARAMS), folder, show_progress=False)
    assert_same_run(folder, whole)


def test_a_run_killed_before_its_first_checkpoint_starts_over(config, env, folder, whole):
    folder.metrics.write_text('{"superstep": 0}\n{"superstep": 1}\n')
    run_alone(prepare(ppo, config, env, PARAMS), folder, show_progress=False)
    assert_same_run(folder, whole)


@pytest.mark.slow
@pytest.mark.parametrize("left", ["metrics", "the best policy too"])
def test_a_run_whose_checkpoints_and_policy_are_gone_is_not_begun_anew(config, env, folder, monkeypatch, left):
    run_and_stop(config, env, PARAMS, folder, monkeypatch)
    before = folder.metrics.read_bytes()
    shutil.rmtree(folder.checkpoints)
    folder.policy.unlink()
    if left == "metrics":
        folder.best_policy.unlink(missing_ok=True)
    words = rf"^{folder.checkpoints} has no checkpoint, although {folder.path}/checkpoints\.begun was written after one"
    with pytest.raises(CheckpointError, match=words):
        run_alone(prepare(ppo, config, env, PARAMS), folder, show_progress=False)
    assert folder.metrics.read_bytes() == before


def test_a_run_of_an_earlier_version_gets_its_mark(config, env, folder, monkeypatch):
    run_and_stop(config, env, PARAMS, folder, monkeypatch)
    mark = folder.path / "checkpoints.begun"
    mark.unlink()
    with Group(prepare(ppo, folder.read_config(), env, PARAMS)).checkpoints(folder):
        assert mark.exists()


def test_a_finished_run_is_reported_and_can_be_extended(config, env, folder, monkeypatch):
    shorter = dataclasses.replace(config, total_steps=2 * config.steps_per_superstep)
    run_and_stop(config, env, PARAMS, folder, monkeypatch)
    before = folder.config.read_bytes()
    with pytest.raises(CheckpointError, match="the run is finished: 1,024 of 1,024 steps are done"):
        run_alone(prepare(ppo, shorter, env, PARAMS), folder, show_progress=False)
    assert folder.config.read_bytes() == before

    folder.write_config(shorter)
    assert run_alone(prepare(ppo, config, env, PARAMS), folder, show_progress=False).env_steps == config.total_steps
    assert folder.read_config().total_steps == config.total_steps
    assert len(list(read_metrics(folder.metrics))) == config.num_supersteps


def test_other_scenarios_are_rejected(config, env, folder, monkeypatch):
    library = dataclasses.replace(config, training=Scenarios(scenarios="library"))
    run_and_stop(library, env, PARAMS, folder, monkeypatch)
    with pytest.raises(CheckpointError, match="has other scenarios"):
        run_alone(prepare(ppo, library, env, PARAMS.replace(bank=PROBES["one step"].bank)), folder, show_progress=False)


@pytest.mark.slow
def test_a_changed_generator_is_rejected(config, env, folder, monkeypatch):
    class Elsewhere(type(env)):
        def generate(self, key, difficulty):
            return super().generate(jax.random.fold_in(key, 1), difficulty)

    run_and_stop(config, env, PARAMS, folder, monkeypatch)
    with pytest.raises(CheckpointError, match="has other scenarios"):
        run_alone(prepare(ppo, config, Elsewhere(), PARAMS), folder, show_progress=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"max_steps_in_episode": 9}, "params.max_steps_in_episode is 1000000 there and 9 here"),
        ({"rewards": 2 * PARAMS.rewards}, r"params.rewards is float32\[3, 3\] \w{16} there and"),
    ],
)
def test_a_run_does_not_resume_with_other_params(config, env, folder, monkeypatch, changed, message):
    run_and_stop(config, env, PARAMS, folder, monkeypatch)
    before = folder.policy.read_bytes()
    with pytest.raises(CheckpointError, match=f"belongs to another run: {message}"):
        run_alone(prepare(ppo, config, env, PARAMS.replace(**changed)), folder, show_progress=False)
    assert folder.policy.read_bytes() == before
    saved = json.loads(folder.config.read_text())
    assert saved["params"]["max_steps_in_episode"] == 1_000_000
    assert saved["env_args"] == {"name": "Table-v0", "num_actions": 3}


def test_a_run_does_not_resume_with_another_environment(config, env, folder, monkeypatch):
    run_and_stop(config, env, PARAMS, folder, monkeypatch)
    with pytest.raises(CheckpointError, match=r"belongs to another run: env_args\.num_actions is 3 there and 4 here"):
        run_alone(prepare(ppo, config, type(env)(num_actions=4), PARAMS), folder, show_progress=False)


def test_two_processes_do_not_write_into_one_folder(config, env, folder):
    before = folder.config.read_bytes()
    with folder.locked(), pytest.raises(ValueError, match="is being written by another process"):
        run_alone(prepare(ppo, config.replace(total_steps=1), env, PARAMS), folder, show_progress=False)
    assert folder.config.read_bytes() == before


@pytest.fixture
def interrupts():
    """Python's own handler, also where a shell started the tests in the background, which ignores the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_a_second_signal_acts_as_usual():
    with stop_signals() as taken:
        signal.raise_signal(signal.SIGINT)
        assert taken == [signal.SIGINT]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_a_run_folder_is_never_overwritten(config, folder, tmp_path, monkeypatch):
    with pytest.raises(FileExistsError, match="already exists: resume"):
        run_folder.create(dataclasses.replace(config, run_dir=folder.path))
    monkeypatch.chdir(tmp_path)
    unnamed = [run_folder.create(config).path for _ in range(2)]
    assert [str(path) for path in unnamed] == ["runs/Table-v0-0-0", "runs/Table-v0-0-1"]


def test_runs_that_begin_at_once_have_a_folder_each(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        folders = pool.map(lambda _: run_folder.create(config).path.name, range(16))
    assert set(folders) == {f"Table-v0-0-{number}" for number in range(16)}
