"""Capacities: a workspace plays alike in larger arrays, and in the smallest that hold it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
import scenarios
from jaxenv.envs import teamsclone
from jaxenv.envs.teamsclone.types import Draws

STEPS = 25
LIBRARY = scenarios.load("teamsclone/general")
USERS = 3  # of `general`, in five channels


def play(limits):
    """(rewards [STEPS], numbers of messages of the five channels) of idling among fixed draws."""
    env = teamsclone.classic(limits)
    params = env.params_for(LIBRARY.bank)
    idle = env.catalogue.size - 4

    def step(state, bits):
        draws = Draws(jnp.resize(bits[:USERS], limits.users), *bits[USERS:])
        state, reward, _, _ = env.turn(state, jnp.int32(idle), draws, params)
        return state, reward

    @jax.jit
    def run():
        bits = jax.random.randint(jax.random.key(0), (STEPS, USERS + 6), 0, 2**16)
        return jax.lax.scan(step, env.init(jax.random.key(0), params, 0), bits)

    state, rewards = run()
    return np.asarray(rewards), np.asarray(state.messages.count)


@pytest.mark.slow
@pytest.mark.parametrize("limits", [teamsclone.Limits(channels=5, users=3, teams=2), teamsclone.Limits(channels=12)])
def test_other_capacities_play_the_same(limits):
    rewards, counts = play(teamsclone.Limits())
    others, other_counts = play(limits)
    np.testing.assert_array_equal(rewards, others)
    np.testing.assert_array_equal(counts[:5], other_counts[:5])
    assert counts.sum() == other_counts.sum() > STEPS / 2


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="raise the limits"):
        teamsclone.classic(teamsclone.Limits(channels=4)).params_for(LIBRARY.bank)


@pytest.mark.parametrize("wrong", [{"users": 8}, {"channels": 0}, {"texts": 121}])
def test_limits_beyond_their_dtypes_are_refused(wrong):
    with pytest.raises(ValueError, match=r"Limits\("):
        teamsclone.Limits(**wrong)


@pytest.mark.parametrize("number", [0, 9])
def test_a_number_of_agents_without_room_is_refused(number):
    with pytest.raises(ValueError, match=f"num_agents={number}"):
        jaxenv.make("TeamsClone-MultiAgent-v0", num_agents=number)
