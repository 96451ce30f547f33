"""A run that starts from the weights of a policy file."""

import dataclasses
import shutil
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import PROBES, run_alone

import train
from strategies.tables import STATES
from train import dqn, ppo, pqn
from train.cli.main import main
from train.run.group import Group
from train.run.job import prepare, starting_weights
from train.save import folder as run_folder
from train.save.policy_file import PolicyError, save_policy

PARAMS = PROBES["action x observation"]


@pytest.fixture(scope="module")
def saved(config, env, tmp_path_factory):
    """(policy, settings that start from its file)."""
    path = tmp_path_factory.mktemp("saved") / "policy.msgpack"
    state = ppo.init(jax.random.key(7), PARAMS, config=config, env=env)
    policy = ppo.policy_of(state, config=config, env=env)
    save_policy(path, policy, config, scenarios="")
    return policy, dataclasses.replace(config, init_from=str(path))


def assert_equal(found, expected):
    jax.tree.map(np.testing.assert_array_equal, found, expected)


def test_only_the_weights_are_those_of_the_policy(saved, config, env):
    """With other params, and another number of environments."""
    policy, settings = saved
    other = dataclasses.replace(settings.rollout, num_envs=64)
    for each, params in ((settings, PROBES["time limit"]), (dataclasses.replace(settings, rollout=other), PARAMS)):
        state, progress = Group(prepare(ppo, each, env, params)).restore_or_begin(None)
        assert progress.superstep == 0
        assert_equal(state.weights, policy.weights)
    fresh, _ = Group(prepare(ppo, config, env, PARAMS)).restore_or_begin(None)
    state, _ = Group(prepare(ppo, settings, env, PARAMS)).restore_or_begin(None)
    assert_equal(jax.random.key_data(state.lanes.key), jax.random.key_data(fresh.lanes.key))
    assert_equal((state.optimizer, state.lanes.envs.state), (fresh.optimizer, fresh.lanes.envs.state))
    with pytest.raises(AssertionError):
        assert_equal(fresh.weights, policy.weights)


@pytest.mark.parametrize("algorithm", [pqn, dqn], ids=lambda algorithm: algorithm.name)
def test_every_algorithm_starts_from_a_policy(algorithm, saved, env):
    policy, settings = saved
    state, _ = Group(prepare(algorithm, settings, env, PARAMS)).restore_or_begin(None)
    assert_equal(algorithm.policy_of(state, config=settings, env=env).weights, policy.weights)
    if algorithm is dqn:
        assert_equal(state.target, policy.weights)
        shared = {id(x) for x in jax.tree.leaves(state.target)} & {id(x) for x in jax.tree.leaves(state.weights)}
        assert not shared  # a superstep consumes both


def test_the_folder_of_a_run_stands_for_its_policy(saved, env):
    policy, settings = saved
    folder = str(Path(settings.init_from).parent)
    assert_equal(starting_weights(dataclasses.replace(settings, init_from=folder), env, PARAMS), policy.weights)


@pytest.mark.slow
def test_a_run_learns_from_there_and_resumes_without_the_file(saved, env, tmp_path):
    policy, settings = saved
    copy = tmp_path / "moved.msgpack"
    shutil.copy(settings.init_from, copy)
    still = settings.hyper.replace(learning_rate=0.0)
    config = dataclasses.replace(settings, init_from=str(copy), hyper=still, run_dir=tmp_path / "run")
    folder = run_folder.create(config)
    stop = {"callback": lambda record: record["superstep"] == 1, "show_progress": False}
    assert run_alone(prepare(ppo, config, env, PARAMS), folder, **stop).stopped
    copy.unlink()
    assert folder.read_config().init_from == str(copy)
    outcome = run_alone(prepare(ppo, folder.read_config(), env, PARAMS, is_new=False), folder, show_progress=False)
    assert not outcome.stopped
    assert_equal(outcome.policy.weights, policy.weights)


def test_weights_are_float32_whatever_the_network_computes_in(saved, env):
    policy, settings = saved
    half = dataclasses.replace(settings.network, dtype="bfloat16")
    assert_equal(starting_weights(dataclasses.replace(settings, network=half), env, PARAMS), policy.weights)


def test_the_first_difference_is_named(saved, env, tmp_path):
    _, settings = saved
    wider = dataclasses.replace(settings, network=dataclasses.replace(settings.network, hidden=(8,), activation="relu"))
    with pytest.raises(PolicyError, match=r"holds another network: hidden is \[16\] there and \[8\] here$"):
        starting_weights(wider, env, PARAMS)
    narrow = PARAMS.replace(observations=jnp.eye(STATES, 2))
    kernel = r"params\.\w+\.Dense_0\.kernel is float32\[3, 16\] there and float32\[2, 16\] here"
    message = f"does not fit Table-v0 as it is here: {kernel}$"
    with pytest.raises(PolicyError, match=message):
        starting_weights(settings, env, narrow)
    with pytest.raises(PolicyError, match="nowhere does not exist"):
        starting_weights(dataclasses.replace(settings, init_from="nowhere"), env, PARAMS)
    with pytest.raises(PolicyError, match="another network"):
        train.train(env, PARAMS, dataclasses.replace(wider, run_dir=tmp_path / "run"), show_progress=False)
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("probe_is_registered")
def test_the_command_line(saved, tmp_path, capsys):
    _, settings = saved
    options = ["ppo", "--env", "Table-v0", "--run-dir", str(tmp_path / "run")]
    assert main([*options, "--init-from", settings.init_from, "--hidden", "8"]) == 2
    assert "hidden is [16] there and [8] here" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
