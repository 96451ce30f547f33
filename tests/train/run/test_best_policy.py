"""The best policy of a run: the weights that were validated, not those of a superstep later."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import PROBES, run_alone

from train import ppo
from train.log.metrics import read_metrics
from train.networks.network import make_network
from train.networks.policy import NetworkPolicy
from train.run.job import prepare
from train.run.outputs import BestPolicy
from train.save import folder as run_folder
from train.save.policy_file import PolicyError, load_policy, read_header
from train.score.held_out import validation_returns

PARAMS = PROBES["action x observation"]


@pytest.fixture(scope="module")
def config(generated):
    """Steps so short that the first policies are not the best."""
    hyper = generated.hyper.replace(learning_rate=1e-5)
    return dataclasses.replace(generated, hyper=hyper, validate_every=1, total_steps=8 * generated.steps_per_superstep)


@pytest.fixture(scope="module")
def whole(config, env, tmp_path_factory):
    folder = run_folder.create(dataclasses.replace(config, run_dir=tmp_path_factory.mktemp("best") / "run"))
    run_alone(prepare(ppo, config, env, PARAMS), folder, show_progress=False)
    return folder


def test_it_has_the_weights_that_validated_best(config, env, whole):
    """Not those of the superstep after them, which runs when their return becomes known."""
    returns = [record["validation_return"] for record in read_metrics(whole.metrics)]
    first = int(np.argmax(returns))
    assert 0 < first < len(returns) - 1
    best = load_policy(whole.best_policy, env, PARAMS)
    assert read_header(whole.best_policy)["validation_return"] == returns[first]
    assert validation_returns({"best": best}, env, PARAMS)["best"] == returns[first]
    state = ppo.init(jax.random.key(config.seed), PARAMS, config=config, env=env)
    superstep = ppo.make_superstep(config, env)
    for _ in range(first + 1):
        state, _ = superstep(state, PARAMS, config.hyper)
    jax.tree.map(np.testing.assert_array_equal, best.weights, state.weights)


@pytest.mark.slow
def test_it_survives_stops(config, env, whole, tmp_path):
    """The same file in the end."""
    folder = run_folder.create(dataclasses.replace(config, run_dir=tmp_path / "run"))
    options = {"callback": lambda record: record["superstep"] % 3 == 0, "show_progress": False}
    while run_alone(prepare(ppo, config, env, PARAMS), folder, **options).stopped:
        assert folder.best_policy.exists()
    assert folder.best_policy.read_bytes() == whole.best_policy.read_bytes()


def test_a_run_without_validation_has_none(config, env, tmp_path):
    config = dataclasses.replace(config, validate_every=0, total_steps=1, run_dir=tmp_path / "run")
    folder = run_folder.create(config)
    run_alone(prepare(ppo, config, env, PARAMS), folder, show_progress=False)
    assert folder.policy.exists()
    assert not folder.best_policy.exists()


def test_only_a_greater_return_is_written_with_the_weights_of_its_time(config, env, tmp_path):
    written = []
    network = make_network(config.network, env.num_actions)
    example = NetworkPolicy({"w": jnp.ones(1)}, network, env)

    def save(path, policy, found):
        written.append((policy.weights["w"], found))

    best = BestPolicy(tmp_path / "best", save, example)
    for number, found in enumerate([np.nan, -2.0, -2.0, -3.0, 1.0]):
        weights = {"w": jnp.full(1, number)}
        tell = best.candidate(NetworkPolicy(weights, network, env))
        jax.jit(lambda tree: jax.tree.map(lambda x: x + 1, tree), donate_argnums=0)(weights)
        assert weights["w"].is_deleted()
        tell(found)
    assert [(int(weights[0]), found) for weights, found in written] == [(1, -2.0), (4, 1.0)]
    assert best.validation_return == 1.0


def test_a_broken_file_is_told(tmp_path):
    (tmp_path / "best").write_bytes(b"cut")
    with pytest.raises(PolicyError, match="best is not a policy file"):
        BestPolicy(tmp_path / "best", lambda *_: None, None)
