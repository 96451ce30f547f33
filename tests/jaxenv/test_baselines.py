"""The baselines reach their known returns, and agree with those in plain Python."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
import scenarios
from jaxenv import baselines
from jaxenv.envs.lifeops.types import ABSENT
from reference import lifeops as reference
from reference import lifeops_baselines
from reference.lifeops_library import LIBRARY

RULES = {"LifeOps-v0": "classic", "LifeOps-Shaped-v0": "shaped"}
STEPS = 11  # the longest day, six requests and five steps


@functools.cache
def player(env_id, name):
    """(params, scenario [n], key) -> returns [n], final overlaps [n], jitted."""
    env, params = jaxenv.make(env_id)
    policy = baselines.for_environment(env)[name]

    def episode(params, scenario, key):
        def step(carry, key):
            obs, state, total, done = carry
            obs, after, reward, terminated, _ = env.step_env(key, state, policy(key, obs, params), params)
            ended = done | terminated | env.is_truncated(after, params)
            state = jax.tree.map(lambda new, old: jnp.where(done, old, new), after, state)
            return (obs, state, total + jnp.where(done, 0.0, reward), ended), None

        obs, state = env.reset_env(key, params, scenario)
        start = (obs, state, jnp.float32(0), jnp.bool_(False))
        (_, state, total, _), _ = jax.lax.scan(step, start, jax.random.split(key, STEPS))
        return total, state.overlaps

    return params, jax.jit(jax.vmap(episode, in_axes=(None, 0, 0)))


def play(env_id, name, bank=None, repeats=1):
    params, episodes = player(env_id, name)
    params = params if bank is None else params.replace(bank=bank)
    index = jnp.tile(jnp.arange(params.bank.size), repeats)
    returns, overlaps = episodes(params, index, jax.random.split(jax.random.key(0), index.size))
    return np.asarray(returns).reshape(repeats, -1), np.asarray(overlaps)


RULES_ONCE = [pytest.param(id, marks=[pytest.mark.slow] if id == "LifeOps-v0" else []) for id in RULES]


@pytest.mark.slow
@pytest.mark.parametrize("env_id", RULES_ONCE)
def test_the_heuristic_reaches_its_known_returns(env_id):
    library = scenarios.load("lifeops")
    known = [library.returns(env_id)[id]["heuristic"] for id in library.ids]
    assert play(env_id, "Heuristic")[0][0].tolist() == pytest.approx(known, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", RULES_ONCE)
def test_random_reaches_its_known_means(env_id):
    library = scenarios.load("lifeops")
    known = np.array([library.returns(env_id)[id]["random"] for id in library.ids])
    returns, _ = play(env_id, "Random", repeats=4000)
    error = returns.std(axis=0) / np.sqrt(len(returns))
    assert (np.abs(returns.mean(axis=0) - known) < 4.5 * error + 1e-4).all()


@pytest.mark.slow
@pytest.mark.parametrize("env_id", RULES)
def test_careful_double_books_only_where_everybody_must(env_id):
    overlaps = play(env_id, "Careful")[1].tolist()
    expected = dict.fromkeys(LIBRARY, 0) | ({"edge_deadline_1": 1} if env_id == "LifeOps-v0" else {})
    assert overlaps == [expected[id] for id in sorted(LIBRARY)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Heuristic", "Careful"])
@pytest.mark.parametrize("env_id", RULES)
def test_baselines_agree_with_the_plain_python_ones_on_drawn_days(env_id, name):
    env, _ = jaxenv.make(env_id)
    days = jax.vmap(env.generate, in_axes=(0, None))(jax.random.split(jax.random.key(5), 40), 0.7)
    library = scenarios.decompile("lifeops", jaxenv.ScenarioBank(days))
    policy = getattr(lifeops_baselines, name.lower())
    expected = [
        lifeops_baselines.episode_return(document.model_dump(mode="json"), RULES[env_id], policy)
        for document in library.documents
    ]
    assert play(env_id, name, library.bank)[0][0].tolist() == pytest.approx(expected, abs=1e-3)
    assert (np.asarray(days.calendar.start) != ABSENT).any()


def test_every_environment_has_a_random_baseline():
    for env_id in jaxenv.registered():
        assert next(iter(baselines.for_environment(jaxenv.make(env_id)[0]))) == "Random"
    assert reference.RULES.keys() == set(RULES.values())


@pytest.mark.parametrize("env_id", jaxenv.registered())
def test_the_baselines_of_equal_environments_are_the_same_functions(env_id):
    """So what was compiled for one is not compiled anew."""
    one, other = (baselines.for_environment(jaxenv.make(env_id)[0]) for _ in range(2))
    assert list(map(id, one.values())) == list(map(id, other.values()))
    one.clear()
    assert baselines.for_environment(jaxenv.make(env_id)[0]) == other
