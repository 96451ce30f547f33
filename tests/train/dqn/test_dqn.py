"""DQN: its targets by hand, a target network that lags, and true transitions in the buffer."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import CHAIN, SMALL

from strategies.tables import Table
from train import dqn
from train.dqn import learner, replay
from train.dqn.algorithm import remembered
from train.experience.rollout import Transition
from train.networks.outputs import Critic, MaskedCategorical
from train.settings.groups import Hyper, QLearning

UPDATE = SMALL.rollout.batch_size
GRADIENT_STEPS = 2 * 2 * SMALL.rollout.epochs * UPDATE // SMALL.rollout.minibatch_size  # of two supersteps
Q = QLearning(buffer_size=4 * UPDATE, learning_starts=2 * UPDATE + 1, target_rate=1.0, target_period=GRADIENT_STEPS)
CONFIG = dataclasses.replace(SMALL, q=Q)
MASK = jnp.array([[True, True, False]])


def reader(weights, observation):
    """A network that tells its weights: Q of three actions, of which the third is illegal."""
    policy = MaskedCategorical.of(weights, MASK)
    return policy, Critic(jnp.max(jnp.where(MASK, weights, -jnp.inf), axis=-1))


@pytest.mark.parametrize(("double_q", "expected"), [(False, 5.0), (True, 4.0)])
@pytest.mark.parametrize("is_last", [False, True])
def test_targets(double_q, expected, is_last):
    """The target network says 4, 5, 100: its best legal action is 1, that of the learning network is 0."""
    weights, target = jnp.array([[2.0, 1.0, 50.0]]), jnp.array([[4.0, 5.0, 100.0]])
    batch = replay.Step(None, jnp.array([0]), jnp.array([10.0]), None, jnp.array([is_last]))
    settings = dataclasses.replace(Q, double_q=double_q)
    hyper = Hyper(gamma=0.9, reward_scale=0.1)
    found = learner.targets(weights, target, batch, reader=reader, hyper=hyper, settings=settings)
    np.testing.assert_allclose(found, [1.0 if is_last else 1.0 + 0.9 * expected], rtol=1e-6)


def test_a_target_network_is_copied_periodically():
    target, seen, settings = {"w": jnp.float32(0.0)}, [], dataclasses.replace(Q, target_period=3)
    for number in range(7):
        target = learner.follow(target, {"w": jnp.float32(number + 1)}, jnp.int32(number), settings)
        seen.append(float(target["w"]))
    assert seen == [0.0, 0.0, 3.0, 3.0, 3.0, 6.0, 6.0]


def test_a_target_network_follows_by_polyak_averaging():
    settings = dataclasses.replace(Q, target_period=1, target_rate=0.25)
    target = learner.follow({"w": jnp.float32(4.0)}, {"w": jnp.float32(8.0)}, jnp.int32(0), settings)
    assert target["w"] == 5.0


@pytest.fixture(scope="module")
def superstep():
    return dqn.make_superstep(CONFIG, Table())


@pytest.fixture(scope="module")
def run(superstep):
    """params -> the states before, and after each of four supersteps of two updates."""

    def states(params):
        state = dqn.init(jax.random.key(0), params, config=CONFIG, env=Table())
        seen = [jax.tree.map(jnp.copy, state)]
        for _ in range(4):
            state, _ = superstep(state, params, CONFIG.hyper)
            seen.append(jax.tree.map(jnp.copy, state))
        return seen

    return states


@pytest.fixture(scope="module")
def chained(run):
    return run(CHAIN)


def distance(one, other):
    return max(float(jnp.abs(a - b).max()) for a, b in zip(*map(jax.tree.leaves, (one, other)), strict=True))


@pytest.mark.slow
def test_learning_starts_late(chained):
    before, collected, learned = chained[:3]
    assert distance(before.weights, collected.weights) == 0.0
    assert distance(before.target, collected.target) == 0.0
    assert distance(collected.weights, learned.weights) > 0.0


def test_the_target_network_lags(chained):
    """It is copied every two supersteps: once to what has just been learned, then it stays so for a superstep."""
    second, third, fourth = chained[2:]
    assert distance(second.target, second.weights) == 0.0
    assert distance(third.target, second.weights) == 0.0 < distance(third.target, third.weights)
    assert distance(fourth.target, fourth.weights) == 0.0


def test_the_buffer_holds_transitions_of_the_environment(chained):
    """Of the chain: state s is followed by s + 1, and the third ends the episode with a reward."""
    buffers = jax.tree.map(lambda x: x[0], chained[1].lanes.buffer)
    assert (int(buffers.size), int(buffers.next)) == (2 * UPDATE, 2 * UPDATE)
    held = jax.tree.map(lambda x: np.asarray(x[: 2 * UPDATE]), buffers.steps)
    at, following = held.observation.vector.argmax(-1), held.following.vector.argmax(-1)
    assert set(at) == {0, 1, 2}
    np.testing.assert_array_equal(following, (at + 1) % 3)
    np.testing.assert_array_equal(held.is_last, at == 2)
    np.testing.assert_array_equal(held.reward, at == 2)


def test_the_buffer_overwrites_the_oldest(chained):
    sizes = [int(state.lanes.buffer.size[0]) for state in chained]
    assert sizes == [0, 2 * UPDATE, 4 * UPDATE, 4 * UPDATE, 4 * UPDATE]
    second, third = (np.asarray(state.lanes.buffer.steps.action[0]) for state in chained[2:4])
    assert (second[: 2 * UPDATE] != third[: 2 * UPDATE]).any()
    np.testing.assert_array_equal(second[2 * UPDATE :], third[2 * UPDATE :])


@pytest.mark.parametrize("bootstraps", [True, False])
def test_a_time_limit_is_an_end_unless_it_is_bootstrapped(bootstraps):
    config = dataclasses.replace(CONFIG, rollout=dataclasses.replace(CONFIG.rollout, bootstrap_truncated=bootstraps))
    terminated, truncated = jnp.array([[True], [False], [False]]), jnp.array([[False], [True], [False]])
    rest = dict.fromkeys(("observation", "action", "log_prob", "value", "reward", "final_value"))
    steps = Transition(**rest, terminated=terminated, truncated=truncated)
    assert remembered(steps, config).is_last.tolist() == [True, not bootstraps, False]


def test_a_buffer_smaller_than_an_update_is_rejected():
    config = dataclasses.replace(CONFIG, q=QLearning(buffer_size=UPDATE - 1))
    with pytest.raises(ValueError, match=f"at least the {UPDATE} steps that an update collects, got {UPDATE - 1}"):
        dqn.init(jax.random.key(0), CHAIN, config=config, env=Table())
