"""What tests of every registered environment share: its parts, compiled once in a process, some turns, comparisons."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv

KEY = jax.random.key(0)
FIRST = "LifeOps-Shaped-v0"  # the quickest to compile
PLAYED = [pytest.param(id, marks=[] if id == FIRST else [pytest.mark.slow]) for id in jaxenv.registered()]

make = functools.cache(jaxenv.make)


def actions(env, dtype="int32", batch=()):
    """Shape and type of an action."""
    return jax.ShapeDtypeStruct((*batch, *agents(env)), jnp.dtype(dtype))


def agents(env):
    """The shape of an action."""
    return (env.num_agents,) if env.num_agents > 1 else ()


def types(tree):
    """The structure, and shape, type and weakness of every array."""
    leaves, structure = jax.tree.flatten(tree)
    return structure, [(leaf.shape, leaf.dtype, leaf.weak_type) for leaf in leaves]


@functools.cache
def first(env_id):
    """(observation, state, action) of the first turn, the first legal action of each agent."""
    env, params = make(env_id)
    observation, state = env.reset(KEY, params)
    return observation, state, jnp.argmax(observation.action_mask, axis=-1).astype(jnp.int32)


def play(env_id, key, steps=4):
    """Types and values of some turns."""
    env, params = make(env_id)
    result = env.reset(key, params)
    rows = [result]
    for number in range(steps):
        action = np.asarray(result[0].action_mask).argmax(axis=-1).astype(np.int32)
        result = env.step(jax.random.fold_in(key, number), result[1], action, params)
        rows.append(result)
    return jax.device_get(rows)


def assert_same(one, other):
    """Integers and bools to the bit, floats to the last digits."""
    assert jax.tree.structure(one) == jax.tree.structure(other)
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        assert a.dtype == b.dtype
        exact = not jnp.issubdtype(a.dtype, jnp.floating)
        np.testing.assert_allclose(a, b, rtol=0 if exact else 1e-5, atol=0 if exact else 1e-6)
