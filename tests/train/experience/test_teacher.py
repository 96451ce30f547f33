"""Teachers: what they show, that it is imitated, and who may teach."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from jaxenv.baselines import for_environment
from strategies.tables import Pair, column, table
from train import dqn, ppo
from train.experience import rollout
from train.experience.teacher import make_teacher
from train.learning.updates import scheduled
from train.networks.network import make_network
from train.networks.policy import Reader
from train.ppo.losses import Batch, ppo_loss
from train.run.job import prepare
from train.settings.config import Config
from train.settings.groups import Hyper, Network, Rollout

# In state 0 action 0 pays 1 and ends the episode; action 1 costs 1 and leads to state 1, where 10 can be had.
DETOUR = table(rewards=[[1, -1, 0], [10] * 3, [0] * 3], following=1, ends=[[True, False, True], [True] * 3, [True] * 3])


def taught(config, env):
    """(state, metrics) after ten supersteps with the teacher of the settings."""
    superstep = ppo.make_superstep(config, env)
    state = ppo.init(jax.random.key(0), DETOUR, config=config, env=env)
    for _ in range(10):
        state, metrics = superstep(state, DETOUR, config.hyper)
    return state, metrics


def chosen(state, config, env):
    """The most probable action in state 0."""
    observation, _ = jax.vmap(env.reset_env, (0, None))(jax.random.split(jax.random.key(0), 1), DETOUR)
    policy, _ = Reader(make_network(config.network, env.num_actions), env, DETOUR)(state.weights, observation)
    return int(policy.mode()[0])


def test_a_teacher_is_imitated_even_where_another_action_earns_more(config, env):
    """One step ahead action 0 is best. Without its coefficient the learner finds the detour beside the same teacher."""
    hyper = config.hyper.replace(gamma=1.0, teacher_coef=100.0, teacher_coef_end=100.0)
    imitates = dataclasses.replace(config, teacher="Myopic", hyper=hyper)
    learns = dataclasses.replace(imitates, hyper=hyper.replace(teacher_coef=0.0, teacher_coef_end=0.0))
    after, metrics = taught(imitates, env)
    assert chosen(after, imitates, env) == 0
    assert metrics.means["teacher_loss"][-1] < 0.1
    assert "teacher_loss" in metrics.means
    assert "teacher_loss" in metrics.not_finite
    assert chosen(taught(learns, env)[0], learns, env) == 1


@pytest.mark.slow
def test_a_learner_with_memory_imitates_too(config, env):
    """In two lanes, by the gradients of parts of a minibatch."""
    hyper = config.hyper.replace(teacher_coef=100.0, teacher_coef_end=100.0)
    network = dataclasses.replace(config.network, core="gru", core_units=8)
    rollout = dataclasses.replace(config.rollout, lanes=2, microbatch_size=32)
    settings = dataclasses.replace(config, teacher="Myopic", hyper=hyper, network=network, rollout=rollout)
    assert taught(settings, env)[1].means["teacher_loss"][-1] < 0.1


@pytest.mark.slow
def test_a_search_looks_ahead_by_the_hyperparameters_of_its_member(config, env):
    """With a discount of 0.05 the 10 of the detour are worth half a point, less than its cost."""
    pytest.importorskip("mctx")
    hyper = config.hyper.replace(gamma=0.05, teacher_coef=100.0, teacher_coef_end=100.0)
    settings = dataclasses.replace(config, teacher="search", simulations=16)
    superstep = ppo.make_superstep(settings, env)
    for gamma, action in ((0.05, 0), (1.0, 1)):
        state = ppo.init(jax.random.key(0), DETOUR, config=settings, env=env)
        for _ in range(10):
            state, _ = superstep(state, DETOUR, hyper.replace(gamma=gamma))
        assert chosen(state, settings, env) == action


def test_each_of_several_agents_has_its_own_teacher(config):
    """Rows of observations and of actions are in one order: agent n is in state n, where action n pays."""
    pair, params = Pair(), table(rewards=np.eye(3), following=column([0, 1, 2]), ends=False, limit=5)
    network = make_network(config.network, pair.num_actions)
    reader = Reader(network, pair, params)

    @jax.jit
    def collect(key):
        envs = rollout.initial_state(key, params, env=pair, num_envs=4)
        weights = reader.init(key, rollout.by_agent(jax.vmap(pair.observe, (0, None))(envs.state.env_state, params), 2))
        teacher = make_teacher(dataclasses.replace(config, teacher="Myopic"), config.hyper, reader, weights)
        sizes = Rollout(num_envs=4, num_steps=4)
        return rollout.collect(key, weights, envs, reader, sizes, teacher=teacher)[1]

    np.testing.assert_array_equal(collect(jax.random.key(0)).taught, np.tile([0, 1], (4, 4)))


@pytest.mark.slow
def test_a_search_teaches_what_it_finds(config, env):
    pytest.importorskip("mctx")
    hyper = config.hyper.replace(gamma=1.0, teacher_coef=100.0, teacher_coef_end=100.0)
    imitates = dataclasses.replace(config, teacher="search", simulations=16, hyper=hyper)
    after, metrics = taught(imitates, env)
    assert chosen(after, imitates, env) == 1
    assert metrics.means["teacher_loss"][-1] < 0.1


@pytest.mark.slow
def test_the_recorded_actions_are_those_of_the_rule():
    """Of the observations that the learner acts in, at random here."""
    env, params = jaxenv.make("LifeStack-v0")
    config = Config(env=env.name, network=Network(hidden=(4,)), rollout=Rollout(num_envs=8, num_steps=4))
    config = dataclasses.replace(config, teacher="Greedy")
    network = make_network(config.network, env.num_actions)
    reader = Reader(network, env, params)

    @jax.jit
    def collect(key):
        envs = rollout.initial_state(key, params, env=env, num_envs=8)
        weights = reader.init(key, jax.vmap(env.observe, (0, None))(envs.state.env_state, params))
        teacher = make_teacher(config, config.hyper, reader, weights)
        _, steps, *_ = rollout.collect(key, weights, envs, reader, config.rollout, teacher=teacher)
        act = functools.partial(for_environment(env)["Greedy"], key, params=params)
        return steps, jax.vmap(jax.vmap(lambda seen: act(observation=seen)))(steps.observation)

    steps, expected = collect(jax.random.key(1))
    np.testing.assert_array_equal(steps.taught, expected)
    assert (steps.taught != steps.action).any()


def test_the_loss_grows_by_the_cross_entropy(env):
    network = make_network(Network(hidden=(4,)), env.num_actions)
    observation, _ = jax.vmap(env.reset_env, (0, None))(jax.random.split(jax.random.key(0), 4), DETOUR)
    reader = Reader(network, env, DETOUR)
    weights = reader.init(jax.random.key(1), observation)
    zeros, actions = jnp.zeros(4), jnp.array([0, 1, 2, 1])
    alone = Batch(observation, jnp.zeros(4, jnp.int32), zeros, zeros, zeros, zeros)
    loss = functools.partial(ppo_loss, reader=reader, hyper=Hyper(teacher_coef=0.25))
    before, after = loss(weights, alone), loss(weights, alone.replace(taught=actions))
    log_probs = np.asarray(reader(weights, observation)[0].log_probs)
    expected = -log_probs[np.arange(4), np.asarray(actions)].mean()
    np.testing.assert_allclose(after[1]["teacher_loss"], expected, rtol=1e-6)
    np.testing.assert_allclose(after[0] - before[0], 0.25 * expected, rtol=1e-5)
    assert "teacher_loss" not in before[1]


def test_the_coefficient_falls_over_the_run():
    hyper = Hyper(teacher_coef=2.0, teacher_coef_end=1.0)
    assert [float(scheduled(hyper, done).teacher_coef) for done in (0.0, 0.5, 1.0)] == [2.0, 1.5, 1.0]


@pytest.mark.parametrize(
    ("env_id", "settings", "algorithm", "problem"),
    [
        ("LifeStack-v0", {"teacher": "Greed"}, ppo, r"LifeStack-v0 has no rule 'Greed' .* Did you mean 'Greedy'\?"),
        (
            "TeamsClone-v0",
            {"teacher": "Rule-based"},
            ppo,
            "TeamsClone-v0 has no rule 'Rule-based' that needs no memory",
        ),
        ("TeamsClone-v0", {"teacher": "Unmasked random"}, ppo, "has no rule 'Unmasked random'"),
        ("LifeStack-v0", {"teacher": "Greedy"}, dqn, "dqn has no --teacher"),
        ("LifeStack-v0", {"teacher": "search", "network": Network(core="gru")}, ppo, "memory"),
        ("TeamsClone-MultiAgent-v1", {"teacher": "search"}, ppo, "4 agents"),
        ("LifeStack-v0", {"simulations": 16}, ppo, "simulations are those of --teacher search"),
    ],
)
def test_who_may_not_teach(env_id, settings, algorithm, problem):
    """A rule that remembers cannot be asked in the middle of an episode of somebody else."""
    if settings.get("teacher") == "search":
        pytest.importorskip("mctx")
    env, params = jaxenv.make(env_id)
    with pytest.raises(ValueError, match=problem):
        prepare(algorithm, Config(env=env_id, **settings), env, params)
