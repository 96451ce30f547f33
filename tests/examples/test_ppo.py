"""PPO in one file computes what the trainer computes: advantages, loss, gradient, whole updates."""

import dataclasses
import functools

import chex
import jax
import jax.numpy as jnp
import numpy as np
import ppo
import pytest

import jaxenv
import train
from train.experience.rollout import Transition
from train.learning.returns import estimated
from train.networks.outputs import MaskedCategorical
from train.ppo.losses import clipped_surrogate

SIZES = {"num_envs": 32, "num_steps": 8, "epochs": 2, "minibatch_size": 64}
NUMBERS = {"gamma": 0.97, "gae_lambda": 0.9, "clip": 0.1, "value_clip": 0.05, "value_coef": 0.7, "max_grad_norm": 0.3}
NUMBERS |= {"learning_rate": 1e-2, "entropy_coef": 0.1, "reward_scale": 0.2}


@pytest.fixture(scope="module")
def made():
    """(settings, params of the environment)."""
    env, params = jaxenv.make("LifeOps-Shaped-v0")
    return ppo.Settings(env, total_steps=1024, hidden=(16, 16), **SIZES, **NUMBERS), params


@pytest.fixture(scope="module")
def collected(made):
    """(weights, batch) of one rollout."""
    settings, params = made
    state = jax.jit(ppo.init, static_argnums=2)(jax.random.key(1), params, settings)
    collect = jax.jit(ppo.collect, static_argnums=4)
    _, steps, _ = collect(jax.random.key(2), state.weights, state.envs, params, settings)
    return state.weights, ppo.estimate(steps, steps.value[-1], settings)


def test_advantages_and_targets_are_the_trainers(made):
    settings, _ = made
    rng = np.random.default_rng(0)
    value, reward = rng.normal(size=(2, 50, 7)).astype(np.float32)
    last_value = rng.normal(size=7).astype(np.float32)
    terminated, truncated = rng.random((2, 50, 7)) < 0.1
    steps = ppo.Steps(None, None, None, jnp.array(value), jnp.array(reward), jnp.array(terminated | truncated))
    batch = ppo.estimate(steps, jnp.array(last_value), settings)
    arrays = map(jnp.array, (value, reward, terminated, truncated))
    hyper = train.Hyper(gamma=settings.gamma, gae_lambda=settings.gae_lambda, reward_scale=settings.reward_scale)
    expected = estimated(Transition(None, None, None, *arrays, None), jnp.array(last_value), hyper)
    np.testing.assert_allclose((batch.advantage, batch.target), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.slow
def test_loss_and_gradient_of_the_policy_are_the_trainers(made, collected):
    settings, params = made
    weights, batch = collected
    samples = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), batch)
    samples = samples._replace(log_prob=samples.log_prob + 0.2 * jnp.sin(jnp.arange(256.0)))  # some ratios are clipped
    only_policy = dataclasses.replace(settings, value_coef=0.0)

    def loss(weights):
        return ppo.loss(weights, samples, params, 0.3, only_policy)[0]

    def expected(weights):
        log_probs, _ = settings.network.apply(weights, samples.observation, params)
        policy = MaskedCategorical.of(log_probs, samples.observation.action_mask)
        advantage = (samples.advantage - samples.advantage.mean()) / (samples.advantage.std() + 1e-8)
        surrogate = clipped_surrogate(policy.log_prob(samples.action) - samples.log_prob, advantage, settings.clip)
        return surrogate - 0.3 * policy.entropy().mean()

    found, wanted = (jax.jit(jax.value_and_grad(each))(weights) for each in (loss, expected))
    chex.assert_trees_all_close(found, wanted, rtol=1e-5, atol=1e-6)
    assert ppo.loss(weights, samples, params, 0.3, settings)[1]["clip_fraction"] > 0.2


def test_updates_are_the_trainers(made):
    """From the same state with the same keys: episodes, terms of the loss, weights."""
    settings, params = made
    config = train.Config(
        env=settings.env.name,
        total_steps=settings.total_steps,
        rollout=train.Rollout(**SIZES, updates_per_superstep=1, bootstrap_truncated=False),
        hyper=train.Hyper(**NUMBERS),
        network=train.Network(hidden=settings.hidden),
        training=train.Scenarios(scenarios="library"),
    )
    assert config.num_updates == settings.num_updates == 4
    state = jax.jit(functools.partial(train.init, config=config, env=settings.env))(jax.random.key(0), params)
    update = jax.jit(train.make_update(config, settings.env))
    learner = like_ours(state.weights), settings.optimizer.init(like_ours(state.weights))
    for number in range(3):
        envs = jax.tree.map(lambda x: x[0], state.lanes.envs.state)
        keys = jax.random.split(state.lanes.key[0], 4)[2:]  # to collect, and to shuffle
        learner, envs, terms = one_update(keys, learner, envs, params, 1.0 - number / settings.num_updates, settings)
        state, metrics = update(state, params, config.hyper)
        chex.assert_trees_all_equal(envs, jax.tree.map(lambda x: x[0], state.lanes.envs.state))
        expected = {name: metrics.means[name] for name in metrics.not_finite}
        assert terms.keys() == expected.keys()
        chex.assert_trees_all_close(terms, expected, rtol=1e-4, atol=1e-5)
        chex.assert_trees_all_close(learner[0], like_ours(state.weights), rtol=1e-4, atol=1e-5)
    assert metrics.means["clip_fraction"] > 0.05
    assert metrics.means["grad_norm"] > settings.max_grad_norm


@functools.partial(jax.jit, static_argnums=5)
def one_update(keys, learner, envs, params, left, settings):
    """Of the file's functions, with given keys."""
    envs, steps, _ = ppo.collect(keys[0], learner[0], envs, params, settings)
    last_value = settings.network.apply(learner[0], ppo.observe(envs, params, settings), params)[1]
    learner, terms = ppo.learn(keys[1], learner, ppo.estimate(steps, last_value, settings), params, left, settings)
    return learner, envs, jax.tree.map(jnp.mean, terms)


def like_ours(weights):
    """The weights of a flat network of the trainer, by the names of the file."""
    layers = weights["params"]
    towers = {"policy": ("actor_trunk", "policy_head"), "value": ("critic_trunk", "value_head")}
    return {"params": {name: {**layers[trunk], "Dense_2": layers[head]} for name, (trunk, head) in towers.items()}}


def test_an_update_is_made_of_these_functions(made):
    settings, params = made
    state = jax.jit(ppo.init, static_argnums=2)(jax.random.key(3), params, settings)
    after, (episodes, terms) = jax.jit(ppo.update, static_argnums=2)(state, params, settings)
    assert after.updates == 1
    before = state.weights, state.optimizer
    expected = one_update(jax.random.split(state.key, 3)[1:], before, state.envs, params, 1.0, settings)
    chex.assert_trees_all_close(((after.weights, after.optimizer), after.envs, terms), expected, rtol=1e-5, atol=1e-6)
    assert 0 < episodes.count < settings.num_envs * settings.num_steps
