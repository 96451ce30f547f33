"""In the longest episode no field of the state leaves its space, and past its end the clock stops."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from jaxenv.core import masking
from jaxenv.envs.lifestack.types import NEVER
from jaxenv.envs.teamsclone.types import MAX_STEPS

FIRST = "LifeStack-v0"  # whose clock once wrapped
PARTS = [pytest.param(id, marks=[pytest.mark.slow] if id != FIRST else []) for id in jaxenv.registered()]
LATE = 4  # steps before the last number of a clock


@functools.partial(jax.jit, static_argnums=(0, 4))
def play_on(env, key, state, params, steps):
    """Environment i takes entry i where that is legal, else any.

    Returns:
        (steps up to the end at which a field is out of its space, steps at which the clock goes back or leaves its own,
        last state, first step at which the episode has ended), each [B].
    """
    entries = jnp.arange(jax.tree.leaves(state)[0].shape[0], dtype=jnp.int32)
    space = env.state_space(params)

    def one(entry, key, state):
        mask = env.action_mask(state, params)
        wanted = jnp.take(mask, entry % env.num_actions, axis=-1)
        action = jnp.where(wanted, entry % env.num_actions, masking.sample_uniform(key, mask))
        state, _, terminated, _ = env.transition(key, state, action, params)
        return state, terminated | env.is_truncated(state, params), ~space.contains(state)

    def step(carry, key):
        state, outside, back, number, ended = carry
        after, is_over, is_outside = jax.vmap(one)(entries, jax.random.split(key, entries.size), state)
        outside = outside + (is_outside & (ended < 0)).astype(jnp.int32)
        back = back + ((after.clock < state.clock) | ~jax.vmap(space["clock"].contains)(after.clock)).astype(jnp.int32)
        ended = jnp.where((ended < 0) & is_over, number + 1, ended)
        return (after, outside, back, number + 1, ended), None

    zeros = jnp.zeros(entries.shape, jnp.int32)
    start = (state, zeros, zeros, jnp.int32(0), zeros - 1)
    (state, outside, back, _, ended), _ = jax.lax.scan(step, start, jax.random.split(key, steps))
    return outside, back, state, ended


def begun(env, params, count):
    """The first states of so many episodes."""
    return jax.jit(jax.vmap(lambda key: env.init(key, params, None)))(jax.random.split(jax.random.key(1), count))


def with_far_limit(env, params):
    """Params with the latest time limit that there can be, and how many steps that is."""
    if env.family == "teamsclone":
        return params.replace(max_steps_in_episode=jnp.int32(MAX_STEPS)), MAX_STEPS
    if env.family == "lifestack":
        crises = params.bank.scenarios
        horizon = jnp.full_like(crises.horizon, NEVER)
        return params.replace(bank=params.bank.replace(scenarios=crises.replace(horizon=horizon))), NEVER
    return params, int(params.max_steps_in_episode)  # days end where their calendars could overflow


def limits_of(env, params, state, limit):
    """[B] int: the last clock of each episode."""
    is_fixed = env.family != "lifeops"
    return np.full(len(state.clock), limit) if is_fixed else np.asarray(params.bank[state.scenario].max_steps, int)


def check(env, params, state, steps, limit):
    outside, back, last, ended = jax.device_get(play_on(env, jax.random.key(2), state, params, steps))
    assert not outside.any(), [np.asarray(leaf) for leaf in jax.tree.leaves(last)]
    assert not back.any()
    left = limits_of(env, params, state, limit) - np.asarray(state.clock)
    assert ((ended > 0) & (ended <= left)).all(), (ended, left)
    return last


@pytest.mark.parametrize("env_id", PARTS)
def test_a_clock_stops_at_its_last_number(env_id):
    env, params = jaxenv.make(env_id)
    params, limit = with_far_limit(env, params)
    state = begun(env, params, 16)
    late = jnp.asarray(np.maximum(limits_of(env, params, state, limit) - LATE, 0), state.clock.dtype)
    last = check(env, params, state.replace(clock=late), 12 * LATE, limit)
    assert (np.asarray(last.clock) == env.state_space(params)["clock"].high).all()


@pytest.mark.slow
@pytest.mark.parametrize("env_id", jaxenv.registered())
def test_nothing_wraps_in_the_longest_episode(env_id):
    env, params = jaxenv.make(env_id)
    params, limit = with_far_limit(env, params)
    check(env, params, begun(env, params, 32), min(limit, 33_000) + LATE, limit)
