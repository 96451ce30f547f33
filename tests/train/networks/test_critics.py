"""A value in another form: one class and one row, which every algorithm trains, saves and loads."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import struct
from probes import PROBES

import train
from train.networks import outputs
from train.networks.network import make_network
from train.networks.policy import Reader

PARAMS = PROBES["action x observation"]
ATOMS = jnp.linspace(-5.0, 5.0, 11)


class TwoHot(struct.PyTreeNode):
    """A distribution over returns, whose target lies on the two nearest atoms (Schrittwieser et al. 2020)."""

    OUTPUTS = ATOMS.size

    logits: jax.Array  # [..., 11] float32

    @classmethod
    def of(cls, outputs):
        return cls(outputs)

    @property
    def value(self):
        return jnp.sum(jax.nn.softmax(self.logits) * ATOMS.reshape((1,) * (self.logits.ndim - 1) + (-1,)), axis=-1)

    def loss(self, target, old_value, hyper):
        place = jnp.clip(target + 5.0, 0.0, 10.0)[..., None]
        steps = jnp.arange(11.0).reshape((1,) * target.ndim + (-1,))
        share = jnp.maximum(1.0 - jnp.abs(place - steps), 0.0)
        return -jnp.mean(jnp.sum(share * jax.nn.log_softmax(self.logits), axis=-1))


@pytest.fixture
def two_hot(config, monkeypatch):
    monkeypatch.setitem(outputs.CRITICS, "two_hot", TwoHot)
    return config.replace(network=dataclasses.replace(config.network, critic="two_hot"))


@pytest.mark.parametrize("algorithm", ["ppo", "pqn"])
def test_a_distribution_over_returns_is_trained_saved_and_loaded(algorithm, two_hot, env, tmp_path):
    config = two_hot.replace(run_dir=tmp_path / "run")
    trained = train.train(env, PARAMS, config, algorithm=algorithm, show_progress=False)
    assert np.isfinite(trained.metrics["grad_norm"]).all()
    loaded = train.load_policy(tmp_path / "run", env, PARAMS)
    jax.tree.map(np.testing.assert_array_equal, loaded.weights, trained.policy.weights)
    observation, _ = env.reset_env(jax.random.key(0), PARAMS)
    rows = jax.tree.map(lambda x: x[None], observation)
    _, critic = Reader(make_network(config.network, env.num_actions), env, PARAMS)(loaded.weights, rows)
    assert critic.logits.shape == (1, 11)
    assert critic.value.shape == (1,)


def test_an_unknown_name_is_refused_before_there_is_a_folder(two_hot, env, tmp_path):
    network = dataclasses.replace(two_hot.network, critic="twohot")
    with pytest.raises(ValueError, match=r"no critic 'twohot'\. Did you mean 'two_hot'"):
        train.train(env, PARAMS, two_hot.replace(network=network, run_dir=tmp_path / "run"), show_progress=False)
    assert not (tmp_path / "run").exists()
