"""Populations: members are what single runs are, in folders of their own, and a killed population resumes."""

import contextlib
import dataclasses
import signal

import jax
import numpy as np
import pytest
from probes import PROBES

import train
from strategies.tables import Table
from train.log import plots
from train.log.metrics import read_metrics
from train.run import group, runner
from train.run.group import Group
from train.run.job import prepare
from train.run.runner import run_members
from train.save import folder as run_folder
from train.save.policy_file import save_policy
from train.settings.config import Config, members

PARAMS = PROBES["observation"]


def weights(outcome):
    return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(outcome.policy.weights)])


@pytest.fixture(scope="module")
def population(config):
    return dataclasses.replace(config, seeds=2, sweep=("learning_rate=5e-3,1e-3",), total_steps=2048)


@pytest.fixture(scope="module")
def trained(population, env):
    return train.train_population(env, PARAMS, population, show_progress=False)


def test_a_member_is_what_a_single_run_is(population, trained, env):
    """With its seed and hyperparameters, up to the order of sums."""
    assert len({weights(outcome).sum() for outcome in trained.values()}) == 4
    named = list(members(population).items())
    for name, config in (named[0], named[-1]):
        alone = train.train(env, PARAMS, config, show_progress=False)
        np.testing.assert_allclose(weights(alone), weights(trained[name]), atol=1e-5)
        np.testing.assert_allclose(alone.metrics["return"], trained[name].metrics["return"], atol=1e-6)


def test_supersteps_are_timed_once_for_all_members(trained):
    """From the end of one to the end of the next, whatever else the host or device did meanwhile."""
    metrics = [outcome.metrics for outcome in trained.values()]
    steps = np.diff(metrics[0]["env_steps"])
    for each in metrics:
        np.testing.assert_array_equal(each["seconds"], metrics[0]["seconds"])
        np.testing.assert_allclose(each["steps_per_second"][1:], steps / np.diff(each["seconds"]), rtol=1e-3)


@pytest.mark.slow
def test_members_in_turns_and_in_folders(population, trained, env, tmp_path):
    run_dir = tmp_path / "run"
    config = dataclasses.replace(population, at_once=2, run_dir=run_dir)
    found = train.train_population(env, PARAMS, config, show_progress=False)
    for name, outcome in trained.items():
        np.testing.assert_allclose(weights(found[name]), weights(outcome), atol=1e-5)
        policy = train.load_policy(run_dir / name / "policy.msgpack", env, PARAMS)
        np.testing.assert_array_equal(weights(found[name]), weights(dataclasses.replace(outcome, policy=policy)))
        assert len(list(read_metrics(run_dir / name / "metrics.jsonl"))) == config.num_supersteps
    assert [each.path.name for each in run_folder.runs_in(run_dir)] == sorted(trained)
    with pytest.raises(ValueError, match="the population is finished"):
        train.train_population(env, PARAMS, config, show_progress=False)


@pytest.fixture
def compilations(monkeypatch):
    """(members, bytes) of every program that is compiled, in order."""
    compile_superstep, found = Group.compile, []

    def compiles(self):
        program = compile_superstep(self)
        found.append((len(self.named), group.program_bytes(program)))
        return program

    monkeypatch.setattr(Group, "compile", compiles)
    return found


@pytest.fixture(scope="module")
def pair(config):
    return dataclasses.replace(config, seeds=2, total_steps=1024)


@pytest.fixture(scope="module")
def one_by_one(pair, env):
    return train.train_population(env, PARAMS, pair.replace(at_once=1), show_progress=False)


def assert_same(found, expected):
    """The same members with the same results, to the bit."""
    assert list(found) == list(expected)
    for name, outcome in expected.items():
        np.testing.assert_array_equal(weights(found[name]), weights(outcome))
        np.testing.assert_array_equal(found[name].metrics["return"], outcome.metrics["return"])


