"""`train.train`: any environment, any network, a callback, and a folder only where one is asked for."""

import dataclasses
import importlib

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import serialization
from probes import PROBES

import jaxenv
import train
from jaxenv.wrappers import FromGymnax
from train.networks import own
from train.run.metrics import read_metrics
from train.settings.config import Config
from train.settings.groups import Hyper, Network, Rollout, Scenarios
from train.settings.serialize import from_json, to_json

PARAMS = PROBES["observation"]


class Wide(nn.Module):
    """A network that is not one of ours."""

    width: int
    num_actions: int = 3

    @nn.compact
    def __call__(self, features):
        hidden = nn.relu(nn.Dense(self.width)(features))
        return nn.Dense(self.num_actions)(hidden), nn.Dense(1)(hidden)[..., 0]


def run(env, config, **options):
    return train.train(env, PARAMS, config, show_progress=False, **options)


def test_metrics_come_back_as_arrays_and_nothing_is_written(env, config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen = []
    outcome = run(env, config, callback=seen.append)
    assert not outcome.stopped
    assert len(seen) == config.num_supersteps
    np.testing.assert_array_equal(outcome.metrics["return"], [record["return"] for record in seen])
    np.testing.assert_array_equal(outcome.metrics["env_steps"][-1], config.total_steps)
    assert np.isnan(outcome.metrics["validation_return"]).all()  # it trains on the bank of its params
    assert not list(tmp_path.iterdir())


def test_a_callback_stops_a_run_which_goes_on_later(env, config, tmp_path):
    config = dataclasses.replace(config, run_dir=tmp_path / "run")
    first = run(env, config, callback=lambda record: record["superstep"] >= 2)
    assert first.stopped
    assert config.steps_per_superstep * 3 <= first.env_steps < config.total_steps
    second = run(env, config)
    assert not second.stopped
    assert len(second.metrics["return"]) == config.num_supersteps
    straight = run(env, dataclasses.replace(config, run_dir=None))
    for a, b in zip(*(jax.tree.leaves(x.policy.weights) for x in (second, straight)), strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(list(read_metrics(tmp_path / "run" / "metrics.jsonl"))) == config.num_supersteps


def test_a_network_of_ones_own_learns_and_is_loaded_again(env, config, tmp_path):
    """The probe pays 1 in state 0 and −1 in state 1 whatever is done: a value depends on what is seen."""
    config = dataclasses.replace(config, run_dir=tmp_path / "run")
    outcome = run(env, config, network=Wide(24))
    assert outcome.policy.network == own.OwnNetwork(Wide(24))
    value = outcome.policy.network.apply(outcome.policy.weights, jnp.eye(3), method="value")
    np.testing.assert_allclose(value[:2], [1.0, -1.0], atol=0.2)
    loaded = train.load_policy(tmp_path / "run" / "policy.msgpack", env, PARAMS)
    assert loaded.network == outcome.policy.network
    for a, b in zip(*(jax.tree.leaves(x.weights) for x in (loaded, outcome.policy)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_network_of_ones_own_is_saved_by_name_and_never_imported():
    settings = own.settings_of(Wide(8))
    assert settings.module == f"{__name__}:Wide"
    saved = from_json(to_json(Config(env="Table-v0", network=settings)))
    assert own.own_network(saved.network) == own.OwnNetwork(Wide(8))
    nested = Wide(8, num_actions=((1, 2), (3,)))
    saved = from_json(to_json(Config(env="Table-v0", network=own.settings_of(nested))))
    assert own.own_network(saved.network) == own.OwnNetwork(nested)
    with pytest.raises(ValueError, match="antigravity:Wide is not known here: import antigravity first"):
        own.own_network(Network(module="antigravity:Wide"))
    for name in ("os:system", "subprocess:Popen", "builtins:eval", f"{__name__}:run"):  # a file runs no code
        importlib.import_module(name.partition(":")[0])
        with pytest.raises(ValueError, match=f"{name} is not a class of Flax modules"):
            own.own_network(Network(module=name, arguments={"command": "exit 1"}))
    with pytest.raises(TypeError, match="has width <class 'int'>, which a run cannot save"):
        own.settings_of(Wide(int))


def test_an_algorithm_that_is_not_there_is_named(env, config, tmp_path):
    with pytest.raises(ValueError, match=r"no algorithm 'pgn'\. Did you mean 'pqn'\?"):
        run(env, config, algorithm="pgn")
    (tmp_path / "config.json").write_text("{}")
    header = {"format": "jaxenv policy 1", "algorithm": "dqn", "env": "", "network": {}, "weights": {}}
    (tmp_path / "policy.msgpack").write_bytes(serialization.msgpack_serialize(header))
    with pytest.raises(ValueError, match="is a run of dqn: resume it with"):
        run(env, dataclasses.replace(config, run_dir=tmp_path))


def test_an_environment_without_a_generator_says_so(env):
    class Fixed(type(env)):
        generate = jaxenv.Environment.generate

    with pytest.raises(ValueError, match="does not generate scenarios"):
        run(Fixed(), Config(env="Table-v0"))


MEMORY_CHAIN = Config(
    env="MemoryChain-bsuite",
    total_steps=400_000,
    rollout=Rollout(num_envs=128, num_steps=16, epochs=4, minibatch_size=512),
    hyper=Hyper(learning_rate=2e-3, entropy_coef=0.01),
    network=Network(hidden=(32,)),
    training=Scenarios(scenarios="library"),
)


@pytest.mark.slow
@pytest.mark.parametrize(("core", "least", "most"), [("none", -0.15, 0.15), ("gru", 0.95, 1.0)])
def test_memory_solves_the_memory_chain(core, least, most):
    """What is shown in the first step alone pays in the last: chance without memory."""
    gymnax = pytest.importorskip("gymnax")
    env = FromGymnax(gymnax.make("MemoryChain-bsuite")[0])
    config = dataclasses.replace(MEMORY_CHAIN, network=dataclasses.replace(MEMORY_CHAIN.network, core=core))
    with jax.numpy_rank_promotion("allow"):
        outcome = train.train(env, env.default_params, config, show_progress=False)
        score = train.evaluate(outcome.policy, env, env.default_params, repetitions=1000).returns.mean()
    assert least <= score <= most
