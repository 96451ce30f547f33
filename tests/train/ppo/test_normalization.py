"""Normalized observations and rewards: one update acts and learns on the same statistics, which are those of NumPy."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import PROBES

import jaxenv
import train
from strategies.tables import table
from train import ppo
from train.experience import rollout
from train.lanes import Lanes
from train.learning.returns import counted, discounted, scaled
from train.networks.network import make_network
from train.networks.normalization import STATISTICS, Moments, standardize, with_new_statistics
from train.networks.policy import Reader
from train.ppo import learner, losses
from train.ppo.algorithm import estimate
from train.save.policy_file import load_policy
from train.settings.config import Config
from train.settings.groups import Hyper, Network, Rollout, Scenarios

# Features with other means and variances than 0 and 1, and episodes that end in both ways.
SHIFTED = table(
    observations=[[5.0, -100.0, 1.0], [7.0, 300.0, 1.0], [4.0, 0.0, 1.0]],
    rewards=[[10.0, 20.0, 30.0]] * 3,
    following=[[0, 1, 2]] * 3,
    ends=[[False, False, True], [False] * 3, [False] * 3],
    limit=5,
)


def normalized(config, **rollout):
    network = dataclasses.replace(config.network, normalize_observations=True)
    return dataclasses.replace(config, network=network, rollout=dataclasses.replace(config.rollout, **rollout))


@pytest.fixture(scope="module")
def days():
    env, params = jaxenv.make("LifeOps-Shaped-v0")
    return env, params


def played(config, env, params, weights=None):
    """(weights, reader, first environments, steps, batch) of a rollout."""
    network = make_network(config.network, env.num_actions)

    @jax.jit
    def play(key, params, weights):
        state = ppo.init(key, params, config=config, env=env)
        envs = jax.tree.map(lambda x: x[0], state.lanes.envs)
        weights = state.weights if weights is None else weights
        reader = Reader(network, env, params)
        _, steps, last_value, _ = rollout.collect(key, weights, envs, reader, config.rollout)
        batch = estimate(steps, last_value, Hyper(), envs.carry)
        return weights, steps, batch

    weights, steps, batch = play(jax.random.key(1), params, weights)
    return weights, Reader(network, env, params), steps, batch


NETWORKS = {
    "flat": Network(hidden=(16,), normalize_observations=True),
    "entities": Network(hidden=(16,), encoder="entities", embedding=8, normalize_observations=True),
    "gru": Network(hidden=(16,), core="gru", core_units=8, normalize_observations=True),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_the_ratio_is_1_on_the_first_minibatch(days, name):
    """With statistics of a rollout before, and masked actions."""
    env, params = days
    library = Scenarios(scenarios="library")  # a generator would take long to compile
    config = Config(env=env.name, rollout=Rollout(num_envs=16, num_steps=8), network=NETWORKS[name], training=library)
    first, reader, steps, _ = played(config, env, params)
    weights = jax.jit(lambda first, seen: with_new_statistics(first, reader.features, seen, Lanes()))(
        first, steps.observation
    )
    assert any(moments.count > 0 for moments in weights[STATISTICS].values())
    _, _, steps, batch = played(config, env, params, weights)
    assert not steps.observation.action_mask.all()
    rows = jax.tree.map(lambda x: x[:16], learner.samples(batch))
    policy, critic = jax.jit(reader)(weights, rows.observation, rows.sequences)
    np.testing.assert_allclose(jnp.exp(policy.log_prob(rows.action) - rows.log_prob), 1.0, atol=1e-5)
    np.testing.assert_allclose(critic.value, rows.value, atol=2e-5)
    loss = functools.partial(losses.ppo_loss, reader=reader, hyper=Hyper(entropy_coef=0.0))
    gradient, terms = jax.jit(jax.grad(loss, has_aux=True))(weights, rows)
    assert abs(terms["approx_kl"]) <= 1e-6
    assert terms["clip_fraction"] == 0.0
    assert not any(leaf.any() for leaf in jax.tree.leaves(gradient[STATISTICS]))
    other, _ = jax.jit(reader)(first, rows.observation, rows.sequences)
    assert not np.allclose(other.log_probs, policy.log_probs, atol=1e-4)  # the statistics do matter


@pytest.mark.slow
def test_the_entities_of_a_group_share_their_statistics(days):
    """Against NumPy, over those that exist; after standardization they have mean 0 and variance 1."""
    env, params = days
    config = Config(env=env.name, rollout=Rollout(num_envs=16, num_steps=8), network=NETWORKS["entities"])
    weights, reader, steps, _ = played(config, env, params)
    statistics = with_new_statistics(weights, reader.features, steps.observation, Lanes())[STATISTICS]
    features = jax.vmap(reader.features)(steps.observation)
    assert set(statistics) == {"context", "actions", *(f"groups.{name}" for name in features.groups)}
    for name, group in features.groups.items():
        rows = np.asarray(group.features, np.float64)[np.asarray(group.mask)]
        found = statistics[f"groups.{name}"]
        assert found.count == len(rows)
        np.testing.assert_allclose(found.mean, rows.mean(axis=0), atol=1e-5)
        np.testing.assert_allclose(found.variance, rows.var(axis=0), atol=1e-5)
    after = standardize(features, statistics)
    np.testing.assert_allclose(after.context.mean(axis=(0, 1)), 0.0, atol=1e-4)
    for name, group in after.groups.items():
        assert not group.features[~group.mask].any(), name


def update_once(config, env, state, lanes=None):
    return jax.jit(ppo.make_update(config, env, lanes))(state, SHIFTED, config.hyper)


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [1, 2])
def test_an_update_acts_and_learns_before_it_counts(config, env, lanes):
    """The first update standardizes nothing; the statistics after it are those of its observations in all lanes."""
    config = normalized(config, lanes=lanes, normalize_rewards=True)
    still = dataclasses.replace(config, hyper=config.hyper.replace(learning_rate=0.0))
    state = ppo.init(jax.random.key(0), SHIFTED, config=still, env=env)
    after, _ = update_once(still, env, state)
    (moments,) = after.weights[STATISTICS].values()
    assert moments.count == config.rollout.batch_size

    network = make_network(config.network, env.num_actions)
    seen, returns = [], []
    for lane in range(lanes):
        own = jax.tree.map(lambda x, lane=lane: x[lane], state.lanes)
        _, _, key, _ = jax.random.split(own.key, 4)
        params = SHIFTED if own.bank is None else SHIFTED.replace(bank=own.bank)
        reader = Reader(network, env, params)
        _, steps, _, _ = rollout.collect(key, state.weights, own.envs, reader, config.of_a_lane.rollout)
        seen.append(np.asarray(steps.observation.vector, np.float64).reshape(-1, 3))
        returns.append(collected(steps, config.hyper.gamma))
    np.testing.assert_allclose(moments.mean, np.concatenate(seen).mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(moments.variance, np.concatenate(seen).var(axis=0), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(after.returns.mean, np.mean(returns), rtol=1e-5)
    np.testing.assert_allclose(after.returns.variance, np.var(returns), rtol=1e-4)


def collected(steps, gamma):
    """[T, B] float64: discounted returns so far, by a loop."""
    found = np.zeros_like(np.asarray(steps.reward, np.float64))
    so_far = np.zeros(found.shape[1])
    for t, reward in enumerate(np.asarray(steps.reward, np.float64)):
        found[t] = so_far = gamma * so_far + reward
        so_far = np.where(np.asarray(steps.terminated | steps.truncated)[t], 0.0, so_far)
    return found


def test_returns_are_discounted_within_an_episode():
    rewards = jnp.array([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]])
    ended = jnp.array([[False, False], [False, True], [False, False]])
    so_far, found = discounted(jnp.array([8.0, 0.0]), rewards, ended, 0.5)
    np.testing.assert_allclose(found, [[5.0, 1.0], [4.5, 2.5], [6.25, 4.0]])
    np.testing.assert_allclose(so_far, [6.25, 4.0])


def test_rewards_are_scaled_by_the_deviation_of_returns():
    rewards = jnp.array([[1.0, -1.0], [50.0, 0.0]])
    assert scaled(rewards, None) is rewards
    assert counted(None, None, None, 0.9, Lanes()) == (None, None)
    moments = Moments(jnp.float32(9), jnp.array([3.0]), jnp.array([4.0]))
    np.testing.assert_allclose(scaled(rewards, moments), [[0.5, -0.5], [10.0, 0.0]])


@pytest.mark.slow
def test_a_normalized_run_learns_resumes_and_acts_the_same_when_loaded(config, env, tmp_path):
    """The features are far from 0 and 1, and the statistics travel with checkpoint and policy file."""
    params = PROBES["action x observation"]
    shifted = np.eye(3) * [1.0, 50.0, 0.01] + [100.0, -20.0, 3.0]
    params = params.replace(observations=jnp.asarray(shifted, jnp.float32))
    config = normalized(config, normalize_rewards=True)
    straight = train.train(env, params, config, show_progress=False)
    assert straight.metrics["return"][-1] > 0.9
    config = dataclasses.replace(config, run_dir=tmp_path / "run")
    stop = {"callback": lambda record: record["superstep"] == 4, "show_progress": False}
    assert train.train(env, params, config, **stop).stopped
    resumed = train.train(env, params, config, show_progress=False)
    loaded = load_policy(tmp_path / "run" / "policy.msgpack", env, params)
    for policy in (resumed.policy, loaded):
        jax.tree.map(np.testing.assert_array_equal, policy.weights, straight.policy.weights)
    (moments,) = loaded.weights[STATISTICS].values()
    assert moments.count == config.total_steps
    keys = jax.random.split(jax.random.key(0), 3)
    observations, _ = jax.vmap(env.reset_env, in_axes=(0, None, 0))(keys, params, jnp.arange(3))
    act = jax.vmap(lambda policy, one: policy(jax.random.key(0), one, params), in_axes=(None, 0))
    np.testing.assert_array_equal(act(loaded, observations), act(straight.policy, observations))
