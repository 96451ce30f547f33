"""The terms of the objective by hand, and on the first minibatch, before any change."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from jaxenv import ScenarioBank
from train import ppo
from train.experience import rollout
from train.lanes import LANE, Lanes
from train.learning.updates import shuffled
from train.networks.network import make_network
from train.networks.outputs import Critic
from train.networks.policy import Reader
from train.ppo import learner, losses
from train.ppo.algorithm import estimate
from train.settings.config import Config
from train.settings.groups import Hyper, Network, Rollout, Scenarios


@pytest.mark.parametrize(
    ("ratio", "advantage", "expected"),
    [(1.1, 1.0, -1.1), (1.5, 1.0, -1.2), (0.5, 1.0, -0.5), (1.5, -1.0, 1.5), (0.5, -1.0, 0.8)],
)
def test_clipped_surrogate(ratio, advantage, expected):
    found = losses.clipped_surrogate(jnp.log(jnp.array([ratio])), jnp.array([advantage]), 0.2)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.0, 0.5 * 2.0**2),  # within the range: the error of the value
        (2.0, 0.5 * 1.5**2),  # nearer to the target than it may be: the error of the value kept near
        (-3.0, 0.5 * 6.0**2),  # farther from it: its own error, the greater one
    ],
)
def test_the_clipped_value_loss_takes_the_greater_error(value, expected):
    old, target, hyper = jnp.array([1.0]), jnp.array([3.0]), Hyper(value_clip=0.5)
    np.testing.assert_allclose(Critic(jnp.array([value])).loss(target, old, hyper), expected)


def test_normalized_advantages():
    """Over all lanes, here two."""
    normalized = jax.vmap(lambda x: learner.normalize(x, Lanes(2)), axis_name=LANE)
    found = normalized(jnp.array([[1.0, 2.0], [3.0, 6.0]]))
    np.testing.assert_allclose([found.mean(), found.std()], [0.0, 1.0], atol=1e-6)
    assert jnp.isfinite(normalized(jnp.ones((2, 4)))).all()


@pytest.fixture(scope="module")
def lifeops_rollout():
    """(weights, reader, steps, samples) of days short enough to end within the window, by themselves or cut."""
    env, params = jaxenv.make("LifeOps-Shaped-v0")
    days = params.bank.scenarios
    params = params.replace(bank=ScenarioBank(days.replace(max_steps=jnp.minimum(days.max_steps, 4))))
    library = Scenarios(scenarios="library")  # a generator would take long to compile
    config = Config(
        env=env.name, rollout=Rollout(num_envs=32, num_steps=16), network=Network(hidden=(32,)), training=library
    )
    network = make_network(config.network, env.num_actions)
    state = jax.jit(functools.partial(ppo.init, config=config, env=env))(jax.random.key(1), params)

    @jax.jit
    def collect(state, params):
        lane, reader = jax.tree.map(lambda x: x[0], state.lanes), Reader(network, env, params)
        _, steps, last_value, _ = rollout.collect(lane.key, state.weights, lane.envs, reader, config.rollout)
        return steps, estimate(steps, last_value, Hyper())

    return state.weights, Reader(network, env, params), *collect(state, params)


def test_the_rollout_has_both_ends_and_illegal_actions(lifeops_rollout):
    *_, steps, _ = lifeops_rollout
    assert steps.terminated.any()
    assert steps.truncated.any()
    assert not steps.observation.action_mask.all()


def test_sampled_actions_are_legal(lifeops_rollout):
    *_, steps, _ = lifeops_rollout
    assert jnp.take_along_axis(steps.observation.action_mask, steps.action[..., None], axis=-1).all()


@pytest.fixture(scope="module")
def first_minibatch(lifeops_rollout):
    *_, samples = lifeops_rollout
    size = samples.action.size
    first = shuffled(jax.random.key(2), size, size // 4)[0]
    return jax.jit(lambda tree: jax.tree.map(lambda x: x.reshape(size, *x.shape[2:])[first], tree))(samples)


@functools.cache
def loss(reader):
    return jax.jit(functools.partial(losses.ppo_loss, reader=reader))


def test_ratio_is_1_and_kl_0_on_the_first_minibatch(lifeops_rollout, first_minibatch):
    weights, reader, *_ = lifeops_rollout
    policy, critic = jax.jit(reader)(weights, first_minibatch.observation)
    ratio = jnp.exp(policy.log_prob(first_minibatch.action) - first_minibatch.log_prob)
    np.testing.assert_allclose(ratio, 1.0, atol=1e-6)
    np.testing.assert_allclose(critic.value, first_minibatch.value, atol=1e-5)
    _, terms = loss(reader)(weights, first_minibatch, hyper=Hyper(entropy_coef=0.01))
    assert abs(terms["approx_kl"]) <= 1e-6
    assert terms["clip_fraction"] == 0.0


def test_the_objective_is_the_weighted_sum_of_its_terms(lifeops_rollout, first_minibatch):
    weights, reader, *_ = lifeops_rollout
    hyper = Hyper(value_coef=0.25)
    total, terms = loss(reader)(weights, first_minibatch, hyper=hyper.replace(entropy_coef=2.0))
    np.testing.assert_allclose(
        total, terms["policy_loss"] + 0.25 * terms["value_loss"] - 2.0 * terms["entropy"], rtol=1e-6
    )
    assert terms["entropy"] > 0
