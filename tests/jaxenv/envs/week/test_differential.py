"""Two engines, one truth: drawn and arbitrary weeks in the JAX engine and in that of the rules."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxenv.core import ScenarioBank, masking
from jaxenv.envs.week import Week
from jaxenv.envs.week.baseline import rule_based
from jaxenv.envs.week.types import END
from reference.week import Episode
from strategies.week import arbitrary, plain

WEEKS = 8
NOTEBOOKS = {"none": (0, False), "default": (1, False), "notes": (16, False), "open": (1, True)}


@functools.cache
def played(notebook, sees_truth):
    """(env, function of a bank and a key: what is before each turn, and its outcome), compiled once."""
    env = Week(notebook=notebook, sees_truth=sees_truth)

    def play(params, scenario, key):
        def turn(carry, key):
            observation, state = carry
            how, random_key, any_key = jax.random.split(key, 3)
            die = jax.random.uniform(how)
            legal = masking.sample_uniform(random_key, observation.action_mask)
            careful = rule_based(env.catalogue, random_key, observation, params)
            anything = jax.random.randint(any_key, (), 0, env.num_actions, jnp.int32)
            action = jnp.where(die < 0.05, anything, jnp.where(die < 0.5, legal, careful))
            after, state_after, reward, terminated, info = env.step_env(key, state, action, params)
            return (after, state_after), (observation, state, action, reward, terminated, info)

        first = env.reset_env(key, params, scenario)
        return jax.lax.scan(turn, first, jax.random.split(key, END))

    return env, jax.jit(jax.vmap(play, in_axes=(None, 0, 0)))


def assert_same_weeks(bank, notebook, sees_truth):
    """Every state, observation, mask, part and end of the weeks of a bank agrees in both engines."""
    env, play = played(notebook, sees_truth)
    keys = jax.random.split(jax.random.key(notebook), bank.size)
    last, course = jax.device_get(play(env.params_for(bank), jnp.arange(bank.size), keys))
    for number in range(bank.size):
        episode = Episode(plain(bank[number]), notebook, sees_truth)
        observations, states, actions, rewards, ends, infos = jax.tree.map(lambda leaf, n=number: leaf[n], course)
        for time in range(END):
            assert_same_view(jax.tree.map(lambda leaf, t=time: leaf[t], (observations, states)), episode)
            step = episode.step(int(actions[time]))
            parts = {name: float(part[time]) for name, part in vars(infos["reward_parts"]).items()}
            assert parts == pytest.approx(step.parts, abs=1e-5)
            assert float(rewards[time]) == pytest.approx(step.reward, abs=1e-5)
            assert (bool(infos["invalid_action"][time]), bool(ends[time])) == (not step.legal, step.terminated)
        assert_same_view(jax.tree.map(lambda leaf, n=number: leaf[n], last), episode)


def assert_same_view(found, episode):
    """An observation and a state agree in every field."""
    observation, state = map(plain, found)
    del state["scenario"]
    assert state == episode.state()
    assert observation == episode.observation()


@pytest.mark.parametrize(
    "name", ["default", *(pytest.param(name, marks=pytest.mark.slow) for name in ("notes", "none", "open"))]
)
def test_drawn_weeks_are_the_same_in_both_engines(name):
    notebook, sees_truth = NOTEBOOKS[name]
    env = played(notebook, sees_truth)[0]
    keys = jax.random.split(jax.random.key(5), WEEKS)
    drawn = jax.jit(jax.vmap(env.generate))(keys, jnp.linspace(0, 1.5, WEEKS))
    assert_same_weeks(ScenarioBank(drawn), notebook, sees_truth)


@pytest.mark.parametrize(
    "name", ["default", "notes", *(pytest.param(name, marks=pytest.mark.slow) for name in ("none", "open"))]
)
def test_arbitrary_weeks_are_the_same_in_both_engines(name):
    bank = ScenarioBank.stack([arbitrary(seed) for seed in range(WEEKS)])
    assert_same_weeks(bank, *NOTEBOOKS[name])
    assert np.asarray(bank.scenarios.posts.kind).max() == 4
