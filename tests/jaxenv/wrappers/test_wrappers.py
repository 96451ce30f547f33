"""Flat observations, episode statistics, and many episodes side by side."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from jaxenv import wrappers
from jaxenv.core import masking

ENV, PARAMS = jaxenv.make("LifeOps-v0")
BATCH, STEPS = 16, 24


@pytest.fixture(scope="module")
def played():
    """(rewards, infos) of random episodes under both wrappers, [STEPS, BATCH]."""
    env = wrappers.EpisodeStatistics(wrappers.FlattenObservation(ENV))
    many = wrappers.Vectorize(env, BATCH)

    @jax.jit
    def play(key, params):
        def step(carry, key):
            obs, state = carry
            action_key, step_key = jax.random.split(key)
            actions = jax.vmap(masking.sample_uniform)(jax.random.split(action_key, BATCH), obs.action_mask)
            obs, state, reward, _, _, info = many.step(step_key, state, actions, params)
            return (obs, state), (reward, info)

        return jax.lax.scan(step, many.reset(key, params), jax.random.split(key, STEPS))[1]

    return jax.device_get(play(jax.random.key(0), PARAMS))


def test_the_flat_vector_is_the_environments_and_the_mask_stays_beside_it():
    env = wrappers.FlattenObservation(ENV)
    obs, state = env.reset(jax.random.key(0), PARAMS, 3)
    record, _ = ENV.reset(jax.random.key(0), PARAMS, 3)
    assert obs.vector.dtype == jnp.float32
    assert obs.vector.shape == env.observation_space(PARAMS)["vector"].shape
    np.testing.assert_allclose(obs.vector, jax.jit(ENV.flatten)(record, PARAMS), rtol=1e-6)
    np.testing.assert_array_equal(obs.action_mask, jax.jit(env.action_mask)(state, PARAMS))
    assert env.unwrapped == ENV
    assert (env.name, env.num_actions) == (ENV.name, ENV.num_actions)


def test_the_return_of_an_episode_is_the_sum_of_its_rewards(played):
    rewards, info = played
    done = info["terminated"] | info["truncated"]
    for b in range(BATCH):
        start = 0
        for end in np.flatnonzero(done[:, b]):
            episode = info["episode"]
            assert episode.length[end, b] == end - start + 1
            assert episode.episode_return[end, b] == pytest.approx(rewards[start : end + 1, b].sum(), abs=1e-4)
            start = end + 1


def test_summaries_count_what_they_average(played):
    _, info = played
    summary = wrappers.summarize(info)
    done = info["terminated"] | info["truncated"]
    assert summary.count == done.sum() > 0
    means = summary.means()
    assert means["return"] == pytest.approx(info["episode"].episode_return[done].mean(), rel=1e-5)
    assert means["length"] == pytest.approx(info["episode"].length[done].mean())
    halves = [jax.tree.map(lambda leaf, h=h: leaf[h], info) for h in (slice(0, 12), slice(12, None))]
    both = wrappers.summarize(halves[0]) + wrappers.summarize(halves[1])
    assert both.count == summary.count


def test_no_finished_episode_has_no_mean(played):
    _, info = played
    first = {**info, "terminated": np.zeros_like(info["terminated"]), "truncated": np.zeros_like(info["truncated"])}
    assert wrappers.summarize(first).means() == {"episodes": 0, "return": None, "length": None}


def test_a_batch_starts_the_scenarios_that_it_is_given():
    many = wrappers.Vectorize(ENV, 12)
    obs, state = many.reset(jax.random.key(0), PARAMS, jnp.arange(12))
    assert state.scenario.tolist() == list(range(12))
    assert obs.action_mask.shape == (12, ENV.num_actions)
    with pytest.raises(ValueError, match="expected at least 1"):
        wrappers.Vectorize(ENV, 0)
