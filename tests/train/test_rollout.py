"""Collecting: true last observations, and episodes that are counted once."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import CHAIN, table

from train import rollout
from train.networks import make_network


@pytest.fixture(scope="module")
def collect(config, env):
    network = make_network(config.network, env.num_actions)
    run = functools.partial(rollout.collect, env=env, network=network, config=config.rollout)
    return network, jax.jit(run)


@pytest.fixture(scope="module")
def cut_chain(start, collect):
    """The chain cut after two of its three steps: (weights, network, steps, ended)."""
    params = CHAIN.replace(max_steps_in_episode=jnp.int32(2))
    state = start(jax.random.key(0), params)
    network, run = collect
    _, steps, ended = run(jax.random.key(1), state.weights, state.envs, params)
    return state.weights, network, steps, ended


def test_a_cut_episode_is_valued_at_its_own_last_observation(cut_chain):
    """Time goes 0, 1 and is cut in state 2; the next observation seen is state 0 of the next episode."""
    weights, network, steps, _ = cut_chain
    states = jnp.argmax(steps.observation, axis=-1)
    np.testing.assert_array_equal(states[:, 0], [0, 1] * 4)
    np.testing.assert_array_equal(steps.truncated[:, 0], [False, True] * 4)
    value_of_2 = network.apply(weights, jnp.eye(3)[2], method="value")
    np.testing.assert_allclose(steps.final_value[steps.truncated], value_of_2, rtol=1e-6)


def test_ended_episodes_are_counted_once(cut_chain, config):
    *_, ended = cut_chain
    assert ended.episodes.count == config.rollout.num_envs * 4
    assert ended.episodes.length_sum == config.rollout.num_envs * 8
    assert ended.terminated == 0


def test_a_window_without_an_end_counts_none(start, collect):
    params = table(ends=False)
    state = start(jax.random.key(0), params)
    _, run = collect
    envs, _, ended = run(jax.random.key(1), state.weights, state.envs, params)
    assert ended.episodes.count == ended.terminated == ended.episodes.length_sum == 0
    assert (envs.state.episode.length == 8).all()
