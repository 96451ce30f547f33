"""What commands do with a policy file: refuse what it cannot say, and score it as what it is."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import PROBES, SMALL

from jaxenv import registry
from jaxenv.core import Environment
from strategies.tables import Table, table
from train import ppo
from train.cli.main import main
from train.networks.network import make_network
from train.networks.policy import NetworkPolicy
from train.protocol import Score, scoring
from train.save.policy_file import load_policy, save_policy
from train.score.calibration import calibrate
from train.settings import task

PAID = table(rewards=[[0, 1, 0]], limit=1)  # the second action; all are as probable


@pytest.fixture
def write(tmp_path):
    """(algorithm, env, params) -> the file of a policy whose weights are 0."""

    def write(algorithm, env, params):
        path, config = tmp_path / "policy.msgpack", task.complete(SMALL, env, params)
        start = functools.partial(ppo.init, config=config, env=env)
        shapes = jax.eval_shape(start, jax.random.key(0), params).weights
        weights = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)
        policy = NetworkPolicy(weights, make_network(config.network, env.num_actions), env)
        save_policy(path, policy, config, scenarios="", algorithm=algorithm)
        return path

    return write


@pytest.mark.parametrize(("algorithm", "least", "most"), [("ppo", 0.2, 0.5), ("dqn", 0.0, 0.0), ("pqn", 0.0, 0.0)])
def test_the_critic_is_compared_with_the_policy_that_it_values(write, algorithm, least, most):
    """PPO's actions are sampled, those of values of actions are greedy."""
    policy = load_policy(write(algorithm, Table(), PAID), Table(), PAID)
    found = calibrate(policy, Table(), PAID, SMALL.hyper, key=jax.random.key(0), repetitions=100)
    assert least <= found.return_to_go[0] <= most


@pytest.mark.usefixtures("probe_is_registered")
@pytest.mark.parametrize("command", ["evaluate", "collect --out data.npz", "watch"])
def test_values_of_actions_are_not_sampled_from(write, command, capsys):
    name, *options = command.split()
    path = write("dqn", Table(), PROBES["observation"])
    assert main([name, str(path), *options, "--no-greedy"]) == 2
    assert f"--no-greedy: {path} is of dqn, which gives no probabilities" in capsys.readouterr().err


@pytest.mark.usefixtures("probe_is_registered")
def test_an_environment_without_a_generator_has_no_generated_scenarios(write, monkeypatch, capsys):
    monkeypatch.setattr(Table, "generate", Environment.generate)
    path = write("ppo", Table(), PROBES["observation"])
    assert main(["collect", str(path), "--out", "data.npz", "--scenarios", "generated"]) == 2
    assert "--scenarios generated: Table-v0 generates none; leave it out, or name a path" in capsys.readouterr().err


def played(mark="of today"):
    """A score on a library of one scenario."""
    about = {"env": "Table-v0", "asked": {"scenarios": {"library": mark}}}
    return Score({"library": np.ones((1, 1))}, {"library": np.zeros((1, 1))}, about)


@pytest.fixture
def scored(monkeypatch):
    """The environments that are scored in, where nothing is played."""
    ids = []
    monkeypatch.setattr(scoring, "score", lambda found, env_id, sets: ids.append(env_id) or played())
    monkeypatch.setattr(registry, "_FACTORIES", dict(registry._FACTORIES))
    return ids


def test_a_policy_of_an_environment_of_ones_own_is_scored_there(write, scored, tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text("from strategies.tables import Table\n\ndef make():\n    return Table('Own-v0')\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["score", str(write("ppo", Table("Own-v0"), PAID)), "--env", "own:make"]) == 0
    assert scored == ["own:make"]


def test_a_policy_of_another_environment_than_the_registered_one_is_not_scored(write, scored, capsys):
    @dataclasses.dataclass(frozen=True)
    class Labelled(Table):
        label: str = "first"

    registry._FACTORIES["Table-v0"] = Labelled
    path = write("ppo", Labelled(label="second"), PAID)
    assert main(["score", str(path)]) == 2
    told = f"{path} was trained in another environment than Table-v0: label is second there and first here"
    assert told in capsys.readouterr().err
    assert not scored


@pytest.mark.usefixtures("probe_is_registered")
def test_a_row_of_a_policy_file_needs_the_steps_of_its_training(write, scored, tmp_path, capsys):
    line = ["score", str(path := write("ppo", Table(), PAID)), "--out", str(out := tmp_path / "row.npz")]
    assert main(line) == 2
    assert f"{path} does not say how long it was trained: add --env-steps" in capsys.readouterr().err
    assert not scored
    assert main([*line, "--env-steps", "1e6"]) == 0
    assert Score.load(out).about["env_steps"] == 1_000_000


@pytest.mark.usefixtures("probe_is_registered", "scored")
def test_what_was_played_is_written_before_it_is_compared(write, tmp_path, capsys):
    played("of yesterday").save(tmp_path / "other.npz")
    line = ["score", str(write("ppo", Table(), PAID)), "--out", str(out := tmp_path / "row.npz"), "--env-steps", "5"]
    assert main([*line, "--less", str(tmp_path / "other.npz")]) == 2
    assert "the two were measured on other scenarios of 'library'" in capsys.readouterr().err
    assert str(Score.load(out)) == str(played())
