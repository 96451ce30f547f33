"""Collecting: a staggered start, true last observations, and episodes that are counted once."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import CHAIN, PROBES

import jaxenv
from jaxenv.wrappers import EpisodeStatistics, Vectorize
from strategies.ids import ENGINES
from strategies.tables import TableState, table
from train.experience import rollout
from train.networks.network import make_network
from train.networks.policy import Reader
from train.ppo.algorithm import estimate
from train.settings.groups import Hyper, Network, Rollout

LIMIT = 40


@pytest.fixture(scope="module")
def collect(config, env):
    """(key, weights, environments, params) -> what `rollout.collect` returns."""
    network = make_network(config.network, env.num_actions)

    @jax.jit
    def run(key, weights, envs, params):
        return rollout.collect(key, weights, envs, Reader(network, env, params), config.rollout)

    return network, run


def of_lane(tree):
    """What the only lane of a state has."""
    return jax.tree.map(lambda x: x[0], tree)


@pytest.fixture(scope="module")
def lockstep(config, env):
    """params -> environments that all stand at clock 0, in episodes that are counted."""

    def initial_state(params):
        num_envs = config.rollout.num_envs
        _, state = Vectorize(EpisodeStatistics(env), num_envs).reset(jax.random.key(0), params)
        return rollout.RolloutState(state, jnp.ones(num_envs, bool))

    return initial_state


@pytest.fixture(scope="module")
def cut_chain(start, collect, lockstep):
    """The chain cut after two of its three steps: (weights, network, steps, totals)."""
    params = CHAIN.replace(max_steps_in_episode=jnp.int32(2))
    weights = start(jax.random.key(0), params).weights
    network, run = collect
    _, steps, _, totals = run(jax.random.key(1), weights, lockstep(params), params)
    return weights, network, steps, totals


def test_a_truncated_episode_is_valued_at_its_final_observation(cut_chain):
    """Time goes 0, 1 and is cut in state 2; the next observation seen is state 0 of the next episode."""
    weights, network, steps, _ = cut_chain
    states = jnp.argmax(steps.observation.vector, axis=-1)
    np.testing.assert_array_equal(states[:, 0], [0, 1] * 4)
    np.testing.assert_array_equal(steps.truncated[:, 0], [False, True] * 4)
    value_of_2 = network.apply(weights, jnp.eye(3)[2], jnp.ones(3, bool))[1].value
    np.testing.assert_allclose(steps.final_value[steps.truncated], value_of_2, rtol=1e-6)


def test_ended_episodes_are_counted_once(cut_chain, config):
    *_, totals = cut_chain
    assert totals.episodes.count == config.rollout.num_envs * 4
    assert totals.episodes.length_sum == config.rollout.num_envs * 8
    assert totals.terminated == 0


def test_a_window_without_an_end_counts_none(start, collect, lockstep):
    params = table(ends=False)
    _, run = collect
    weights = start(jax.random.key(0), params).weights
    envs, _, _, totals = run(jax.random.key(1), weights, lockstep(params), params)
    assert totals.episodes.count == totals.terminated == totals.episodes.length_sum == 0
    assert (envs.state.episode.length == 8).all()


def initial_state(env, params, num_envs=512):
    return rollout.initial_state(jax.random.key(5), params, env=env, num_envs=num_envs)


def test_a_run_starts_at_all_clocks(env):
    """With episodes of one length each clock is as frequent as another, and stays so."""
    clocks = initial_state(env, table(ends=False, limit=LIMIT)).state.env_state.clock
    counts = np.bincount(clocks, minlength=LIMIT)
    assert len(counts) == LIMIT
    assert counts.min() >= 1
    assert counts.max() <= 4 * 512 / LIMIT
    beyond = initial_state(env, table(ends=False)).state.env_state.clock  # a limit of a million steps
    assert beyond.max() < rollout.MAX_STAGGER
    assert len(np.unique(beyond)) > 300


def test_a_run_starts_with_random_legal_actions(env):
    """An action leads to the state of its number; the last is illegal and never taken."""
    params = table(legal=[[True, True, False]] * 3, following=[[0, 1, 2]] * 3, ends=False, limit=LIMIT)
    envs = initial_state(env, params)
    has_moved = np.asarray(envs.state.env_state.clock > 0)
    at = np.asarray(envs.state.env_state.at)[has_moved]
    assert set(at) == {0, 1}
    assert at.mean() == pytest.approx(0.5, abs=0.1)


def test_an_episode_started_by_random_actions_is_not_counted(start, collect, config):
    """Every step pays 1, so a whole episode returns its length; those that began before the run are not counted."""
    params = table(rewards=1.0, ends=False, limit=5)
    state = start(jax.random.key(0), params)
    before = of_lane(state.lanes.envs)
    left = 5 - np.asarray(before.state.env_state.clock)  # steps until the first end
    assert len(set(left)) == 5
    _, run = collect
    envs, steps, _, totals = run(jax.random.key(1), state.weights, before, params)
    whole = (8 - left) // 5
    assert (steps.truncated.sum(axis=0) == 1 + whole).all()
    assert totals.episodes.count == whole.sum() > 0
    assert totals.episodes.return_sum == totals.episodes.length_sum == 5 * whole.sum()
    assert envs.is_counted.all()
    assert totals.terminated == 0


def test_the_termination_of_an_episode_started_by_random_actions_is_not_counted(start, collect):
    """The chain ends at its third step, so in eight steps each environment has two or three ends."""
    _, run = collect
    state = start(jax.random.key(0), CHAIN)
    before = of_lane(state.lanes.envs)
    assert not before.is_counted.any()
    _, steps, _, totals = run(jax.random.key(1), state.weights, before, CHAIN)
    ends = np.asarray(steps.terminated).sum(axis=0)
    assert totals.terminated == totals.episodes.count == (ends - 1).sum() > 0


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 1.0])
def test_values_equal_a_full_pass_for_any_number_of_wanted_rows(config, env, start, share):
    params = PROBES["observation"]
    network = make_network(config.network, env.num_actions)
    weights = start(jax.random.key(0), params).weights
    at = jax.random.randint(jax.random.key(1), (200,), 0, 3)
    wanted = jax.random.uniform(jax.random.key(2), at.shape) < share
    observation = jax.vmap(lambda one: env.observe(TableState(scenario=0, at=one, clock=0), params))(at)
    reader = Reader(network, env, params)
    values_where = jax.jit(functools.partial(rollout.values_where, reader=reader))
    found = values_where(wanted, observation, None, weights)
    _, expected = reader(weights, observation)
    np.testing.assert_allclose(found, np.where(wanted, expected.value, 0.0), rtol=1e-6)
    together = jax.vmap(values_where, in_axes=(0, None, None, None))  # as seeds are trained side by side
    both = jnp.stack([wanted, ~wanted])
    found = together(both, observation, None, weights)
    np.testing.assert_allclose(found, np.where(both, expected.value, 0.0), rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", ENGINES)
def test_a_stored_step_is_little_more_than_its_observation(env_id):
    """With advantages and targets, in all at most 32 bytes beside the record."""
    env, params = jaxenv.make(env_id)
    network, sizes = make_network(Network(hidden=(4,)), env.num_actions), Rollout(num_envs=4, num_steps=2)

    def store(key, params):
        reader = Reader(network, env, params)
        envs = rollout.initial_state(key, params, env=env, num_envs=4)
        observation, _ = Vectorize(env, 4).reset(key, params)
        weights = reader.init(key, rollout.by_agent(observation, env.num_agents))
        _, steps, last_value, _ = rollout.collect(key, weights, envs, reader, sizes)
        return observation, steps, estimate(steps, last_value, Hyper())

    observation, steps, batch = jax.eval_shape(store, jax.random.key(0), params)
    assert steps.reward.shape == (2, 4 * env.num_agents)
    stored = nbytes((steps, batch.advantage, batch.target)) / steps.reward.size
    assert stored <= nbytes(observation) / (4 * env.num_agents) + 32


def nbytes(tree):
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))
