"""Settings: validation, presets by name, sizes of a run."""

import pytest

import jaxenv
from train.algorithms import ALGORITHMS
from train.settings import presets
from train.settings.config import Config, QLearning, Rollout, Scenarios


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
        (lambda: Rollout(num_steps=0), "num_steps must be at least 1"),
        (lambda: Config(env="any", validate_every=-1), "validate_every must be at least 0"),
        (lambda: Scenarios(count=0), "count must be at least 1"),
        (lambda: Scenarios(difficulty=(0.7, 0.2)), "must be a range within"),
        (
            lambda: Config(env="any", rollout=Rollout(num_envs=64), training=Scenarios(count=32)),
            "count must be at least num_envs .64., got 32: .* no environment is playing",
        ),
        (lambda: presets.preset("LifeOps-v00"), "Did you mean 'LifeOps-v0'"),
        (lambda: QLearning(epsilon_end=1.5), "epsilon_end must be within 0..1, got 1.5"),
        (lambda: QLearning(target_period=0), "target_period must be at least 1"),
    ],
)
def test_invalid_settings_are_rejected(make, message):
    with pytest.raises(ValueError, match=message):
        make()


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
def test_a_large_batch_takes_more_gradient_steps_an_update(env_id):
    """Eight times as many: 32 times the samples, minibatches 8 times as large, twice the epochs."""
    small, large = presets.preset(env_id), presets.preset(f"{env_id.removesuffix('-v0').lower()}-large")
    assert (large.env, large.hyper, large.network) == (small.env, small.hyper, small.network)
    assert large.rollout.num_envs == 32_768

    def gradient_steps(sizes):
        return sizes.epochs * sizes.batch_size // sizes.samples_per_step

    assert gradient_steps(large.rollout) == 8 * gradient_steps(small.rollout)


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
