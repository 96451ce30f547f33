"""The replay buffer beside a deque: what it holds, what it overwrites, what is drawn from it."""

import collections
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from train.dqn import replay

CAPACITY, NUMBER = 7, 3


def steps(numbers):
    """Steps that tell their number in every array."""
    numbers = jnp.asarray(numbers, jnp.int32)
    return replay.Step(
        observation={"vector": jnp.stack([numbers, -numbers], axis=-1).astype(jnp.float32)},
        action=numbers,
        reward=10.0 * numbers,
        following={"vector": jnp.stack([numbers + 1, -numbers - 1], axis=-1).astype(jnp.float32)},
        is_last=numbers % 2 == 0,
    )


def assert_whole(found):
    """All arrays of each step belong to the same step."""
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(steps(found.action)), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.fixture
def buffer():
    return replay.empty(jax.tree.map(lambda x: x[0], steps([0]).observation), CAPACITY)


def test_it_holds_the_last_steps(buffer):
    expected, counter = collections.deque(maxlen=CAPACITY), itertools.count(1)
    for _ in range(6):
        new = [next(counter) for _ in range(NUMBER)]
        expected.extend(new)
        buffer = jax.jit(replay.add)(buffer, steps(new))
        held = jax.tree.map(lambda x, size=int(buffer.size): x[:size], buffer.steps)
        assert sorted(held.action.tolist()) == list(expected)
        assert_whole(held)


@pytest.mark.parametrize("rounds", [1, 4])
def test_samples_are_steps_that_it_holds(buffer, rounds):
    """And all of these: half full, and once it has come round."""
    for first in range(1, 1 + rounds * NUMBER, NUMBER):
        buffer = replay.add(buffer, steps(range(first, first + NUMBER)))
    drawn = replay.sample(jax.random.key(0), buffer, (40, 5))
    last = rounds * NUMBER
    assert drawn.action.shape == (40, 5)
    assert set(np.ravel(drawn.action).tolist()) == set(range(max(1, last - CAPACITY + 1), last + 1))
    assert_whole(drawn)


@pytest.mark.parametrize("failed", [False, True])
def test_steps_can_be_taken_back(buffer, failed):
    """Across the end of the arrays."""
    for first in (1, 4):
        buffer = replay.add(buffer, steps(range(first, first + NUMBER)))
    new = steps([7, 8, 9])
    after = replay.add(buffer, new)
    found = replay.add_unless(jnp.bool_(failed), after, buffer, new, replay.due(buffer, NUMBER))
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(buffer if failed else after), strict=True):
        np.testing.assert_array_equal(a, b)
