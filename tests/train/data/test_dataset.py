"""A dataset holds whole episodes in order, with what the environment and the policy did."""

import dataclasses
import io
import os
import sys
import types

import jax
import numpy as np
import pytest
from probes import PROBES

from jaxenv import registry
from jaxenv.baselines import Myopic
from jaxenv.evaluation import evaluate
from strategies.tables import Pair, Table, column, table
from train import ppo
from train.cli.main import main
from train.data import dataset, minari_format
from train.protocol import shipped
from train.save.policy_file import save_policy
from train.settings import task

# From each state an action leads to the state of its number; the last action may end the episode, as does the limit.
WANDERING = table(
    starts=(0, 1, 1, 0),
    rewards=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]],
    following=[[0, 1, 2]] * 3,
    ends=[[False] * 3, [False] * 3, [False, False, True]],
    legal=[[True, True, False], [True] * 3, [True] * 3],
    limit=36,
)
EPISODES = 37


@pytest.fixture(scope="module")
def policy(config, env):
    state = ppo.init(jax.random.key(0), WANDERING, config=config, env=env)
    return ppo.policy_of(state, config=config, env=env).replace(greedy=False)


@pytest.fixture(scope="module")
def made(policy, env, tmp_path_factory):
    """(file, arrays, metadata), in batches of ten episodes that outlast one call."""
    path = tmp_path_factory.mktemp("data") / "data.npz"
    counts = []
    returned = dataset.collect(
        path, policy, env, WANDERING, EPISODES, key=jax.random.key(1), at_once=10, on_progress=counts.append
    )
    assert counts == [10, 10, 10, 7]
    arrays, metadata = dataset.load(path)
    assert metadata == returned
    return path, arrays, metadata


def trajectories(arrays):
    return np.split(np.arange(len(arrays["action"])), arrays["start"][1:])


def test_every_row_is_what_the_table_says(made):
    _, arrays, _ = made
    at = arrays["observation.vector"].argmax(axis=1)
    np.testing.assert_array_equal(arrays["reward"], np.asarray(WANDERING.rewards)[at, arrays["action"]])
    np.testing.assert_array_equal(arrays["observation.action_mask"], np.asarray(WANDERING.legal)[at])
    assert arrays["observation.action_mask"][np.arange(len(at)), arrays["action"]].all()
    np.testing.assert_array_equal(arrays["terminated"], np.asarray(WANDERING.ends)[at, arrays["action"]])


def test_trajectories_are_whole_and_in_order(made):
    _, arrays, metadata = made
    at, final = arrays["observation.vector"].argmax(axis=1), arrays["final_observation.vector"].argmax(axis=1)
    rows = trajectories(arrays)
    assert len(rows) == EPISODES == metadata["episodes"]
    assert metadata["transitions"] == len(at)
    starts = np.asarray(WANDERING.bank.scenarios.at)
    for number, own in enumerate(rows):
        assert (arrays["episode"][own] == number).all()
        assert (arrays["agent"][own] == 0).all()
        assert arrays["scenario"][number] == number % 4
        assert at[own[0]] == starts[arrays["scenario"][number]]
        np.testing.assert_array_equal([*at[own[1:]], final[number]], arrays["action"][own])  # where it leads to
        ended = arrays["terminated"][own] | arrays["truncated"][own]
        np.testing.assert_array_equal(ended, own == own[-1])
        assert arrays["truncated"][own[-1]] == (len(own) == 36)
    assert arrays["truncated"].any()  # in the second call
    returns = np.add.reduceat(arrays["reward"], arrays["start"])
    np.testing.assert_allclose(metadata["mean_return"], returns.mean(), rtol=1e-6)


def test_the_metadata_name_environment_params_and_policy(made, env):
    _, _, metadata = made
    assert (metadata["env"], metadata["agents"], metadata["num_actions"]) == ("Table-v0", 1, 3)
    assert metadata["params"] == task.describe_params(WANDERING)
    assert metadata["scenarios"] == WANDERING.bank.fingerprint()
    assert metadata["policy"]["greedy"] is False


def test_a_greedy_policy_has_the_returns_of_its_evaluation(policy, env, tmp_path):
    params, greedy = PROBES["action x observation"], policy.replace(greedy=True)
    dataset.collect(tmp_path / "data.npz", greedy, env, params, 4, key=jax.random.key(0))
    arrays, _ = dataset.load(tmp_path / "data.npz")
    expected = evaluate(greedy, env, params).returns[:, 0]
    np.testing.assert_allclose(np.add.reduceat(arrays["reward"], arrays["start"]), expected)


