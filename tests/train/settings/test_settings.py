"""Settings as JSON: a lossless round trip, and named differences."""

import dataclasses
import json

import pytest

import jaxenv
from train.settings import presets, task
from train.settings.config import Config
from train.settings.groups import Curriculum, Network
from train.settings.serialize import differences, from_json, immutable, to_json


@pytest.mark.parametrize("config", [*presets.PRESETS.values(), Config(env="any", network=Network(hidden=(3, 4, 5)))])
def test_settings_round_trip_through_json(config):
    assert from_json(json.loads(json.dumps(to_json(config)))) == config


def test_missing_settings_get_defaults_and_unknown_ones_are_rejected():
    assert from_json({"env": "any", "hyper": {"gamma": 0.5}}).hyper.gamma == 0.5
    assert from_json({"env": "any", "hyper": {"gamma": 0.5}}).hyper.clip == Config(env="any").hyper.clip
    before = {name: value for name, value in to_json(Config(env="any", seed=3)).items() if name != "q"}
    assert from_json(before) == Config(env="any", seed=3)  # of a run from before there was Q-learning
    then = {"env": "any", "csv": True, "curriculum": {"curriculum": "plr", "edit_share": 0.5, "num_edits": 5}}
    assert from_json(then).curriculum == Curriculum(curriculum="plr")  # of one from before these were removed
    with pytest.raises(ValueError, match=r"^curriculum is 'accel': input should be 'uniform' or 'plr'$"):
        from_json({"env": "any", "curriculum": {"curriculum": "accel"}})
    with pytest.raises(ValueError, match="Network has no setting 'depth'"):
        from_json({"env": "any", "network": {"depth": 3}})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"total_steps": None}, "total_steps is None: input should be a valid integer"),
        ({"rollout": {"num_envs": 64.5}}, "num_envs is 64.5: input should be a valid integer"),
        ({"rollout": 3}, "rollout is 3: expected a group of settings"),
        ({"network": 3}, "network is 3: expected a group of settings"),
        ({"network": {"hidden": [1] * 100_000}}, "hidden may name 64 layers, got 100000"),
    ],
)
def test_settings_that_were_edited_by_hand_are_told(settings, message):
    with pytest.raises(ValueError, match=message):
        from_json({"env": "any", **settings})


def test_differences_are_named_except_mutable_settings():
    config = Config(env="any")
    changed = dataclasses.replace(config, seed=1, total_steps=1, network=Network(hidden=(8,)))
    found = differences(immutable(to_json(config)), immutable(to_json(changed)))
    assert found == [("seed", 0, 1), ("hidden", [256, 256], [8])]
    changed = dataclasses.replace(config, params={"weights.send": 0.05}, env_args={"num_agents": 2})
    found = differences(immutable(to_json(config)), immutable(to_json(changed)))
    assert found == [("env_args.num_agents", "nothing", 2), ("params.weights.send", "nothing", 0.05)]
    grouped = dataclasses.replace(config, seeds=4, at_once=2)  # a checkpoint holds one group
    found = differences(immutable(to_json(config)), immutable(to_json(grouped)))
    assert found == [("seeds", 1, 4), ("at_once", None, 2)]
    masked = dataclasses.replace(config, env_args={"seed": 1, "total_steps": 2})  # of a user's own environment
    found = differences(immutable(to_json(config)), immutable(to_json(masked)))
    assert found == [("env_args.seed", "nothing", 1), ("env_args.total_steps", "nothing", 2)]
    assert differences({"a": 1}, {"b": 2}) == [("a", 1, "nothing"), ("b", "nothing", 2)]


def test_setting_names_are_unique_across_groups():
    """The command line knows them without their groups; an environment's arguments and params are such groups."""
    made = [(Config(env=id), *jaxenv.make(id)) for id in jaxenv.registered()]
    for config in (to_json(task.complete(*each)) for each in made):
        assert_names_differ(config)


def assert_names_differ(config):
    groups = [value for value in config.values() if isinstance(value, dict)]
    single = [name for name, value in config.items() if not isinstance(value, dict)]
    names = [*single, *(name for group in groups for name in group)]
    assert len(set(names)) == len(names)
