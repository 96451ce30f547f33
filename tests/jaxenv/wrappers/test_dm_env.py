"""dm_env's own checks over environments of this suite, and the ends of episodes."""

import unittest

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from counter import Counter, Counters

import jaxenv
from jaxenv import wrappers

PEERS = "the extra `peers` is not installed"
dm_env = pytest.importorskip("dm_env", reason=PEERS)
test_utils = pytest.importorskip("dm_env.test_utils", reason=PEERS)

ENV, PARAMS = jaxenv.make("LifeOps-v0")
COUNTER, DEFAULTS = Counter(), Counter().default_params
ALONE = [id for id in jaxenv.registered() if jaxenv.make(id)[0].num_agents == 1]


@pytest.mark.parametrize("id", [id if id == ENV.name else pytest.param(id, marks=pytest.mark.slow) for id in ALONE])
def test_it_passes_their_checks(id):
    env, params = jaxenv.make(id)
    ends = []

    class Checks(test_utils.EnvironmentTestMixin, unittest.TestCase):
        def make_object_under_test(self):
            return wrappers.DmEnv(env, params, seed=3)

        def make_action_sequence(self):
            length = int(params.max_steps_in_episode) + 2  # past an end
            yield from np.random.default_rng(0).integers(0, env.num_actions, length, np.int32)

        def assertValidStep(self, step):
            ends.append(step.last())
            super().assertValidStep(step)

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Checks).run(result)
    assert result.testsRun == 4
    assert result.wasSuccessful(), result.failures + result.errors
    assert any(ends)


def test_its_specs_are_theirs():
    env = wrappers.DmEnv(ENV, PARAMS)
    assert isinstance(env, dm_env.Environment)
    assert env.action_spec() == dm_env.specs.DiscreteArray(16)
    mask = dm_env.specs.BoundedArray((16,), bool, False, True)
    assert env.observation_spec() == {"observation": dm_env.specs.Array((455,), np.float32), "action_mask": mask}


def play(seed, actions):
    """The time steps of `reset` and of the actions."""
    env = wrappers.DmEnv(COUNTER, DEFAULTS, seed)
    return [env.reset(), *map(env.step, actions)]


ACTIONS = np.random.default_rng(0).integers(0, COUNTER.num_actions, 60).tolist()


def test_its_episodes_are_those_of_the_environment():
    env, key = wrappers.FlattenObservation(COUNTER), jax.random.key(5)
    observation, state, ends = None, None, set()
    for step, action in zip(play(5, ACTIONS), [None, *ACTIONS], strict=True):
        key, turn_key = jax.random.split(key)
        if step.first():
            observation, state = env.reset(turn_key, DEFAULTS)
            assert step.reward is step.discount is None
        else:
            _, state, reward, terminated, truncated, info = env.step(turn_key, state, jnp.int32(action), DEFAULTS)
            observation = info["final_observation"]
            assert step.last() == (terminated | truncated)
            assert (step.reward, step.discount) == (float(reward), 0.0 if terminated else 1.0)
            ends |= {step.discount} if step.last() else set()
        np.testing.assert_array_equal(step.observation["observation"], observation.vector)
        np.testing.assert_array_equal(step.observation["action_mask"], observation.action_mask)
    assert ends == {0.0, 1.0}


def test_the_time_limit_has_discount_1():
    steps = play(0, [0] * 16)
    assert [number for number, step in enumerate(steps) if step.last()] == [7, 15]
    assert [number for number, step in enumerate(steps) if step.first()] == [0, 8, 16]
    assert steps[7].discount == steps[15].discount == 1.0


def test_a_seed_is_a_sequence_of_episodes():
    one, same, other = ([step.reward for step in play(seed, ACTIONS)] for seed in (1, 1, 2))
    assert one == same
    assert one != other


@pytest.mark.parametrize("action", [-1, 4, 1.0, [1], None])
def test_an_action_is_an_index(action):
    env = wrappers.DmEnv(COUNTER, DEFAULTS)
    env.reset()
    with pytest.raises(ValueError, match="actions of Counter-v0: expected"):
        env.step(action)


def test_an_illegal_action_costs_its_penalty():
    first, *_, refused = play(0, [2])
    assert not first.observation["action_mask"][2]
    assert refused.reward == pytest.approx(-0.1 - 0.5)


def test_it_has_one_agent():
    with pytest.raises(ValueError, match="DmEnv has one agent and Counters-v0 has 2"):
        wrappers.DmEnv(Counters())
