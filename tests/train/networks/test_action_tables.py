"""Actions scored by the tables that they share: the scores of their features in full, without that array."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from jaxenv.core.types import ActionTables, Entities, dense
from jaxenv.wrappers import Vectorize
from train.networks.network import make_network
from train.networks.normalization import NormalizedNetwork
from train.networks.policy import Reader
from train.settings.groups import Network

SETTINGS = Network(encoder="entities", hidden=(16,), embedding=8, sees_actions=False)
SHARED = {"LifeStack-v0": (118, 31), "TeamsClone-v0": (114, 22), "TeamsClone-MultiAgent-v0": (114, 22)}
ROWS = 7  # environments


class InFull:
    """The same network, given the features of each action in an array."""

    def __init__(self, network):
        self.carry_size, self.init, self.inner = network.carry_size, network.init, network

    def apply(self, *arguments):
        return self.inner.apply(*arguments)

    def read(self, env, observation, params):
        features = self.inner.read(env, observation, params)
        return features.replace(actions=dense(features.actions))


@functools.cache
def readers(id):
    """(first observations, a reader of tables, one of arrays, weights that are not the first ones)."""
    env, params = jaxenv.make(id)
    vector = Vectorize(env, ROWS)
    observation, _ = jax.jit(vector.reset)(jax.random.key(0), params)
    network = make_network(SETTINGS, env.num_actions)
    shared, full = Reader(network, env, params), Reader(InFull(network), env, params)
    observation = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]) if env.num_agents > 1 else x, observation)
    weights = jax.jit(shared.init)(jax.random.key(1), observation)
    moved = jax.tree.map(lambda x: x + 0.1 * jax.random.normal(jax.random.key(x.size), x.shape), weights)
    return observation, shared, full, moved


@pytest.mark.parametrize(
    "id", [pytest.param("LifeStack-v0", marks=pytest.mark.slow), "TeamsClone-v0", "TeamsClone-MultiAgent-v0"]
)
def test_scores_and_gradients_are_those_of_the_features_in_full(id):
    observation, shared, full, weights = readers(id)

    def loss(weights, reader):
        policy, critic = reader(weights, observation)
        legal = jnp.where(observation.action_mask, policy.log_probs, 0.0)
        return jnp.sum(jnp.sin(3.0 * legal)) + jnp.sum(critic.value), legal

    found, expected = (
        jax.jit(jax.value_and_grad(functools.partial(loss, reader=reader), has_aux=True))(weights)
        for reader in (shared, full)
    )
    (_, log_probs), gradients = expected
    assert np.ptp(np.asarray(log_probs), axis=-1).min() > 0.1
    assert np.abs(gradients["params"]["action_scores"]["Dense_0"]["kernel"]).max() > 0.01
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-3, atol=1e-4), found, expected)


@pytest.mark.parametrize("id", SHARED)
def test_no_array_of_all_features_of_all_actions_is_made(id):
    observation, shared, full, weights = readers(id)
    array = f"tensor<{'x'.join(map(str, (observation.action_mask.shape[0], *SHARED[id])))}xf32>"

    def text(reader):
        return (
            jax.jit(jax.grad(lambda weights: reader(weights, observation)[0].entropy().sum())).lower(weights).as_text()
        )

    assert array in text(full)
    assert array not in text(shared)


def test_standardized_features_are_in_full():
    """So that the statistics are of the features of actions, and weights made before tables were still fit."""
    env, params = jaxenv.make("TeamsClone-v0")
    observation, _ = jax.eval_shape(env.reset_env, jax.random.key(0), params)
    network = NormalizedNetwork(make_network(SETTINGS, env.num_actions))
    features = jax.eval_shape(lambda observation: network.read(env, observation, params), observation)
    assert isinstance(features, Entities)
    assert features.actions.shape == SHARED["TeamsClone-v0"]


def test_leading_axes_are_kept_and_row_minus_one_is_zeros():
    tables = (jnp.arange(24.0).reshape(2, 3, 4), jnp.arange(10.0).reshape(2, 5, 1))
    legal = jnp.array([[True, True, False], [True, True, True]])
    features = ActionTables.of(tables, (np.array([2, 0, -1]), np.array([4, 4, 0])), legal)
    assert features.width == 5
    first, second = np.asarray(features.dense())
    np.testing.assert_array_equal(first, [[8, 9, 10, 11, 4], [0, 1, 2, 3, 4], np.zeros(5)])
    np.testing.assert_array_equal(second, [[20, 21, 22, 23, 9], [12, 13, 14, 15, 9], [0, 0, 0, 0, 5]])