@pytest.mark.slow
def test_members_train_in_turns_where_memory_is_short(pair, one_by_one, env, monkeypatch, compilations):
    """No program is compiled twice: the one that fits is run, and turns share theirs."""
    starts = []
    learner = train.training.ALGORITHMS["ppo"]
    outcomes = run_members(prepare(learner, pair, env, PARAMS), on_start=starts.append, show_progress=False)
    assert list(outcomes) == ["seed=0", "seed=1"]
    [(number, needed)] = compilations
    assert (number, starts) == (2, [None])
    compilations.clear()
    monkeypatch.setattr(group, "device_bytes", lambda: needed - 1)
    with pytest.warns(UserWarning, match="2 members do not fit into .* GB of memory: they train in turns, 1 at once"):
        found = train.train_population(env, PARAMS, pair, show_progress=False)
    assert [number for number, _ in compilations] == [2, 1]
    assert_same(found, one_by_one)


def stopped():
    """In the place of `stop_signals`: a signal in the first superstep."""
    return contextlib.nullcontext([signal.SIGTERM])


@pytest.mark.slow
def test_a_population_that_resumes_keeps_its_turns(pair, one_by_one, env, tmp_path, monkeypatch, compilations):
    """Whatever the memory is then; it ends as one that was not interrupted."""
    together, in_turns = (pair.replace(run_dir=tmp_path / name) for name in ("together", "in turns"))
    with monkeypatch.context() as changed:
        changed.setattr(runner, "stop_signals", stopped)
        train.train_population(env, PARAMS, together, show_progress=False)
        changed.setattr(group, "device_bytes", lambda: 1)
        with pytest.warns(UserWarning, match="they train in turns"):
            train.train_population(env, PARAMS, in_turns, show_progress=False)
    with pytest.raises(ValueError, match="at_once is 1 there and 2 here"):
        train.train_population(env, PARAMS, in_turns.replace(at_once=2), show_progress=False)
    compilations.clear()
    assert_same(train.train_population(env, PARAMS, in_turns, show_progress=False), one_by_one)
    monkeypatch.setattr(group, "device_bytes", lambda: 1)
    outcomes = train.train_population(env, PARAMS, together, show_progress=False)
    assert [number for number, _ in compilations] == [1, 2]
    assert [outcome.env_steps for outcome in outcomes.values()] == [1024, 1024]


@pytest.mark.slow
def test_a_population_resumes_without_the_policy_that_it_started_from(pair, one_by_one, env, tmp_path, monkeypatch):
    path = tmp_path / "start.msgpack"
    save_policy(path, one_by_one["seed=1"].policy, pair, scenarios="")
    config = pair.replace(run_dir=tmp_path / "run", init_from=str(path), total_steps=2048)
    with monkeypatch.context() as changed:
        changed.setattr(runner, "stop_signals", stopped)
        train.train_population(env, PARAMS, config, show_progress=False)
    path.unlink()
    outcomes = train.train_population(env, PARAMS, config, show_progress=False)
    assert [outcome.env_steps for outcome in outcomes.values()] == [2048, 2048]


def test_of_a_population_a_member_is_to_be_chosen(tmp_path):
    """Where its own folder is named for a policy; a member has its own file, which may be missing."""
    for member in ("seeds", "seeds/seed=10", "seeds/seed=2"):
        (tmp_path / member).mkdir()
        (tmp_path / member / "config.json").touch()
    for best in (False, True):
        with pytest.raises(ValueError, match=r"seeds is a population: choose a member, such as .*/seeds/seed=2$"):
            run_folder.policy_path(tmp_path / "seeds", best=best)
    with pytest.raises(ValueError, match="seeds is a population"):
        train.load_policy(tmp_path / "seeds", Table(), PARAMS)
    member = tmp_path / "seeds" / "seed=2"
    assert run_folder.policy_path(member) == run_folder.policy_path(member / "policy.msgpack")
    assert run_folder.policy_path(tmp_path) == tmp_path / "policy.msgpack"  # a folder of runs is no population


