"""PQN and DQN alike: the probes, schedules, one program for all, and runs that resume bit for bit."""

import dataclasses
import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import BEST_ACTIONS, GAMMAS, GENERATED, PROBES, SMALL, VALUES, run_alone

from strategies.tables import ACTIONS, Table, table
from train import dqn, pqn
from train.learning.q_learning import epsilon_of, value_of
from train.log.metrics import read_metrics
from train.networks.network import make_network
from train.networks.outputs import Critic, MaskedCategorical
from train.run.job import prepare
from train.save import folder as run_folder
from train.save.policy_file import load_policy, read_header
from train.settings.groups import Network, QLearning

ALGORITHMS = {"pqn": pqn, "dqn": dqn}
UPDATE = SMALL.rollout.batch_size
Q = QLearning(
    epsilon_start=0.3,
    epsilon_end=0.1,
    epsilon_fraction=0.5,
    buffer_size=4 * UPDATE,
    learning_starts=2 * UPDATE + 1,  # in the second superstep of two updates
    target_rate=0.05,
)
HYPER = SMALL.hyper.replace(max_grad_norm=10.0, gae_lambda=0.65)
NETWORK = dataclasses.replace(SMALL.network, shared_trunk=True, layer_norm=True)
CONFIG = dataclasses.replace(SMALL, q=Q, hyper=HYPER, network=NETWORK)
POISONED = table(rewards=np.nan)
TABLES = [*PROBES.values(), POISONED]
TIMES = ("seconds", "steps_per_second")


def stack(trees):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


@pytest.fixture(scope="module", params=ALGORITHMS)
def algorithm(request):
    return ALGORITHMS[request.param]


@pytest.fixture(scope="module")
def program(algorithm):
    """(first states of all tables, superstep, hyperparameters): all of them trained at once."""
    init = functools.partial(algorithm.init, config=CONFIG, env=Table())
    superstep = jax.jit(jax.vmap(algorithm.make_superstep(CONFIG, Table())), donate_argnums=0)
    gammas = jnp.array([*GAMMAS.values(), 0.8])
    hyper = stack([HYPER] * len(TABLES)).replace(gamma=gammas)
    start = jax.jit(jax.vmap(init))
    return lambda: start(jax.random.split(jax.random.key(0), len(TABLES)), stack(TABLES)), superstep, hyper


@pytest.fixture(scope="module")
def trained(program):
    """(states before, after one superstep, at the end; metrics of the first superstep, of the last; traces, types)."""
    start, superstep, hyper = program
    params, first, state = stack(TABLES), start(), start()
    types = jax.tree.map(jax.typeof, state)
    given = state
    state, metrics = superstep(state, params, hyper)
    assert all(leaf.is_deleted() for leaf in jax.tree.leaves(given))
    assert jax.tree.map(jax.typeof, state) == types
    early = jax.tree.map(jnp.copy, state)
    traced = len(Table.traces)
    for updates in [2] * 60 + [CONFIG.num_updates - 2] * 30:  # at a constant learning rate, then at a tenth, to settle
        state = state.replace(updates=jnp.full_like(state.updates, updates))
        state, last = superstep(state, params, hyper)
    assert len(Table.traces) == traced
    return first, early, state, metrics, last


@pytest.fixture(scope="module")
def found(trained):
    """name of a probe -> (values of its states [S], the network's policy [S, A])."""
    network, weights = make_network(NETWORK, ACTIONS), trained[2].weights
    params = stack(TABLES)
    apply = jax.jit(jax.vmap(lambda weights, p: network.apply(weights, p.observations, p.legal)[:2]))
    policies, critics = apply(weights, params)
    return {name: (critics.value[i], jax.tree.map(lambda x, i=i: x[i], policies)) for i, name in enumerate(PROBES)}


@pytest.mark.parametrize("name", PROBES)
def test_the_values_of_a_probe_are_right(found, name):
    """With the mask: neither the policy nor a target ever takes the best reward, which is illegal."""
    values, _ = found[name]
    for state, value in VALUES[name].items():
        np.testing.assert_allclose(values[state], value, atol=0.02 * max(1.0, abs(value)))


@pytest.mark.parametrize("name", BEST_ACTIONS)
def test_a_probe_is_solved(found, name):
    _, policy = found[name]
    for state, action in BEST_ACTIONS[name].items():
        assert policy.mode()[state] == action


def test_values_of_actions_are_right(found):
    """Also of those that are not the best: rewards 0, 1, 0, after which the episode ends."""
    values, policy = found["action"]
    each = [float(value_of(policy, Critic(values), jnp.full(values.shape, a))[0]) for a in range(ACTIONS)]
    np.testing.assert_allclose(each, [0.0, 1.0, 0.0], atol=0.02)


def test_illegal_actions_are_never_taken(trained):
    """Their reward of 1 is in no return, although a quarter of all actions is random."""
    index = list(PROBES).index("mask")
    totals = trained[4].totals.episodes
    assert (totals.count[index] > 0).all()
    assert (totals.return_sum[index] <= 0.5 * totals.count[index]).all()


