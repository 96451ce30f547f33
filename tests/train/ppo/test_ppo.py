"""The update: schedules, minibatches, gradients, and what composes with it."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from probes import BEST_ACTIONS, GAMMAS, PROBES, VALUES

from strategies.tables import Table, table
from train import ppo
from train.lanes import LANE, Lanes
from train.learning.updates import clipped, linear
from train.log.metrics import reduce_metrics
from train.networks.network import make_network
from train.ppo import learner
from train.ppo.losses import Batch
from train.settings.groups import Hyper


def stack(trees):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def test_schedules_start_and_end_at_their_values():
    assert linear(3e-4, 0.0, 0.0) == jnp.float32(3e-4)
    assert linear(3e-4, 1e-5, 1.0) == jnp.float32(1e-5)
    np.testing.assert_allclose(linear(0.02, 0.0, 0.25), 0.015)


def test_the_schedules_span_the_run(config, start, superstep):
    """Two updates a superstep."""
    hyper = Hyper(learning_rate=1e-3, learning_rate_end=0.0, entropy_coef=0.2, entropy_coef_end=0.1)
    state = start(jax.random.key(0), PROBES["action"])
    following, first = superstep(state, PROBES["action"], hyper)
    following = following.replace(updates=jnp.int32(config.num_updates - 2))
    _, last = superstep(following, PROBES["action"], hyper)
    one = 1 / config.num_updates
    assert first.means["learning_rate"].tolist() == pytest.approx([1e-3, 1e-3 * (1 - one)])
    assert first.means["entropy_coef"].tolist() == pytest.approx([0.2, 0.2 - 0.1 * one])
    assert last.means["learning_rate"].tolist() == pytest.approx([2e-3 * one, 1e-3 * one], rel=1e-4)
    assert last.means["entropy_coef"].tolist() == pytest.approx([0.1 + 0.2 * one, 0.1 + 0.1 * one], rel=1e-4)


def test_every_epoch_uses_each_sample_once_in_a_new_order(config):
    rollout = config.rollout
    numbers = jnp.arange(rollout.batch_size).reshape(rollout.num_steps, rollout.num_envs)
    batch = Batch(None, numbers, *[None] * 4)
    _, dealt = learner.in_epochs(
        jax.random.key(0), None, batch, lambda learner, dealt: (learner, dealt.action), rollout
    )
    assert dealt.shape == (rollout.epochs, rollout.batch_size // rollout.minibatch_size, rollout.minibatch_size)
    orders = dealt.reshape(rollout.epochs, -1)
    np.testing.assert_array_equal(jnp.sort(orders, axis=1), np.tile(np.arange(rollout.batch_size), (rollout.epochs, 1)))
    assert all((a != b).any() for i, a in enumerate(orders) for b in orders[:i])


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_gradients_are_clipped_by_their_global_norm(scale):
    gradients = {"a": scale * jnp.array([0.3, 0.0]), "b": scale * jnp.array([0.4])}  # norm 0.5 * scale
    optimizer = clipped(learner.DIRECTION, 0.5)
    _, (_, adam) = optimizer.update(gradients, optimizer.init(gradients))
    seen = jax.tree.map(lambda moment: moment / 0.1, adam.mu)  # Adam's first moment is 0.1 times what it was given
    np.testing.assert_allclose(optax.tree.norm(seen), 0.5, rtol=1e-5)
    np.testing.assert_allclose(seen["b"][0] / seen["a"][0], 4 / 3, rtol=1e-5)


def test_explained_variance():
    """Over all lanes, here one for each sample."""
    target = jnp.array([1.0, 2.0, 3.0])
    explained = jax.vmap(lambda value, target: learner.explained_variance(value, target, Lanes(3)), axis_name=LANE)
    assert (explained(target, target) == 1.0).all()
    assert (explained(jnp.zeros(3), target) == 0.0).all()
    assert jnp.isfinite(explained(jnp.zeros(3), jnp.ones(3))).all()


def test_nothing_is_retraced_and_the_old_state_is_donated(start, superstep, config):
    state = start(jax.random.key(0), PROBES["one step"])
    types = jax.tree.map(jax.typeof, state)  # weak types included
    following, _ = superstep(state, PROBES["one step"], config.hyper)
    assert jax.tree.map(jax.typeof, following) == types
    assert all(leaf.is_deleted() for leaf in jax.tree.leaves(state))
    traced = len(Table.traces)
    for params in (PROBES["action"], PROBES["time limit"]):
        following, _ = superstep(following, params, dataclasses.replace(config.hyper, gamma=0.5, clip=0.1))
    assert len(Table.traces) == traced
    assert int(following.updates) == 3 * config.rollout.updates_per_superstep
    assert not any(leaf.is_deleted() for leaf in jax.tree.leaves(PROBES["one step"]))


def test_a_rollout_without_an_end_has_no_mean_and_no_nan(start, superstep, config):
    params = table(ends=False)
    _, metrics = superstep(start(jax.random.key(0), params), params, config.hyper)
    record = reduce_metrics(metrics)
    assert (record["episodes"], record["return"], record["length"], record["terminated"]) == (0, None, None, None)
    assert all(np.isfinite(value) for value in record.values() if value is not None)


@pytest.mark.slow
def test_vmapped_seeds_equal_single_runs(start, superstep, batched_superstep, config):
    params = PROBES["action x observation"]
    keys = jax.random.split(jax.random.key(3), len(PROBES))
    together, _ = batched_superstep(
        stack([start(key, params) for key in keys]), stack([params] * len(keys)), stack([config.hyper] * len(keys))
    )
    for index in (0, 5):
        alone, _ = superstep(start(keys[index], params), params, config.hyper)
        for a, b in zip(jax.tree.leaves(alone.weights), jax.tree.leaves(together.weights), strict=True):
            np.testing.assert_allclose(a, b[index], atol=1e-5)


@pytest.mark.slow
def test_vmapped_seeds_renew_their_own_banks(generated, env):
    params, init = PROBES["observation"], functools.partial(ppo.init, config=generated, env=env)
    update = jax.jit(ppo.make_update(generated, env))
    keys = jax.random.split(jax.random.key(3))
    states = [init(key, params) for key in keys]
    together = jax.jit(jax.vmap(ppo.make_update(generated, env), in_axes=(0, None, None)))
    both = jax.vmap(lambda key: init(key, params))(keys)
    for _ in range(2):
        both, _ = together(both, params, generated.hyper)
        states = [update(state, params, generated.hyper)[0] for state in states]
    for index, alone in enumerate(states):
        for a, b in zip(jax.tree.leaves(alone.lanes.bank), jax.tree.leaves(both.lanes.bank), strict=True):
            np.testing.assert_array_equal(a, b[index])
        for a, b in zip(jax.tree.leaves(alone.weights), jax.tree.leaves(both.weights), strict=True):
            np.testing.assert_allclose(a, b[index], atol=1e-5)
    assert (both.lanes.bank.scenarios.at[0] != both.lanes.bank.scenarios.at[1]).any()


@pytest.fixture(scope="module")
def trained(start, batched_superstep, config, env):
    """name of a probe -> (values of its states [S], probabilities [S, A]): all of them trained in one run."""
    params = stack(PROBES.values())
    hyper = stack([dataclasses.replace(config.hyper, gamma=GAMMAS[name]) for name in PROBES])
    keys = jax.random.split(jax.random.key(0), len(PROBES))
    state = stack([start(key, each) for key, each in zip(keys, PROBES.values(), strict=True)])
    for _ in range(100):
        state = state.replace(updates=jnp.zeros_like(state.updates))  # a constant learning rate
        state, _ = batched_superstep(state, params, hyper)
    network = make_network(config.network, env.num_actions)
    found = jax.jit(jax.vmap(lambda weights, params: network.apply(weights, params.observations, params.legal)[:2]))
    policies, critics = found(state.weights, params)
    return {name: (critics.value[i], jnp.exp(policies.log_probs[i])) for i, name in enumerate(PROBES)}


@pytest.mark.parametrize("name", PROBES)
def test_the_values_of_a_probe_are_right(trained, name):
    values, _ = trained[name]
    for state, value in VALUES[name].items():
        np.testing.assert_allclose(values[state], value, atol=0.1 * max(1.0, abs(value)))


@pytest.mark.parametrize("name", BEST_ACTIONS)
def test_a_probe_is_solved(trained, name):
    _, probs = trained[name]
    for state, action in BEST_ACTIONS[name].items():
        assert probs[state, action] > 0.9
    assert (probs[~PROBES[name].legal] == 0.0).all()
