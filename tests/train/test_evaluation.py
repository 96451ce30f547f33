"""Evaluation: the first episode of each scenario and nothing after it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Table, column, table

import jaxenv
from jaxenv import baselines
from jaxenv.evaluation import evaluate
from train.networks.network import make_network
from train.networks.policy import NetworkPolicy

CHAIN = table(
    starts=(0, 1, 2, 1), rewards=column([1, 10, 100]), following=column([1, 2, 0]), ends=column([False, False, True])
)


def zero(key, observation, params):
    return jnp.int32(0)


def any_action(key, observation, params):
    return jax.random.randint(key, (), 0, 3)


def test_each_scenario_is_played_once_to_its_end(env):
    played = evaluate(zero, env, CHAIN)
    np.testing.assert_array_equal(played.returns[:, 0], [111, 110, 100, 110])
    np.testing.assert_array_equal(played.lengths[:, 0], [3, 2, 1, 2])
    assert played.terminated.all()
    assert not played.truncated.any()


def test_a_time_limit_is_told_apart(env):
    played = evaluate(zero, env, CHAIN.replace(max_steps_in_episode=jnp.int32(2)))
    np.testing.assert_array_equal(played.returns[:, 0], [11, 110, 100, 110])
    np.testing.assert_array_equal(played.terminated[:, 0], [False, True, True, True])
    np.testing.assert_array_equal(played.truncated[:, 0], [True, True, False, True])  # by the table both may be told


@pytest.mark.parametrize(("limit", "max_steps"), [(5, None), (1_000_000, 7)])
def test_an_episode_without_an_end_is_cut_off(limit, max_steps):
    """The first never tells its limit, the second has none that anybody would wait for."""

    class Endless(Table):
        def is_truncated(self, state, params):
            return jnp.bool_(False)

    params = table(rewards=1.0, ends=False, limit=limit)
    played = evaluate(zero, Endless(), params, max_steps=max_steps)
    np.testing.assert_array_equal(played.lengths, max_steps or limit)
    np.testing.assert_array_equal(played.returns, max_steps or limit)
    assert not (played.terminated | played.truncated).any()


def test_repetitions_differ_where_the_policy_draws(env):
    coin = table(rewards=[[0, 1, 2]])
    played = evaluate(any_action, env, coin, repetitions=200)
    assert played.returns.shape == (4, 200)
    assert played.returns.mean() == pytest.approx(1.0, abs=0.15)
    again = evaluate(any_action, env, coin, repetitions=200)
    np.testing.assert_array_equal(played.returns, again.returns)
    other = evaluate(any_action, env, coin, key=jax.random.key(1), repetitions=200)
    assert (played.returns != other.returns).any()


def test_a_trained_policy_is_played_greedily_or_sampled(config, env, start):
    """Its first weights hardly prefer an action: sampled it earns what chance does."""
    params = table(rewards=[[0, 1, 2]])
    weights = start(jax.random.key(0), params).weights
    policy = NetworkPolicy(weights, make_network(config.network, env.num_actions), env)
    greedy = evaluate(policy, env, params, repetitions=200)
    assert len(np.unique(greedy.returns)) == 1
    sampled = evaluate(policy.replace(greedy=False), env, params, repetitions=200)
    assert sampled.returns.mean() == pytest.approx(1.0, abs=0.15)


@pytest.mark.slow
def test_success_is_recorded_where_the_environment_tells_it():
    env, params = jaxenv.make("LifeStack-v0")
    greedy = evaluate(baselines.for_environment(env)["Greedy"], env, params.replace(bank=params.bank))
    assert 0.4 < greedy.succeeded.mean() < 0.9
    np.testing.assert_array_equal(greedy.returns > 8, greedy.succeeded)  # 8 for success, and -8 for any failure
