"""Settings: validation, presets by name, sizes of a run."""

import dataclasses
import math
import re
from pathlib import Path

import numpy as np
import pytest

import jaxenv
from train.settings import presets
from train.settings.bounds import bounds_of, of_type
from train.settings.config import Config
from train.settings.groups import Hyper, Network, QLearning, Rollout, Scenarios
from train.settings.serialize import from_json, to_json
from train.training import ALGORITHMS


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Rollout(num_envs=10, num_steps=3, minibatch_size=7),
            "30 samples cannot be split into minibatches of 7",
        ),
        (lambda: Rollout(minibatch_size=32, microbatch_size=12), "32 samples cannot be split into parts of 12"),
        (lambda: Rollout(num_envs=12, lanes=5), "12 environments cannot be split into 5 equal lanes"),
        (
            lambda: Config(env="any", rollout=Rollout(lanes=2), training=Scenarios(count=4097)),
            "4097 scenarios cannot be split into 2 equal lanes",
        ),
        (lambda: Rollout(num_steps=0), "num_steps must be within 1 to 1,073,741,824, got 0"),
        (lambda: Config(env="any", validate_every=-1), "validate_every must be within 0 to 1,000,000,000, got -1"),
        (lambda: Config(env="any", seeds=0), "seeds must be within 1 to 65,536, got 0"),
        (lambda: Config(env="any", seed=2**64), "seed must be within 0 to 4,294,967,295"),
        (lambda: Config(env="any", total_steps=10**15), "total_steps must be within 1 to 10,000,000,000,000"),
        (lambda: Config(env="any", hyper=Hyper(gamma=float("nan"))), "gamma must be within 0.0 to 1.0, got nan"),
        (lambda: Config(env="any", hyper=Hyper(clip=-1.0)), "clip must be within"),
        (lambda: Config(env="any", rollout=Rollout(num_envs=2**31)), "num_envs must be within 1 to 1,073,741,824"),
        (lambda: Config(env="any", training=Scenarios(count=2**31)), "count must be within"),
        (lambda: Config(env="any", network=Network(hidden=(64, -1))), "hidden must be within 1 to 1,073,.*, got -1"),
        (lambda: Config(env="any", network=Network(hidden=(64,) * 65)), "hidden may name 64 layers, got 65"),
        (
            lambda: Config(env="any", rollout=Rollout(num_envs=2**20, num_steps=2**12)),
            "num_envs x num_steps may be 2,147,483,647, got 4,294,967,296",
        ),
        (lambda: Scenarios(count=0), "count must be within 1 to 1,073,741,824, got 0"),
        (lambda: Scenarios(difficulty=(0.7, 0.2)), "must be a range from low to high"),
        (
            lambda: Config(env="any", rollout=Rollout(num_envs=64), training=Scenarios(count=32)),
            "count must be at least num_envs .64., got 32: .* no environment is playing",
        ),
        (lambda: presets.preset("LifeOps-v00"), "Did you mean 'LifeOps-v0'"),
        (lambda: QLearning(epsilon_end=1.5), "epsilon_end must be within 0.0 to 1.0, got 1.5"),
        (lambda: QLearning(target_period=0), "target_period must be within 1 to"),
        (lambda: Network(module="nets:Net", core="gru"), "--core is for the built-in networks: nets:Net does not read"),
        (lambda: Network(module="nets:Net", hidden=(8,)), "--hidden is for the built-in networks"),
    ],
)
def test_invalid_settings_are_rejected(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("number", [math.inf, 1e39, -math.inf, math.nan])
@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Hyper) if field.name != "target_kl"])
def test_a_hyperparameter_that_float32_does_not_hold_is_refused(name, number):
    with pytest.raises(ValueError, match=rf"^{name} must be within .*, got {re.escape(str(number))}$"):
        Config(env="any", hyper=Hyper(**{name: number}))


