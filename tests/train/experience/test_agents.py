"""Several agents: each is a row of the batch, all share weights, and a return is their mean."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import struct
from probes import PROBES, SMALL

from jaxenv.evaluation import evaluate
from strategies.tables import Pair, Table, TableState, table
from train import ppo
from train.experience import rollout
from train.networks.network import make_network
from train.networks.policy import NetworkPolicy, Reader
from train.settings.groups import Rollout

CONFIG = dataclasses.replace(
    SMALL, rollout=Rollout(num_envs=16, num_steps=8, epochs=4, minibatch_size=64, updates_per_superstep=2)
)
LIMIT = 4
TASK = PROBES["action x observation"].replace(
    ends=jnp.zeros((3, 3), bool),
    following=jnp.broadcast_to(jnp.arange(3)[:, None], (3, 3)),
    max_steps_in_episode=jnp.int32(LIMIT),
)


class Counter(struct.PyTreeNode):
    """A policy that takes action 0 first, then 1, then 2: it has to remember."""

    def initial_carry(self):
        return jnp.int32(0)

    def act(self, key, observation, params, carry):
        return carry % 3, carry + 1


@pytest.fixture(scope="module")
def trained():
    env, superstep = Pair(), ppo.make_superstep(CONFIG, Pair())
    state = ppo.init(jax.random.key(0), TASK, config=CONFIG, env=env)
    for _ in range(20):
        state, _ = superstep(state, TASK, CONFIG.hyper)
    return NetworkPolicy(state.weights, make_network(CONFIG.network, 3), env)


def test_agents_of_an_environment_are_adjacent_rows():
    env, network = Pair(), make_network(CONFIG.network, 3)
    state = ppo.init(jax.random.key(0), TASK, config=CONFIG, env=env)
    reader, envs = Reader(network, env, TASK), jax.tree.map(lambda x: x[0], state.lanes.envs)
    run = jax.jit(lambda key, weights, envs: rollout.collect(key, weights, envs, reader, CONFIG.rollout))
    _, steps, _, totals = run(jax.random.key(1), state.weights, envs)
    states = jnp.argmax(steps.observation.vector, axis=-1)
    np.testing.assert_array_equal(states, np.tile([0, 1], (8, 16)))
    np.testing.assert_array_equal(steps.reward, TASK.rewards[states, steps.action])
    clocks = np.asarray(envs.state.env_state.clock)
    ends = (clocks + np.arange(1, 9)[:, None]) % LIMIT == 0
    np.testing.assert_array_equal(steps.truncated, ends.repeat(2, axis=1))
    assert totals.episodes.count == ends.sum() - 16  # of environments, not of agents, and without their first


def test_agents_with_shared_weights_learn_different_actions(trained):
    actions = [
        int(trained(jax.random.key(0), Pair().observe(TableState(scenario=0, at=at, clock=0), TASK), TASK))
        for at in (0, 1)
    ]
    assert actions == [0, 1]


def test_a_return_is_the_mean_over_agents(trained):
    played = evaluate(trained, Pair(), TASK)
    np.testing.assert_allclose(played.returns, LIMIT)
    lame = TASK.replace(rewards=TASK.rewards.at[1].set(0.0))
    np.testing.assert_allclose(evaluate(trained, Pair(), lame).returns, LIMIT / 2)


@pytest.mark.parametrize("env", [Table(), Pair()])
def test_a_policy_may_remember(env):
    params = table(rewards=[[1, 10, 100]] * 3, ends=False, limit=5)
    np.testing.assert_allclose(evaluate(Counter(), env, params).returns, 1 + 10 + 100 + 1 + 10)
