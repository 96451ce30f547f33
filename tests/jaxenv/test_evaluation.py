"""Evaluation: the first episode of each scenario and nothing after it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import struct

import jaxenv
from jaxenv import baselines
from jaxenv.evaluation import evaluate, in_state
from strategies.tables import Table, column, table

CHAIN = table(
    starts=(0, 1, 2, 1), rewards=column([1, 10, 100]), following=column([1, 2, 0]), ends=column([False, False, True])
)


def zero(key, observation, params):
    return jnp.int32(0)


def any_action(key, observation, params):
    return jax.random.randint(key, (), 0, 3)


def test_each_scenario_is_played_once_to_its_end():
    played = evaluate(zero, Table(), CHAIN)
    np.testing.assert_array_equal(played.returns[:, 0], [111, 110, 100, 110])
    np.testing.assert_array_equal(played.lengths[:, 0], [3, 2, 1, 2])
    assert played.terminated.all()
    assert not played.truncated.any()


def test_a_policy_that_is_neither_a_function_nor_a_pytree_is_told():
    with pytest.raises(TypeError, match=r"expected a function or a pytree, such as a flax\.struct\.PyTreeNode"):
        evaluate(object(), Table(), CHAIN)


def test_a_carry_may_be_a_number():
    class Counting(struct.PyTreeNode):
        def initial_carry(self):
            return 0

        def act(self, key, observation, params, carry):
            return jnp.int32(0), carry + 1

    start, _ = in_state(Counting(), jaxenv.make("TeamsClone-MultiAgent-v0")[0])
    assert start.shape == (4,)


def test_a_time_limit_is_truncation():
    played = evaluate(zero, Table(), CHAIN.replace(max_steps_in_episode=jnp.int32(2)))
    np.testing.assert_array_equal(played.returns[:, 0], [11, 110, 100, 110])
    np.testing.assert_array_equal(played.terminated[:, 0], [False, True, True, True])
    np.testing.assert_array_equal(played.truncated[:, 0], [True, True, False, True])  # in this table both may hold


@pytest.mark.parametrize(("limit", "max_steps"), [(5, None), (1_000_000, 7)])
def test_an_episode_without_an_end_is_cut_off(limit, max_steps):
    """The first never reports its limit, the second has one too far away to wait for."""

    class Endless(Table):
        def is_truncated(self, state, params):
            return jnp.bool_(False)

    params = table(rewards=1.0, ends=False, limit=limit)
    played = evaluate(zero, Endless(), params, max_steps=max_steps)
    np.testing.assert_array_equal(played.lengths, max_steps or limit)
    np.testing.assert_array_equal(played.returns, max_steps or limit)
    assert not (played.terminated | played.truncated).any()


def test_repetitions_differ_if_the_policy_samples():
    coin = table(rewards=[[0, 1, 2]])
    played = evaluate(any_action, Table(), coin, repetitions=200)
    assert played.returns.shape == (4, 200)
    assert played.returns.mean() == pytest.approx(1.0, abs=0.15)
    again = evaluate(any_action, Table(), coin, repetitions=200)
    np.testing.assert_array_equal(played.returns, again.returns)
    other = evaluate(any_action, Table(), coin, key=jax.random.key(1), repetitions=200)
    assert (played.returns != other.returns).any()


@pytest.mark.slow
def test_success_is_recorded_if_the_environment_reports_it():
    env, params = jaxenv.make("LifeStack-v0")
    greedy = evaluate(baselines.for_environment(env)["Greedy"], env, params.replace(bank=params.bank))
    assert 0.4 < greedy.succeeded.mean() < 0.9
    np.testing.assert_array_equal(greedy.returns > 8, greedy.succeeded)  # 8 for success, and -8 for any failure