def test_bounds_are_numbers_of_float32_but_where_infinity_means_never():
    never = {"checkpoint_every", "target_kl"}
    bounds = [
        pair for kind in (Config, Rollout, Hyper, Network, QLearning, Scenarios) for pair in bounds_of(kind).items()
    ]
    assert {name for name, (_, high) in bounds if high > np.finfo(np.float32).max} == never
    assert Config(env="any", checkpoint_every=math.inf, hyper=Hyper(target_kl=math.inf)).hyper.target_kl == math.inf


@pytest.mark.parametrize(
    ("kind", "name", "right", "wrong"),
    [
        (Config, "total_steps", 5, 5.5),
        (Config, "total_steps", 5, None),
        (Config, "seed", 5, True),
        (Config, "wandb", None, 3),
        (Config, "tensorboard", False, 0),
        (Rollout, "microbatch_size", None, "many"),
        (Hyper, "gamma", 1.0, "high"),
        (Network, "hidden", (3, 4), (3, 4.5)),
        (Network, "hidden", (3, 4), 3),
        (Network, "encoder", "flat", "round"),
        (Network, "arguments", {"units": 3}, 3),
    ],
)
def test_a_setting_is_of_its_type(kind, name, right, wrong):
    assert of_type(kind, name, right) == right
    with pytest.raises(ValueError, match=f"{name} is "):
        of_type(kind, name, wrong)


@pytest.mark.parametrize(
    ("kind", "name", "given", "expected"),
    [
        (Config, "total_steps", 1e6, 1_000_000),
        (Config, "total_steps", "1e6", 1_000_000),
        (Config, "seed", np.int64(3), 3),
        (Config, "run_dir", "runs/a", Path("runs/a")),
        (Config, "init_from", Path("runs/a"), "runs/a"),
        (Config, "sweep", ["gamma=0.9,1"], ("gamma=0.9,1",)),
        (Config, "tensorboard", np.bool_(False), False),
        (Rollout, "num_envs", 64.0, 64),
        (Hyper, "learning_rate", "3e-4", 3e-4),
        (Hyper, "gamma", 1, 1.0),
        (Network, "hidden", [64.0, np.int32(8)], (64, 8)),
        (Scenarios, "difficulty", [0, 1], (0.0, 1.0)),
    ],
)
def test_an_exact_form_of_a_value_becomes_it(kind, name, given, expected):
    needed = {"env": "any"} if kind is Config else {}
    made = Config(env="any", hyper=Hyper(**{name: given})).hyper if kind is Hyper else kind(**needed, **{name: given})
    found = getattr(made, name)
    assert (found, type(found)) == (expected, type(expected))
    if kind is not Hyper:
        assert dataclasses.replace(made, **{name: given}) == made


def test_a_run_folder_is_a_folder(monkeypatch):
    monkeypatch.setenv("HOME", "/home/of/a/user")
    assert Config(env="any", run_dir="~/runs/a").run_dir == Path("/home/of/a/user/runs/a")
    assert Config(env="any", run_dir="runs/mine:make-0").run_dir == Path("runs/mine:make-0")
    for url in ("gs://bucket/run", "https://elsewhere.example/run"):
        with pytest.raises(ValueError, match="is a URL, expected a folder"):
            Config(env="any", run_dir=url)


def test_settings_of_public_configurations_are_saved_and_read_again():
    config = Config(env="any", total_steps=1e6, rollout=Rollout(num_envs=64.0), hyper=Hyper(gamma=1))
    assert from_json(to_json(config)) == config


def test_a_run_is_rounded_up_to_whole_supersteps():
    config = Config(
        env="any", total_steps=100_001, rollout=Rollout(num_envs=100, num_steps=10, updates_per_superstep=5)
    )
    assert config.steps_per_superstep == 5_000
    assert config.num_supersteps == 21
    assert config.num_updates == 105
    assert Config(env="any", total_steps=1).num_supersteps == 1


