"""The recurrent core: what it computes, when it forgets, and that a replay is what was played."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import linen as nn
from probes import CHAIN

import jaxenv
from strategies.tables import TableObservation, table
from train import ppo
from train.experience import rollout
from train.networks.layers import CORES, GRU, LRU, MLP, Sequences
from train.networks.network import make_network
from train.networks.policy import Reader
from train.ppo import learner, losses
from train.ppo.algorithm import estimate
from train.settings.config import Config
from train.settings.groups import Hyper, Network, Rollout

ROWS, STEPS, INPUTS, UNITS = 3, 5, 4, 6


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def by_hand(weights, inputs, carry, starts):
    """Equations of a gated recurrent unit in float64, a step and a row at a time: [T, H]."""
    w = jax.tree.map(lambda x: np.asarray(x, np.float64), weights["params"])
    outputs = []
    for x, is_start in zip(np.asarray(inputs, np.float64), starts, strict=True):
        carry = np.zeros_like(carry) if is_start else carry
        of_input = (x @ w["gates"]["kernel"] + w["gates"]["bias"]).reshape(3, -1)
        of_carry = (carry @ w["recurrent"]).reshape(3, -1)
        reset, update = sigmoid(of_input[0] + of_carry[0]), sigmoid(of_input[1] + of_carry[1])
        candidate = np.tanh(of_input[2] + reset * (of_carry[2] + w["bias"]))
        carry = (1.0 - update) * candidate + update * carry
        outputs.append(carry)
    return np.stack(outputs)


def test_the_equations_of_a_gated_recurrent_unit():
    keys = jax.random.split(jax.random.key(0), 4)
    inputs = jax.random.normal(keys[0], (ROWS, STEPS, INPUTS))
    starts = jnp.zeros((ROWS, STEPS), bool).at[1, 2].set(True)
    memory = Sequences(jax.random.normal(keys[1], (ROWS, UNITS)), starts)
    core = GRU(UNITS)
    weights = core.init(keys[2], inputs, memory)
    weights = jax.tree.map(lambda x: x + 0.1 * jax.random.normal(keys[3], x.shape), weights)  # biases too
    outputs, carry = jax.jit(core.apply)(weights, inputs, memory)
    expected = [by_hand(weights, inputs[n], np.asarray(memory.carry[n]), starts[n]) for n in range(ROWS)]
    np.testing.assert_allclose(outputs, expected, atol=1e-5)
    np.testing.assert_array_equal(carry, outputs[:, -1])


def test_the_equations_of_a_linear_recurrent_unit():
    keys = jax.random.split(jax.random.key(0), 3)
    inputs = jax.random.normal(keys[0], (ROWS, STEPS, INPUTS))
    starts = jnp.zeros((ROWS, STEPS), bool).at[1, 2].set(True).at[2, 0].set(True)
    memory = Sequences(jax.random.normal(keys[1], (ROWS, UNITS)), starts)
    core = LRU(UNITS)
    weights = jax.tree.map(lambda x: x + 0.1, core.init(keys[2], inputs, memory))  # a bias too
    outputs, carry = jax.jit(core.apply)(weights, inputs, memory)
    w = jax.tree.map(lambda x: np.asarray(x, np.float64), weights["params"])
    keep = sigmoid(w["keep"])
    expected, last = np.zeros(outputs.shape), np.asarray(memory.carry, np.float64)
    for t in range(STEPS):
        read = np.asarray(inputs[:, t], np.float64) @ w["read"]["kernel"] + w["read"]["bias"]
        last = keep * np.where(starts[:, t, None], 0.0, last) + np.sqrt(1.0 - keep**2) * read
        expected[:, t] = last
    np.testing.assert_allclose(outputs, expected, atol=1e-5)
    np.testing.assert_array_equal(carry, outputs[:, -1])


VALUES, FACTS, NOISE = 4, 2, 8
LAG = (8, 16)  # steps from news to question


def told_and_asked(key, rows=64):
    """(inputs [rows, T, F], when each fact is asked for [rows, FACTS], its value): told once, asked later."""
    when, lags, truth, other = jax.random.split(key, 4)
    steps = LAG[1] + 17
    told = jax.random.randint(when, (rows, FACTS), 0, 16)
    asked = told + jax.random.randint(lags, (rows, FACTS), *LAG)
    value = jax.random.randint(truth, (rows, FACTS), 0, VALUES)
    is_told, is_asked = (time[:, None] == jnp.arange(steps)[None, :, None] for time in (told, asked))
    news = is_told[..., None] * jax.nn.one_hot(value, VALUES)[:, None]
    noise = jax.random.normal(other, (rows, steps, NOISE))
    return jnp.concatenate([news.reshape(rows, steps, -1), is_asked, noise], axis=-1), asked, value


class Recall(nn.Module):
    """The answer at each step, by a core and a hidden layer."""

    core: str

    @nn.compact
    def __call__(self, inputs):
        memory = Sequences(jnp.zeros((inputs.shape[0], 64)), jnp.zeros(inputs.shape[:2], bool))
        remembered, _ = CORES[self.core](64)(inputs, memory)
        hidden = MLP(Network(hidden=(64,), activation="relu"))
        return nn.Dense(VALUES)(hidden(jnp.concatenate([inputs, remembered], axis=-1)))


@pytest.mark.slow
@pytest.mark.parametrize(("core", "least"), [("gru", 0.7), ("lru", 0.9)])
def test_what_is_told_once_is_recalled_later(core, least):
    """The share of right answers after 500 batches; 0.25 is chance."""
    network, optimizer = Recall(core), optax.adam(3e-3)
    weights = jax.jit(network.init)(jax.random.key(1), told_and_asked(jax.random.key(0))[0])

    def loss(weights, batch):
        inputs, asked, value = batch
        logits = jnp.take_along_axis(network.apply(weights, inputs), asked[..., None], axis=1)
        right = jnp.argmax(logits, axis=-1) == value
        return optax.softmax_cross_entropy_with_integer_labels(logits, value).mean(), right.mean()

    def update(carry, key):
        weights, moments = carry
        gradient, right = jax.grad(loss, has_aux=True)(weights, told_and_asked(key))
        changes, moments = optimizer.update(gradient, moments, weights)
        return (optax.apply_updates(weights, changes), moments), right

    train = jax.jit(lambda carry, keys: jax.lax.scan(update, carry, keys))
    _, right = train((weights, optimizer.init(weights)), jax.random.split(jax.random.key(2), 500))
    assert right[-50:].mean() > least


NETWORK = Network(hidden=(16,), core="gru", core_units=UNITS)
# From each state an action leads to the state of its number; the last action may end the episode, as does the limit.
WANDERING = table(following=[[0, 1, 2]] * 3, ends=[[False, False, True], [False] * 3, [False] * 3], limit=3)


@pytest.fixture(scope="module", params=list(CORES))
def collect(request, config, env):
    """(key, params) -> (weights, reader, first carry, steps, batch) of episodes that are under way at first."""
    config = dataclasses.replace(config, network=dataclasses.replace(NETWORK, core=request.param))
    network = make_network(config.network, env.num_actions)

    @jax.jit
    def play(key, params):
        state = ppo.init(key, params, config=config, env=env)
        envs = jax.tree.map(lambda x: x[0], state.lanes.envs)
        envs = envs.replace(carry=jax.random.normal(key, envs.carry.shape))
        reader = Reader(network, env, params)
        _, steps, last_value, _ = rollout.collect(key, state.weights, envs, reader, config.rollout)
        batch = estimate(steps, last_value, Hyper(), envs.carry)
        return state.weights, envs.carry, steps, batch

    def run(key, params):
        weights, *played = play(key, params)
        return weights, Reader(network, env, params), *played

    return run


@pytest.fixture(scope="module")
def played(collect):
    return collect(jax.random.key(1), WANDERING)


def test_the_window_has_ends_of_both_kinds(played):
    *_, steps, _ = played
    assert (steps.terminated & ~steps.truncated)[:-1].any()
    assert (steps.truncated & ~steps.terminated)[:-1].any()


def test_a_replay_is_what_was_played(played):
    """Values and log-probabilities across the ends of episodes, from the first carry alone."""
    weights, reader, _, _, batch = played
    rows = learner.samples(batch)
    policy, critic = jax.jit(reader)(weights, rows.observation, rows.sequences)
    np.testing.assert_allclose(critic.value, rows.value, atol=2e-5)
    np.testing.assert_allclose(policy.log_prob(rows.action), rows.log_prob, atol=2e-5)


def test_the_ratio_is_1_on_the_first_minibatch(played):
    weights, reader, _, _, batch = played
    rows = learner.samples(batch)
    first = jax.tree.map(lambda x: x[:8], rows)
    loss = functools.partial(losses.ppo_loss, reader=reader, hyper=Hyper(entropy_coef=0.0))
    _, terms = jax.jit(loss)(weights, first)
    assert abs(terms["approx_kl"]) <= 1e-6
    assert terms["clip_fraction"] == 0.0


def test_memory_reaches_back_to_the_start_of_the_episode_and_no_further(played):
    """Another first carry changes what is played before the first end, and nothing after it."""
    weights, reader, _, _, batch = played
    rows = learner.samples(batch)
    other = rows.sequences.replace(carry=rows.sequences.carry + 1.0)
    value = jax.jit(reader)
    before, after = (value(weights, rows.observation, memory)[1].value for memory in (rows.sequences, other))
    is_first = ~jax.lax.associative_scan(jnp.logical_or, rows.sequences.starts, axis=1)
    assert (jnp.abs(before - after) > 1e-6)[is_first].mean() > 0.9
    np.testing.assert_array_equal(before[~is_first], after[~is_first])
    assert (~is_first).any()


def test_a_cut_episode_is_valued_with_what_it_remembers(collect):
    """The chain is cut after two of its three steps: its last observation is the third of a sequence."""
    weights, reader, _, steps, _ = collect(jax.random.key(2), CHAIN.replace(max_steps_in_episode=jnp.int32(2)))
    whole = jax.tree.map(lambda x: x[None], TableObservation(jnp.eye(3), jnp.ones((3, 3), bool)))
    memory = Sequences(reader.initial_carry(1), jnp.zeros((1, 3), bool))
    expected = reader(weights, whole, memory)[1].value[0, 2]
    has_whole = steps.truncated & (jnp.cumsum(steps.truncated, axis=0) > 1)  # the first began before the window
    assert has_whole.any()
    np.testing.assert_allclose(steps.final_value[has_whole], expected, atol=1e-6)
    forgotten = jax.jit(reader.value)(weights, jax.tree.map(lambda x: x[:, 2], whole), reader.initial_carry(1))
    assert abs(forgotten[0] - expected) > 1e-3


@pytest.mark.parametrize("encoder", ["flat", pytest.param("entities", marks=pytest.mark.slow)])
def test_every_encoder_remembers(encoder):
    """A step depends on the steps before it, and a replay of three is three steps."""
    env, params = jaxenv.make("LifeOps-v0")
    network = make_network(dataclasses.replace(NETWORK, encoder=encoder, embedding=8), env.num_actions)
    reader = Reader(network, env, params)
    reset = jax.vmap(env.reset_env, in_axes=(0, None, 0))
    days = jax.jit(reset)(jax.random.split(jax.random.key(0), 3), params, jnp.arange(3))[0]
    sequence = jax.tree.map(lambda x: x[None], days)
    weights = jax.jit(reader.init)(jax.random.key(1), days)
    memory = Sequences(reader.initial_carry(1), jnp.zeros((1, 3), bool))
    policy, critic = jax.jit(reader)(weights, sequence, memory)
    values = critic.value
    carry, act, found = reader.initial_carry(1), jax.jit(reader.act), []
    for t in range(3):
        step, critic, carry = act(weights, jax.tree.map(lambda x, t=t: x[:, t], sequence), carry)
        found.append(critic.value)
        np.testing.assert_allclose(step.log_probs, policy.log_probs[:, t], atol=1e-5)
    np.testing.assert_allclose(jnp.stack(found, axis=1), values, atol=1e-5)
    alone = jax.jit(reader.value)(weights, jax.tree.map(lambda x: x[:, 2], sequence), reader.initial_carry(1))
    assert abs(alone[0] - values[0, 2]) > 1e-3


def test_a_minibatch_is_of_whole_sequences():
    with pytest.raises(ValueError, match="whole rollouts: 24 samples"):
        Config(
            env="LifeOps-v0",
            rollout=Rollout(num_envs=24, num_steps=16, minibatch_size=24),
            network=Network(core="gru"),
        )
    dataclasses.replace(Config(env="LifeOps-v0"), network=Network(core="gru"))
