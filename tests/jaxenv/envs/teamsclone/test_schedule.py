"""The mentions of a new episode are scheduled where one ends alone, and are those that every reset draws."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from jaxenv.core import Environment
from jaxenv.envs.teamsclone import TeamsClone
from jaxenv.envs.teamsclone.initial_state import MAX_MENTIONS, MIN_MENTIONS
from jaxenv.envs.teamsclone.types import NEVER

COUNT = 192
ENV, PARAMS = jaxenv.make("TeamsClone-Mentions-v0")


@functools.partial(jax.jit, static_argnums=0)
def advance(turn, keys, states):
    """Every third episode stands at its time limit, and ends."""
    last = (PARAMS.max_steps_in_episode - 1).astype(jnp.int16)
    clock = jnp.where(jnp.arange(COUNT) % 3 == 0, last, states.clock)
    actions = jnp.zeros(COUNT, jnp.int32)
    batched = jax.vmap(functools.partial(turn, ENV), in_axes=(0, 0, 0, 0, None))
    return batched(
        keys,
        jax.vmap(functools.partial(jax.random.fold_in, data=1))(keys),
        states.replace(clock=clock),
        actions,
        PARAMS,
    )


@pytest.mark.slow
def test_a_step_resets_to_what_init_draws():
    keys = jax.random.split(jax.random.key(0), COUNT)
    states = jax.jit(jax.vmap(ENV.init, in_axes=(0, None, None)))(keys, PARAMS, None)
    ours = advance(TeamsClone.transition_or_reset, keys, states)
    composed = advance(Environment.transition_or_reset, keys, states)
    jax.tree.map(np.testing.assert_array_equal, ours, composed)
    assert int(jnp.sum(ours[4])) == COUNT // 3
    scheduled = jnp.sum(ours[1].schedule.step != NEVER, axis=1)
    assert set(np.asarray(scheduled).tolist()) == set(range(MIN_MENTIONS, MAX_MENTIONS + 1))
