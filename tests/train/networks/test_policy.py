"""Policies: saved, read back, and rejected if the file does not fit."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import serialization
from probes import PROBES

from jaxenv.evaluation import evaluate
from strategies.tables import Table, table
from train.networks.network import make_network
from train.networks.policy import NetworkPolicy
from train.save.policy_file import PolicyError, load_policy, read_header, save_policy
from train.settings import task

PARAMS = PROBES["mask"]


@pytest.fixture
def saved(config, env, start, tmp_path):
    """(policy, file)."""
    weights = start(jax.random.key(0), PARAMS).weights
    policy = NetworkPolicy(weights, make_network(config.network, env.num_actions), env)
    path = tmp_path / "policy.msgpack"
    save_policy(path, policy, task.complete(config, env, PARAMS), scenarios=PARAMS.bank.fingerprint())
    return policy, path


def test_a_policy_round_trips(saved, env):
    policy, path = saved
    again = load_policy(path, env, PARAMS)
    for a, b in zip(jax.tree.leaves(policy), jax.tree.leaves(again), strict=True):
        np.testing.assert_array_equal(a, b)
    assert again.network == policy.network
    assert load_policy(str(path), env, PARAMS).network == policy.network
    assert read_header(path)["scenarios"] == PARAMS.bank.fingerprint()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_the_folder_of_a_run_stands_for_its_policy(saved, env):
    policy, path = saved
    for folder in (path.parent, str(path.parent)):
        again = load_policy(folder, env, PARAMS)
        for a, b in zip(jax.tree.leaves(policy), jax.tree.leaves(again), strict=True):
            np.testing.assert_array_equal(a, b)
    (path.parent / "other").mkdir()
    with pytest.raises(PolicyError, match=r"other/policy\.msgpack does not exist"):
        load_policy(path.parent / "other", env, PARAMS)


def test_a_policy_acts_greedily_or_samples(saved, env):
    policy, _ = saved
    observation, _ = env.reset(jax.random.key(0), PARAMS)
    keys = jax.random.split(jax.random.key(0), 200)
    act = jax.vmap(lambda policy, key: policy(key, observation, PARAMS), in_axes=(None, 0))
    assert len(set(np.asarray(act(policy, keys)))) == 1
    assert set(np.asarray(act(policy.replace(greedy=False), keys))) == {0, 1}


def test_a_file_that_is_not_a_policy(saved, env, tmp_path):
    _, path = saved
    whole = path.read_bytes()
    for name, content in {
        "cut": whole[: len(whole) // 2],
        "empty": b"",
        "text": b"weights: none",
        "foreign": serialization.msgpack_serialize({"weights": {}}),
    }.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(PolicyError, match=f"{name} is not a policy file"):
            load_policy(tmp_path / name, env, PARAMS)
    with pytest.raises(PolicyError, match="does not exist"):
        load_policy(tmp_path / "missing", env, PARAMS)


@pytest.mark.parametrize(
    ("name", "value"),
    [("env", 3), ("env", None), ("weights", [1]), ("weights", None), ("params", "x"), ("network", None)],
)
def test_a_field_of_another_type_or_none_is_named(saved, env, name, value):
    _, path = saved
    record = serialization.msgpack_restore(path.read_bytes())
    del record["digest"], record["version"]
    record |= {name: value}
    path.write_bytes(serialization.msgpack_serialize({key: each for key, each in record.items() if each is not None}))
    with pytest.raises(PolicyError, match=f"is not a policy file: its '{name}' is "):
        load_policy(path, env, PARAMS)


def test_a_bit_that_flipped_is_noticed(saved, env):
    """Anywhere in the file; a few of those in the name of the checksum leave everything else as it was."""
    _, path = saved
    whole, random = path.read_bytes(), np.random.default_rng(0)
    for place in random.integers(len(whole), size=200):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << random.integers(8)
        path.write_bytes(flipped)
        try:
            record = read_header(path)
        except PolicyError:
            continue
        assert abs(whole.index(b"digest") - place) < len("digest") + 2
        assert "digest" not in record


def test_a_file_that_names_its_version_has_a_checksum(saved):
    _, path = saved
    record = serialization.msgpack_restore(path.read_bytes())
    for changed in ({}, {"digest": None}):
        without = {name: value for name, value in record.items() if name != "digest"}
        path.write_bytes(serialization.msgpack_serialize({**without, **changed}))
        with pytest.raises(PolicyError, match="is damaged: it is not what was written"):
            read_header(path)


@pytest.mark.parametrize("field", ["weights", "network", "env", "params"])
def test_what_nests_without_end_is_refused(saved, field):
    _, path = saved
    record = serialization.msgpack_restore(path.read_bytes())
    nested = {}
    for _ in range(900):
        nested = {"x": nested}
    path.write_bytes(serialization.msgpack_serialize({**record, field: nested}))
    with pytest.raises(PolicyError, match=f"^{path} is "):
        read_header(path)


def test_weights_that_are_not_finite_are_refused(saved, env, tmp_path, config):
    policy, _ = saved
    broken = policy.replace(weights=jax.tree.map(lambda x: x.at[0].set(jnp.nan), policy.weights))
    save_policy(tmp_path / "nan", broken, task.complete(config, env, PARAMS), scenarios="")
    with pytest.raises(PolicyError, match="nan has weights that are not finite"):
        load_policy(tmp_path / "nan", env, PARAMS)


def test_a_policy_for_another_environment(saved):
    _, path = saved
    with pytest.raises(PolicyError, match="for Table-v0, not for Table-v1"):
        load_policy(path, Table(name="Table-v1"), PARAMS)
    with pytest.raises(PolicyError, match="does not fit"):
        load_policy(path, Table(), PARAMS.replace(observations=PARAMS.observations[:, :2]), any_params=True)


def test_a_policy_of_another_task(saved):
    _, path = saved
    with pytest.raises(PolicyError, match=r"trained on another task: num_actions is 3 there and 4 here$"):
        load_policy(path, Table(num_actions=4), PARAMS, any_params=True)
    limited = PARAMS.replace(max_steps_in_episode=jnp.int32(9))
    with pytest.raises(PolicyError, match="max_steps_in_episode is 1000000 there and 9 here; any_params=True loads it"):
        load_policy(path, Table(), limited)
    assert load_policy(path, Table(), limited, any_params=True)
    with pytest.raises(PolicyError, match=r"trained on another task: rewards is float32\[3, 3\] \w{16} there and"):
        load_policy(path, Table(), PARAMS.replace(rewards=PARAMS.rewards + 1))
    assert load_policy(path, Table(), PARAMS.replace(bank=PARAMS.bank.with_start_weights(jnp.ones(4))))


def test_a_number_that_came_later_is_0_in_an_older_file(saved, env):
    _, path = saved
    record = serialization.msgpack_restore(path.read_bytes())
    del record["params"]["max_steps_in_episode"], record["digest"], record["version"]
    path.write_bytes(serialization.msgpack_serialize(record))
    assert load_policy(path, env, PARAMS.replace(max_steps_in_episode=jnp.int32(0)))
    with pytest.raises(PolicyError, match="max_steps_in_episode is nothing there and 9 here"):
        load_policy(path, env, PARAMS.replace(max_steps_in_episode=jnp.int32(9)))


@pytest.mark.parametrize("network", [{"depth": 3}, {"encoder": "lstm"}, {"hidden": None}, 3])
def test_settings_of_another_version_are_a_policy_error(saved, env, network):
    _, path = saved
    record = serialization.msgpack_restore(path.read_bytes())
    del record["digest"], record["version"]
    path.write_bytes(serialization.msgpack_serialize({**record, "network": network}))
    with pytest.raises(PolicyError, match="comes from another version"):
        load_policy(path, env, PARAMS)


def test_the_network_is_the_saved_one(saved, tmp_path, env, config):
    policy, _ = saved
    path = tmp_path / "other"
    wider = dataclasses.replace(config, network=dataclasses.replace(config.network, hidden=(16, 16)))
    save_policy(path, policy, task.complete(wider, env, PARAMS), scenarios="")
    with pytest.raises(PolicyError, match="does not fit"):
        load_policy(path, env, PARAMS)


def test_a_trained_policy_is_played_greedily_or_sampled(config, env, start):
    """Its first weights hardly prefer an action: sampled it earns what chance does."""
    params = table(rewards=[[0, 1, 2]])
    weights = start(jax.random.key(0), params).weights
    policy = NetworkPolicy(weights, make_network(config.network, env.num_actions), env)
    greedy = evaluate(policy, env, params, repetitions=200)
    assert len(np.unique(greedy.returns)) == 1
    sampled = evaluate(policy.replace(greedy=False), env, params, repetitions=200)
    assert sampled.returns.mean() == pytest.approx(1.0, abs=0.15)