@pytest.mark.parametrize("core", ["none", pytest.param("gru", marks=pytest.mark.slow)])
def test_each_agent_has_a_trajectory(config, tmp_path, core):
    """Also of a policy that remembers."""
    network = dataclasses.replace(config.network, core=core, core_units=4)
    config = dataclasses.replace(config, network=network)
    state = ppo.init(jax.random.key(0), WANDERING, config=config, env=Pair())
    policy = ppo.policy_of(state, config=config, env=Pair()).replace(greedy=False)
    dataset.collect(tmp_path / "data.npz", policy, Pair(), WANDERING, 3, key=jax.random.key(2), at_once=2)
    arrays, metadata = dataset.load(tmp_path / "data.npz")
    rows = trajectories(arrays)
    assert (metadata["agents"], len(rows), metadata["transitions"]) == (2, 6, 6 * 36)
    at, final = arrays["observation.vector"].argmax(axis=1), arrays["final_observation.vector"].argmax(axis=1)
    for number, own in enumerate(rows):
        assert set(arrays["episode"][own]) == {number // 2}
        assert set(arrays["agent"][own]) == {number % 2}
        assert at[own[0]] == number % 2
        np.testing.assert_array_equal([*at[own[1:]], final[number]], arrays["action"][own])
    np.testing.assert_allclose(metadata["mean_return"], arrays["reward"].sum() / 6, rtol=1e-6)


def test_a_teacher_is_asked_in_every_state_and_changes_nothing_else(made, policy, env, tmp_path):
    """One step ahead the legal action of the highest number pays most."""
    teacher, path = Myopic(env), tmp_path / "data.npz"
    dataset.collect(path, policy, env, WANDERING, EPISODES, key=jax.random.key(1), at_once=10, teacher=teacher)
    arrays, _ = dataset.load(path)
    at = arrays["observation.vector"].argmax(axis=1)
    np.testing.assert_array_equal(arrays.pop("label"), np.array([1, 2, 2])[at])
    assert arrays.keys() == made[1].keys()
    for name, found in arrays.items():
        np.testing.assert_array_equal(found, made[1][name])


@pytest.mark.slow
def test_the_labels_of_several_agents_are_their_own(config, tmp_path):
    """Agent n is in state n, where action n pays."""
    params = table(rewards=np.eye(3), following=column([0, 1, 2]), ends=False, limit=5)
    state = ppo.init(jax.random.key(0), params, config=config, env=Pair())
    policy, path = ppo.policy_of(state, config=config, env=Pair()), tmp_path / "data.npz"
    dataset.collect(path, policy, Pair(), params, 3, key=jax.random.key(2), teacher=Myopic(Pair()))
    arrays, _ = dataset.load(path)
    np.testing.assert_array_equal(arrays["label"], arrays["agent"])


def changed(**arrays):
    """Writes a dataset with other arrays; None leaves one out."""

    def write(path, content):
        whole = {**dict(np.load(io.BytesIO(content))), **arrays}
        np.savez_compressed(path, **{name: array for name, array in whole.items() if array is not None})

    return write


ODD = {
    "other arrays": (lambda path, _: np.savez(path, x=np.ones(3)), "it has no 'action'"),
    "nothing": (lambda path, _: path.touch(), "File is not a zip file"),
    "half": (lambda path, content: path.write_bytes(content[: len(content) // 2]), "File is not a zip file"),
    "a pipe": (lambda path, _: os.mkfifo(path), "it is not a regular file"),
    "a column less": (changed(reward=None), "it has no 'reward'"),
    "a short column": (changed(reward=np.ones(3)), "reward has the shape (3,), expected the rows of action: ("),
    "a short observation": (changed(**{"final_observation.vector": np.ones((3, 2))}), "the rows of start: (37,)"),
    "no column": (changed(agent=np.float32(1)), "agent has the shape ()"),
    "objects": (changed(scenario=np.array([{}])), "scenario is of object"),
    "no metadata": (changed(metadata=None), "its metadata do not say so"),
    "metadata that are a list": (changed(metadata="[]"), "its metadata do not say so"),
    "metadata without end": (changed(metadata="[" * 100_000), "its metadata do not say so"),
    "metadata of another version": (changed(metadata='{"format": "\x1b"}'), "its metadata do not say so"),
}


@pytest.mark.parametrize("name", ODD)
def test_other_files_are_refused(made, tmp_path, name):
    put, reason = ODD[name]
    put(path := tmp_path / "other.npz", made[0].read_bytes())
    with pytest.raises(ValueError, match=rf"^{path} is not a dataset of this version \('jaxenv dataset 1'\): ") as told:
        dataset.load(path)
    assert reason in str(told.value)


def test_a_byte_of_another_value_is_found(made, tmp_path):
    content = bytearray(made[0].read_bytes())
    content[len(content) // 3] ^= 1
    (tmp_path / "data.npz").write_bytes(content)
    with pytest.raises(ValueError, match="is not a dataset of this version"):
        dataset.load(tmp_path / "data.npz")


def test_a_small_file_of_gigabytes_is_not_unpacked(made, tmp_path):
    """By what its arrays declare; whoever has the memory may ask for more."""
    changed(**{"observation.more": np.zeros((len(made[1]["action"]), 1000), np.int8)})(
        path := tmp_path / "data.npz", made[0].read_bytes()
    )
    with pytest.raises(ValueError, match=rf"^{path} unpacks to [0-9,]+ bytes, more than 100,000$"):
        dataset.load(path, most=100_000)
    assert dataset.load(path)[0]["observation.more"].shape[1] == 1000
    with pytest.raises(FileNotFoundError):
        dataset.load(tmp_path / "nothing")


@pytest.fixture
def saved(config, policy, env, tmp_path, monkeypatch):
    """A policy file of the registered environment."""
    monkeypatch.setitem(sys.modules, "minari", None)

    class Registered(Table):
        @property
        def default_params(self):
            return WANDERING

    monkeypatch.setitem(registry._FACTORIES, "Table-v0", Registered)
    monkeypatch.setattr(shipped, "library_for", lambda env, path=None: None)
    path = tmp_path / "policy.msgpack"
    limited = WANDERING.replace(max_steps_in_episode=WANDERING.max_steps_in_episode - 31)
    described = task.complete(dataclasses.replace(config, env="Table-v0"), env, limited)
    save_policy(path, policy, described, scenarios="1234", algorithm="ppo")
    return path


def test_the_command_line(saved, tmp_path, capsys):
    """With the params of the training, and generated scenarios."""
    out = tmp_path / "data.npz"
    options = ["collect", str(saved), "--out", str(out), "--episodes", "20", "--no-greedy"]
    assert main([*options, "--scenarios", "generated", "--seed", "5"]) == 0
    assert f"written to {out}" in capsys.readouterr().out
    arrays, metadata = dataset.load(out)
    assert max(map(len, trajectories(arrays))) == 5
    np.testing.assert_array_equal(arrays["scenario"], np.arange(20))
    source = metadata["policy"]
    assert (source["algorithm"], source["scenarios"], source["seed"], source["greedy"]) == ("ppo", "1234", 5, False)
    out.unlink()
    for refused, why in (
        (["--format", "minari"], "minari is not installed"),
        (["--label", "Myopik"], "'Myopic'"),
        (["--label", "Myopic", "--simulations", "8"], "--simulations are those of --label search"),
    ):
        assert main([*options, *refused]) == 2
        assert why in capsys.readouterr().err
        assert not out.exists()
    assert main([*options, "--label", "Myopic"]) == 0
    arrays, metadata = dataset.load(out)
    assert metadata["policy"]["label"] == "Myopic"
    assert arrays["label"].shape == arrays["action"].shape


def test_a_dataset_of_minari_has_an_episode_for_each_trajectory(made, monkeypatch):
    """In the place of Minari modules that keep what they are given."""
    path, arrays, _ = made
    given = {}
    fake = types.SimpleNamespace
    modules = {
        "minari": fake(create_dataset_from_buffers=lambda **arguments: given.update(arguments)),
        "minari.data_collector": fake(EpisodeBuffer=lambda **episode: fake(**episode)),
        "gymnasium.spaces": fake(
            Dict=dict, Discrete=lambda n: n, Box=lambda low, high, shape, dtype: (shape, np.dtype(dtype))
        ),
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    minari_format.convert(path, "table/ppo-v0")
    assert len(given["buffer"]) == EPISODES
    for own, episode in zip(trajectories(arrays), given["buffer"], strict=True):
        assert len(episode.observations["vector"]) == len(episode.actions) + 1 == len(own) + 1
        np.testing.assert_array_equal(episode.observations["vector"][1:].argmax(axis=1), episode.actions)
    assert given["observation_space"] == {"vector": ((3,), np.float32), "action_mask": ((3,), np.bool_)}
    assert (given["action_space"], given["dataset_id"]) == (3, "table/ppo-v0")
