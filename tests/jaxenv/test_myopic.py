"""Myopic looks one step ahead: where that is right, where it fails, and what it must not look at."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxenv.baselines import Myopic
from jaxenv.evaluation import evaluate
from strategies.tables import Table, table

TABLE = Table()
REPETITIONS = 200


def returns(params, env=TABLE, repetitions=1):
    """[4, repetitions], of the four starts."""
    return np.asarray(evaluate(Myopic(env), env, params, repetitions=repetitions).returns)


def test_greed_is_right_where_a_reward_is_all_that_an_action_does():
    assert returns(table(starts=(0, 1, 2, 0), rewards=[[1, 3, 2], [6, 5, 4], [7, 8, 9]]))[:, 0].tolist() == [3, 6, 9, 3]


def test_greed_fails_where_the_way_to_a_reward_costs():
    """From state 0 action 0 ends the episode for 1; action 1 costs 1 and leads to state 1, where 10 can be had: 9."""
    params = table(
        rewards=[[1, -1, 0], [10] * 3, [0] * 3], following=1, ends=[[True, False, True], [True] * 3, [True] * 3]
    )
    assert returns(params)[:, 0].tolist() == [1, 1, 1, 1]
    patient = evaluate(lambda key, observation, params: jnp.int32(1), TABLE, params)
    assert patient.returns[:, 0].tolist() == [9, 9, 9, 9]


def test_of_equal_rewards_each_is_taken_as_often_and_none_that_is_illegal():
    """Sums of terms that differ by their rounding are equal: 0.1 + 0.2 is 0.3."""
    ended = np.array([[True, False, True]] * 3)  # action 1 is played twice, which tells it from action 0
    params = table(rewards=[[0.3, 0.1 + 0.2 + 1e-7, 9.0]] * 3, legal=[[True, True, False]] * 3, ends=ended, limit=2)
    lengths = np.asarray(evaluate(Myopic(TABLE), TABLE, params, repetitions=REPETITIONS).lengths)
    assert set(lengths.ravel()) == {1, 2}
    assert (lengths == 2).mean() == pytest.approx(0.5, abs=0.06)  # four standard errors of 800 coins: 0.07


class Coin(Table):
    """Action 1 pays 1 or -1, by a coin of the step's key."""

    def transition(self, key, state, action, params):
        after, reward, ended, info = super().transition(key, state, action, params)
        coin = jax.random.rademacher(key, (), reward.dtype)
        return after, jnp.where(action == 1, coin, reward), ended, info


def test_it_weighs_draws_of_its_own_and_does_not_know_those_of_the_episode():
    found = returns(table(rewards=[[0.3, 0, -9]] * 3), Coin(), REPETITIONS)
    tossed = found[np.abs(found) == 1]
    assert 0.2 < tossed.size / found.size < 0.45  # three or four heads of four draws: 5 of 16
    assert tossed.mean() == pytest.approx(0.0, abs=0.25)  # who knew the coin would earn 1 there


class Opposites(Table):
    """Two agents side by side; the second is paid the opposite."""

    num_agents = 2

    def action_mask(self, state, params):
        return jnp.stack([super().action_mask(state, params)] * 2)

    def transition(self, key, state, action, params):
        after, _, ended, info = super().transition(key, state, action[0], params)
        return after, params.rewards[state.at, action] * np.array([1.0, -1.0], np.float32), ended, info


@pytest.mark.slow
def test_each_of_several_agents_looks_at_its_own_reward():
    env, params = Opposites(), table(rewards=[[1, 3, 2]] * 3)
    state = env.init(jax.random.key(0), params, 0)
    assert Myopic(env).act_on_state(jax.random.key(1), state, params).tolist() == [1, 0]
    assert returns(params, env)[:, 0].tolist() == [1, 1, 1, 1]  # the mean of 3 and -1
