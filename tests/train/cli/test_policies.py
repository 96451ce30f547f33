"""What commands do with a policy file: refuse what it cannot say, and score it as what it is."""

import functools

import jax
import jax.numpy as jnp
import pytest
from probes import PROBES, SMALL

from strategies.tables import Table, table
from train import ppo
from train.cli.main import main
from train.networks.network import make_network
from train.networks.policy import NetworkPolicy
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