def test_the_bank_size_follows_the_number_of_environments():
    def size(**settings):
        return Config(env="any", rollout=Rollout(num_envs=64), training=Scenarios(**settings)).num_scenarios

    assert size() == 4 * 64
    assert size(count=64) == 64
    assert size(count=8, refresh=0) == 8


def test_presets_name_registered_environments():
    assert {config.env for config in presets.PRESETS.values()} <= set(jaxenv.registered())
    for env_id in jaxenv.registered():
        assert presets.for_environment(env_id).env == env_id
    assert presets.for_environment("Other-v0") == Config(env="Other-v0")


@pytest.mark.parametrize("env_id", jaxenv.registered())
@pytest.mark.parametrize("num_envs", [2048, 16_384, 65_536, 262_144])
def test_a_large_batch_makes_as_many_gradient_steps_in_the_same_supersteps(env_id, num_envs):
    """Only sizes follow from the number of environments: rollouts shrink, minibatches and the run grow alike."""
    small = presets.preset(env_id)
    large = presets.scaled(small, num_envs)
    assert (large.env, large.hyper, large.network) == (small.env, small.hyper, small.network)
    assert (large.rollout.num_envs, large.rollout.epochs) == (num_envs, small.rollout.epochs)
    assert 4 * large.rollout.num_steps >= small.rollout.num_steps
    assert small.num_gradient_steps <= large.num_gradient_steps * 1.1 <= 1.25 * small.num_gradient_steps
    new = [config.training.refresh * config.rollout.num_steps for config in (small, large)]
    assert new[0] == new[1]  # environment steps of an environment between two renewals of the scenarios
    assert large.total_steps / small.total_steps == large.rollout.minibatch_size / small.rollout.minibatch_size
    growth = large.rollout.batch_size / small.rollout.batch_size
    assert (large.total_steps / small.total_steps) ** 2 <= 2 * growth


def test_the_presets_for_accelerators_follow_the_same_law_in_bfloat16():
    for env_id in jaxenv.registered():
        name, small = env_id.removesuffix("-v0").lower(), presets.preset(env_id)
        network = dataclasses.replace(small.network, dtype="bfloat16")
        assert presets.preset(f"{name}-large") == presets.scaled(small, 32_768).replace(network=network)
        assert presets.preset(f"{name}-xlarge") == presets.scaled(small, 65_536).replace(network=network)


def test_the_law_in_numbers():
    large = presets.scaled(presets.preset("LifeStack-v0"), 65_536)
    sizes = large.rollout
    assert (sizes.num_steps, sizes.minibatch_size, sizes.updates_per_superstep) == (4, 2048, 1)
    assert (large.training.refresh, large.total_steps) == (4, 16_000_000)
    assert presets.scaled(large, 65_536) == large


@pytest.mark.parametrize(("num_envs", "minibatch"), [(1000, 1000), (3000, 2000), (4099, 4099), (64, 512), (1, 8)])
def test_any_number_of_environments_splits_into_minibatches(num_envs, minibatch):
    config = presets.scaled(presets.preset("LifeOps-v0"), num_envs)
    assert (config.rollout.num_envs, config.rollout.minibatch_size) == (num_envs, minibatch)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_preset_serves_every_algorithm(algorithm):
    """What an algorithm changes keeps the task, and a superstep about as long."""
    for config in [*presets.PRESETS.values(), Config(env="Other-v0")]:
        found = presets.for_algorithm(algorithm, config)
        assert (found.env, found.total_steps, found.training) == (config.env, config.total_steps, config.training)
        assert found.hyper.gamma == config.hyper.gamma
        assert found.rollout.bootstrap_truncated == config.rollout.bootstrap_truncated
        assert found.steps_per_superstep == config.steps_per_superstep
    assert presets.for_algorithm("ppo", config) == config


def test_pqn_learns_at_the_rate_of_the_preset():
    for config in [*presets.PRESETS.values(), Config(env="Other-v0")]:
        assert presets.for_algorithm("pqn", config).hyper.learning_rate == config.hyper.learning_rate