@pytest.mark.slow
def test_a_killed_population_resumes(population, trained, env, tmp_path, monkeypatch):
    """It dies in the second group, whose calls are the 14th to 26th, after the first superstep that it saved."""
    config = dataclasses.replace(population, at_once=2, run_dir=tmp_path / "run", checkpoint_every=0.0)
    policy, calls = Group.policy, []

    def dies(self, state, member=0):
        calls.append(member)
        if len(calls) > 18:
            raise KeyboardInterrupt
        return policy(self, state, member)

    monkeypatch.setattr(Group, "policy", dies)
    with pytest.raises(KeyboardInterrupt):
        train.train_population(env, PARAMS, config, show_progress=False)
    monkeypatch.undo()
    train.train_population(env, PARAMS, config, show_progress=False)
    for name, outcome in trained.items():
        loaded = train.load_policy(tmp_path / "run" / name / "policy.msgpack", env, PARAMS)
        np.testing.assert_allclose(
            weights(dataclasses.replace(outcome, policy=loaded)), weights(outcome), atol=1e-5, err_msg=name
        )
        assert len(list(read_metrics(tmp_path / "run" / name / "metrics.jsonl"))) == config.num_supersteps


def test_a_member_that_diverges_stops_alone(config, env, tmp_path):
    """It is the first, whose record and clock stand still while the others go on."""
    config = dataclasses.replace(config, sweep=("learning_rate=1e30,1e-3",), total_steps=2048)
    folder = run_folder.create(dataclasses.replace(config, run_dir=tmp_path / "run"))
    found = run_members(prepare(train.training.ALGORITHMS["ppo"], config, env, PARAMS), folder, show_progress=False)
    bad, good = found.values()
    assert good.failure is None
    assert "_loss" in bad.failure
    assert [each.stopped for each in found.values()] == [False, False]  # nobody interrupted them
    assert good.env_steps == config.total_steps
    with pytest.raises(ValueError, match="the population is finished"):
        run_members(prepare(train.training.ALGORITHMS["ppo"], config, env, PARAMS), folder, show_progress=False)
    assert len(bad.metrics["return"]) < len(good.metrics["return"]) == config.num_supersteps


@pytest.mark.slow
def test_runs_that_differ_by_their_seed_are_drawn_as_a_band(config, env, tmp_path):
    pytest.importorskip("matplotlib")
    config = dataclasses.replace(config, seeds=3, total_steps=2048, run_dir=tmp_path / "run")
    train.train_population(env, PARAMS, config, show_progress=False)
    folders = run_folder.runs_in(tmp_path / "run")
    assert list(plots._grouped(plots._read(folders))) == ["3 seeds"]
    plots.learning_curves(folders, tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 1000


@pytest.mark.parametrize(("algorithm", "setting"), [("dqn", "target_kl"), ("pqn", "clip_end")])
def test_a_sweep_over_what_an_algorithm_does_not_read_is_refused(config, env, algorithm, setting):
    config = config.replace(sweep=(f"{setting}=0.1,0.2",))
    with pytest.raises(ValueError, match=f"{algorithm} has no --{setting.replace('_', '-')}"):
        prepare(train.training.ALGORITHMS[algorithm], config, env, PARAMS)


@pytest.mark.parametrize(
    ("sweep", "message"),
    [
        (("gama=0.9,1",), "'gama' cannot be swept over. Did you mean 'gamma'?"),
        (("gamma=0.9,x",), "expected different numbers, such as gamma=0.1,0.2"),
        (("gamma=0.9,0.90",), "expected different numbers"),
        (("gamma",), "expected different numbers"),
        (("gamma=0.9", "gamma=1"), "each setting may be named once"),
    ],
)
def test_a_sweep_that_cannot_be(sweep, message):
    with pytest.raises(ValueError, match="sweep") as error:
        members(Config(env="LifeOps-v0", sweep=sweep))
    assert message in str(error.value)
