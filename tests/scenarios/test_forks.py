"""Forks go on from one moment: with the same draws they are a replay, with others they differ."""

import random

import jax
import numpy as np
import pytest

from scenarios import ScenarioError, TextEnv
from strategies.ids import FIRST_OF_ITS_ENGINE

PAIRS, FOLLOWING, LONGEST = 2_500, 8, 40  # for each engine; steps after a fork; of an episode


def play(env, dice, steps):
    """Random legal actions, and what each returned."""
    told = []
    while steps and not env.is_over:
        told.append(env.step(dice.choice(list(env.legal_actions))))
        steps -= 1
    return told


@pytest.mark.parametrize("id", FIRST_OF_ITS_ENGINE)
def test_a_fork_is_a_replay(id):
    env = TextEnv(id, seed=1)
    env.reset()
    play(env, random.Random(0), 3)
    snapshot = env.snapshot()
    first, second = env.fork(2)
    expected = play(first, random.Random(2), 20)
    assert play(second, random.Random(2), 20) == expected
    assert env.snapshot() == snapshot  # as if nothing had been played
    assert play(env, random.Random(2), 20) == expected
    assert env.restore(snapshot) == snapshot.text
    assert play(env, random.Random(2), 20) == expected
    assert env.reset() == first.reset() == second.reset()  # the next episode is the same one, too


@pytest.mark.slow
@pytest.mark.parametrize("id", FIRST_OF_ITS_ENGINE)
def test_forks_of_thousands_of_moments_are_replays(id):
    """What every step returns, and the bits of the state some steps later."""
    pairs = 0
    for seed in range(PAIRS):
        env, dice, moments, answers, told = TextEnv(id, seed=seed), random.Random(seed), [], [], []
        env.reset()
        while not env.is_over and len(told) < LONGEST:
            moments.append(env.snapshot())
            answers.append(dice.choice(list(env.legal_actions)))
            told.append(env.step(answers[-1]))
        moments.append(env.snapshot())
        other = TextEnv(id)
        for start in range(len(told)):
            end = min(start + FOLLOWING, len(told))
            other.restore(moments[start])
            assert [other.step(answer) for answer in answers[start:end]] == told[start:end]
            states = (each.situation.state for each in (other.snapshot(), moments[end]))
            assert jax.tree.all(jax.tree.map(np.array_equal, *states))
        pairs += len(told)
        if pairs >= PAIRS:
            break


def test_a_fork_with_a_seed_draws_anew():
    env = TextEnv("TeamsClone-v0", "general", seed=1)
    env.reset()
    same, one, other, again = env.fork(4, [None, 5, 6, 5])
    told = [play(each, random.Random(0), 30) for each in (env, same, one, other, again)]
    assert told[0] == told[1]
    assert told[2] == told[4]
    assert told[0] != told[2] != told[3] != told[0]


def test_a_snapshot_serves_another_environment_of_the_same_id():
    env, other = TextEnv("LifeOps-v0", "easy_1"), TextEnv("LifeOps-v0", "generated", 9)
    text = env.reset()
    assert other.restore(env.snapshot()) == text
    assert other.step("0") == env.step("0")
    drawn = TextEnv("LifeOps-v0", "generated", 9)
    drawn.reset()
    env.restore(drawn.snapshot())
    assert env.reset() == text  # each goes on with its own scenarios


def test_what_cannot_be_restored_is_refused():
    env = TextEnv("LifeOps-v0")
    with pytest.raises(ScenarioError, match="no episode is running"):
        env.snapshot()
    env.reset()
    for snapshot in (None, "token", of_another("LifeStack-v0")):
        with pytest.raises(ScenarioError, match="expected a snapshot of LifeOps-v0"):
            env.restore(snapshot)
    with pytest.raises(ScenarioError, match="the seed is -1"):
        env.restore(env.snapshot(), -1)
    with pytest.raises(ScenarioError, match="1 seeds for 2 forks"):
        env.fork(2, [1])


def of_another(id):
    """A snapshot of another environment."""
    env = TextEnv(id, seed=0)
    env.reset()
    return env.snapshot()
