"""The task of a run: built from settings, described by name and value."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import PROBES

import jaxenv
import scenarios
from strategies.tables import Table
from train.cli import options
from train.settings import task
from train.settings.config import Config
from train.settings.serialize import from_json, to_json


@pytest.mark.parametrize("env_id", jaxenv.registered())
def test_a_description_makes_the_environment_again(env_id):
    env, params = jaxenv.make(env_id)
    described = task.complete(Config(env=env_id), env, params)
    again, other = task.make(from_json(to_json(described)))
    assert again == env
    for a, b in zip(jax.tree.leaves(params), jax.tree.leaves(other), strict=True):
        np.testing.assert_array_equal(a, b)
        assert (a.dtype, jnp.shape(a)) == (b.dtype, jnp.shape(b))
    assert task.complete(Config(env=env_id), again, other) == described


def test_arguments_and_numbers_are_set_by_name():
    config = Config(
        env="TeamsClone-MultiAgent-v0",
        env_args={"num_agents": 2, "limits.channels": 9},
        params={"weights.send": 0.05, "quota_calls": 1},
    )
    env, params = task.make(config)
    assert (env.num_agents, env.limits.users, env.limits.channels) == (2, 7, 9)
    assert params.weights.send.dtype == jnp.float32
    assert float(params.weights.send) == pytest.approx(0.05)
    assert params.weights.react == env.default_params.weights.react
    assert (int(params.quota_calls), params.quota_calls.dtype) == (1, jnp.int32)
    described = task.complete(config, env, params)
    assert described.params["weights.send"] == 0.05  # and not 0.05000000074505806
    assert described.env_args["limits.channels"] == 9


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"env_args": {"num_agent": 2}}, "takes no argument 'num_agent'. Did you mean 'num_agents'?"),
        ({"env_args": {"limits.user": 2}}, "takes no argument 'limits.user'. Did you mean 'limits.users'?"),
        ({"env_args": {"num_agents": "two"}}, "num_agents='two': expected a value such as 4"),
        ({"env_args": {"num_agents": 2.0}}, "num_agents=2.0: expected a value such as 4"),
        ({"env_args": {"limits.users": True}}, "limits.users=True: expected a value such as 7"),
        ({"env_args": {"limits": 3}}, "limits=3: expected one of its fields, such as limits.teams"),
        ({"params": {"quota_calls": 1.5}}, "quota_calls=1.5: expected a value such as"),
        ({"env_args": {"goal": "mentions"}}, "has goal quota and cannot be made with mentions"),
        ({"env_args": {"num_agents": 9}}, "num_agents=9: expected 1 to 8 agents"),
        ({"params": {"weights.sent": 1.0}}, "params have no number 'weights.sent'. Did you mean 'weights.send'?"),
    ],
)
def test_unknown_names_are_rejected_with_the_nearest_one(settings, message):
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        task.make(Config(env="TeamsClone-MultiAgent-v0", **settings))


def test_a_number_that_its_type_does_not_hold_is_refused():
    with pytest.raises(ValueError, match=r"^departure_min=1099511627776: expected a number that int32 holds$"):
        task.make(Config(env="LifeOps-v0", params={"departure_min": 2**40}))


def test_arrays_are_described_by_digests_and_stay():
    params = PROBES["mask"]
    described = task.describe_params(params)
    assert described["rewards"].startswith("float32[3, 3] ")
    assert described["max_steps_in_episode"] == 1_000_000
    other = params.replace(rewards=params.rewards.at[0, 0].add(1e-6))
    assert described["rewards"] != task.describe_params(other)["rewards"]
    again = task.with_numbers(other, described)
    np.testing.assert_array_equal(again.rewards, other.rewards)
    assert list(task.numbers(params)) == ["max_steps_in_episode"]


def test_the_bank_is_not_described():
    """Another library has other texts, so what scenarios share differs too."""
    env, params = jaxenv.make("TeamsClone-v0")
    general = params.replace(bank=scenarios.load("teamsclone/general").bank)
    assert general.text_embedding.shape != params.text_embedding.shape
    assert task.describe(env, general) == task.describe(env, params)


def test_fields_of_records_are_described_by_dotted_names():
    @dataclasses.dataclass(frozen=True)
    class Nested(Table):
        limits: Config = dataclasses.field(default_factory=lambda: Config(env="inner", seed=4))
        sizes: tuple[int, ...] = (1, 2)
        rewards: object = dataclasses.field(default_factory=lambda: PROBES["mask"])

    described = task.describe_arguments(Nested())
    assert (described["name"], described["limits.env"], described["limits.seed"], described["sizes"]) == (
        "Table-v0",
        "inner",
        4,
        [1, 2],
    )
    assert not any(name.startswith("rewards") for name in described)


def test_the_command_line_takes_arguments_and_weights():
    line = "--env TeamsClone-MultiAgent-v0 --env-args num_agents=2 limits.channels=9 --weights.send 0.05 --gamma 0.9"
    config = options.parse("ppo", line.split()).config
    assert config.env_args == {"num_agents": 2, "limits.channels": 9}
    assert config.params == {"weights.send": 0.05}
    assert config.hyper.gamma == 0.9


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--env-args num_agents", "--env-args num_agents: expected NAME=VALUE"),
        ("--env-args num_agent=2", "Did you mean 'num_agents'"),
    ],
)
def test_a_wrong_argument_on_the_command_line(line, message):
    with pytest.raises(ValueError, match=message):
        options.parse("ppo", ["--env", "TeamsClone-MultiAgent-v0", *line.split()])


def test_a_wrong_weight_on_the_command_line(capsys):
    with pytest.raises(SystemExit):
        options.parse("ppo", ["--env", "LifeOps-v0", "--weights.focus-rewad", "1"])
    assert "--weights.focus-reward" in capsys.readouterr().err