def test_the_schedules_span_the_run(trained):
    metrics = trained[3]
    decay = (Q.epsilon_start - Q.epsilon_end) / (Q.epsilon_fraction * CONFIG.num_updates)
    np.testing.assert_allclose(metrics.means["epsilon"][0], [Q.epsilon_start, Q.epsilon_start - decay], rtol=1e-5)
    lost = HYPER.learning_rate / CONFIG.num_updates
    np.testing.assert_allclose(
        metrics.means["learning_rate"][0], [HYPER.learning_rate, HYPER.learning_rate - lost], rtol=1e-5
    )


def test_epsilon_starts_and_ends_at_its_values():
    assert epsilon_of(Q, 0.0) == jnp.float32(Q.epsilon_start)
    assert epsilon_of(Q, 0.25) == pytest.approx(0.2)
    assert epsilon_of(Q, Q.epsilon_fraction) == epsilon_of(Q, 1.0) == pytest.approx(Q.epsilon_end)
    assert epsilon_of(dataclasses.replace(Q, epsilon_fraction=0.0), 0.0) == jnp.float32(Q.epsilon_end)


def test_metrics_are_finite(trained):
    for metrics in trained[3:]:
        for name, values in metrics.means.items():
            assert np.isfinite(values[: len(PROBES)]).all(), name
        assert not any(bad[: len(PROBES)].any() for bad in metrics.not_finite.values())


def test_an_update_that_is_not_finite_leaves_the_state_as_it_was(trained):
    """Also the replay buffer, into which the poisoned steps were written."""
    first, early, _, metrics, _ = trained
    assert metrics.not_finite["td_loss"][-1].all()
    assert early.updates.tolist() == [2] * len(PROBES) + [0]
    for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(early), strict=True):
        if jnp.issubdtype(a.dtype, jax.dtypes.prng_key):
            a, b = map(jax.random.key_data, (a, b))
        np.testing.assert_array_equal(a[-1], b[-1])


def test_values_of_actions_differ_like_logits():
    logits, mask = jnp.array([1.0, 3.0, 2.5, 9.0]), jnp.array([True, True, True, False])
    policy = MaskedCategorical.of(logits, mask)
    values = [float(value_of(policy, Critic(jnp.float32(7.0)), jnp.int32(action))) for action in range(3)]
    np.testing.assert_allclose(values, [5.0, 7.0, 6.5], rtol=1e-6)


def test_memory_is_rejected(algorithm):
    config = dataclasses.replace(CONFIG, network=Network(core="gru", hidden=(16,)))
    with pytest.raises(ValueError, match=f"{algorithm.name} has no --core gru"):
        prepare(algorithm, config, Table(), PROBES["one step"])


@pytest.mark.slow
def test_a_run_compiles_once_and_resumes_bit_for_bit(algorithm, tmp_path, caplog):
    """Stopped while it learns, on generated scenarios: weights and metrics end as those of a run in one piece."""
    config = dataclasses.replace(CONFIG, training=GENERATED.training, checkpoint_every=math.inf)  # copies are compiled
    params, env = PROBES["observation"], Table()
    cut, whole = (run_folder.create(dataclasses.replace(config, run_dir=tmp_path / name)) for name in ("cut", "whole"))
    compiled = []
    with jax.log_compiles():
        like = {"callback": lambda record: compiled.append(len(caplog.records)), "show_progress": False}
        outcome = run_alone(prepare(algorithm, config, env, params), whole, **like)
    assert 0 < compiled[0] == compiled[-1]
    assert outcome.env_steps == config.total_steps

    like = {"callback": lambda record: record["superstep"] == 4, "show_progress": False}
    assert run_alone(prepare(algorithm, config, env, params), cut, **like).stopped
    assert not run_alone(prepare(algorithm, config, env, params), cut, show_progress=False).stopped
    assert cut.policy.read_bytes() == whole.policy.read_bytes()
    cut, whole = (
        [{name: value for name, value in record.items() if name not in TIMES} for record in read_metrics(each.metrics)]
        for each in (cut, whole)
    )
    assert cut == whole


@pytest.mark.slow
def test_a_policy_is_saved_and_read_like_any_other(algorithm, tmp_path):
    config = dataclasses.replace(CONFIG, total_steps=1, run_dir=tmp_path / "run")
    folder, params = run_folder.create(config), PROBES["mask"]
    outcome = run_alone(prepare(algorithm, config, Table(), params), folder, show_progress=False)
    again = load_policy(folder.policy, Table(), params)
    assert read_header(folder.policy)["algorithm"] == algorithm.name
    for a, b in zip(jax.tree.leaves(again), jax.tree.leaves(outcome.policy), strict=True):
        np.testing.assert_array_equal(a, b)
    observation, _ = Table().reset(jax.random.key(0), params)
    assert again(jax.random.key(1), observation, params) in (0, 1)
