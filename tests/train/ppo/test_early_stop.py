"""Early stopping by a target KL divergence, and the schedule of the clipping range."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import PROBES

from train import ppo
from train.lanes import LANE, Lanes
from train.learning.updates import scheduled
from train.log.metrics import reduce_metrics
from train.ppo import learner
from train.ppo.losses import Batch
from train.settings.groups import Hyper

PARAMS = PROBES["action x observation"]


def learned(config, kls, target_kl, lanes=None):
    """What comes of minibatches with these divergences, where the learner is the number of steps made."""
    kls, rollout = jnp.asarray(kls, jnp.float32), config.rollout
    batch = Batch(None, jnp.zeros((rollout.num_steps, rollout.num_envs)), *[None] * 4)

    def step(learner, batch):
        made, seen = learner
        terms = {"policy_loss": jnp.float32(seen + 1), "approx_kl": kls[seen], "grad_norm": jnp.float32(2)}
        terms = terms if lanes is None else lanes.mean(terms)
        return (made + 1, seen + 1), terms

    return learner.learn(jax.random.key(0), (jnp.int32(0), jnp.int32(0)), batch, step, rollout, target_kl)


@pytest.fixture(scope="module")
def kls(config):
    """Of the minibatches of an update, 0 in the first, the sixth greater than all."""
    number = config.rollout.epochs * config.rollout.batch_size // config.rollout.minibatch_size
    found = np.linspace(0.0, 0.1, number)
    found[5] = 1.0
    return found


def test_the_minibatch_that_exceeds_the_target_and_all_after_it_are_skipped(config, kls):
    (made, _), terms, means = learned(config, kls, 0.5)
    assert made == 5
    np.testing.assert_allclose(means["steps_made"], 5 / len(kls))
    np.testing.assert_allclose(means["approx_kl"], kls[:6].mean(), rtol=1e-5)
    np.testing.assert_allclose(means["policy_loss"], 3.5)  # of six that were computed
    np.testing.assert_allclose(means["grad_norm"], 2.0)
    np.testing.assert_array_equal(terms["grad_norm"].ravel(), [2.0] * 6 + [0.0] * (len(kls) - 6))


@pytest.mark.parametrize("target_kl", [None, jnp.inf, 1.0])
def test_nothing_stops_without_a_target_or_below_it(config, kls, target_kl):
    (made, _), _, means = learned(config, kls, target_kl)
    assert made == len(kls)
    assert means.get("steps_made") == (None if target_kl is None else 1.0)
    np.testing.assert_allclose(means["approx_kl"], kls.mean(), rtol=1e-5)


def test_lanes_stop_together(config, kls):
    """By the mean of their divergences: 1.0 in one and 0.1 in the other."""
    both = jnp.stack([jnp.asarray(kls), jnp.full(len(kls), 0.1)])
    stop = jax.vmap(lambda kls: learned(config, kls, 0.5, Lanes(2))[0][0], axis_name=LANE)
    np.testing.assert_array_equal(stop(both), [5, 5])


def test_a_divergence_that_is_not_a_number_is_not_hidden(config, kls):
    (made, _), _, means = learned(config, [*kls[:3], np.nan, *kls[4:]], 0.5)
    assert made == 5
    assert jnp.isnan(means["approx_kl"])


def trained(config, env, **hyper):
    """(weights after two updates, their metrics)."""
    config = dataclasses.replace(config, hyper=config.hyper.replace(learning_rate=0.05, **hyper))
    state = ppo.init(jax.random.key(0), PARAMS, config=config, env=env)
    state, metrics = ppo.make_superstep(config, env)(state, PARAMS, config.hyper)
    return state.weights, metrics


@pytest.mark.parametrize("lanes", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_an_update_stops_in_training(config, env, lanes):
    """Its steps change nothing more; with no room at all only the first one is made, which is at 0."""
    config = dataclasses.replace(config, rollout=dataclasses.replace(config.rollout, lanes=lanes))
    whole, usual = trained(config, env)
    never, metrics = trained(config, env, target_kl=float("inf"))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), whole, never)
    np.testing.assert_array_equal(metrics.means["steps_made"], [1.0, 1.0])
    assert "steps_made" in reduce_metrics(metrics)
    assert "steps_made" not in reduce_metrics(usual)

    number = config.rollout.epochs * config.rollout.batch_size // config.rollout.minibatch_size
    _, metrics = trained(config, env, target_kl=0.001)
    assert metrics.means["steps_made"][0] == 1 / number
    assert not any(failed.any() for failed in metrics.not_finite.values())


@pytest.mark.slow
def test_the_clipping_range_may_change_over_a_run(config, env):
    assert scheduled(Hyper(), 0.5).clip == Hyper().clip
    hyper = Hyper(clip=0.3, clip_end=0.1)
    np.testing.assert_allclose([scheduled(hyper, progress).clip for progress in (0.0, 0.5, 1.0)], [0.3, 0.2, 0.1])
    constant, _ = trained(config, env)
    same, _ = trained(config, env, clip_end=config.hyper.clip)
    narrow, _ = trained(config, env, clip=0.01)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), constant, same)
    with pytest.raises(AssertionError):
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-3), constant, narrow)
