"""Brax's training wrappers over environments of this suite."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from counter import Counter, Counters

import jaxenv
from jaxenv import wrappers

PEERS = "the extra `peers` is not installed"
base = pytest.importorskip("brax.envs.base", reason=PEERS)
training = pytest.importorskip("brax.envs.wrappers.training", reason=PEERS)

ENV, PARAMS = jaxenv.make("LifeOps-v0")
COUNTER, DEFAULTS = Counter(), Counter().default_params
ONE = wrappers.Brax(ENV, PARAMS)
SMALL = wrappers.Brax(COUNTER, DEFAULTS)
ALONE = [id for id in jaxenv.registered() if jaxenv.make(id)[0].num_agents == 1]
BATCH, STEPS, LIMIT = 8, 40, 5  # LIMIT: shorter than the counter's own


@pytest.fixture(autouse=True)
def as_their_users_run_it():
    """Other suites rely on promotion between dtypes and ranks."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def play(one, episode_length, expected=None):
    """(first states, scores, later states) of random play under their wrappers, [STEPS, BATCH]."""
    env = training.EvalWrapper(training.wrap(one, episode_length))

    @jax.jit
    def scan(keys, scores):
        def step(state, scores):
            after = env.step(state, scores)
            return after, (after, None if expected is None else jax.vmap(expected)(state, scores))

        first = env.reset(keys)
        return first, *jax.lax.scan(step, first, scores)[1]

    scores = jax.random.uniform(jax.random.key(1), (STEPS, BATCH, one.action_size), minval=-1.0)
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        return jax.device_get(scan(jax.random.split(jax.random.PRNGKey(0), BATCH), scores))


@pytest.fixture(scope="module")
def played():
    """`play`, with the transitions of the environment itself for the legal actions with the highest scores."""

    def ours(state, scores):
        turn_key, _ = jax.random.split(state.info["rng"])
        mask = COUNTER.action_mask(state.pipeline_state, DEFAULTS)
        action = jnp.argmax(jnp.where(mask, scores, -jnp.inf))
        after, reward, terminated, info = COUNTER.transition(turn_key, state.pipeline_state, action, DEFAULTS)
        return after, reward, terminated, info["invalid_action"]

    return play(SMALL, LIMIT, ours)


def test_it_is_theirs():
    assert isinstance(ONE, base.Env)
    state = jax.eval_shape(ONE.reset, jax.random.PRNGKey(0))
    assert isinstance(state, base.State)
    assert state.obs.shape == (ONE.observation_size,) == (455,)
    assert jax.eval_shape(ONE.step, state, jnp.zeros(ONE.action_size)) == state
    assert ONE.unwrapped is ONE


def test_a_step_takes_the_best_legal_action(played):
    _, states, (_, reward, terminated, invalid_action) = played
    np.testing.assert_array_equal(states.reward, reward)
    np.testing.assert_array_equal(states.done, terminated | (states.info["steps"] >= LIMIT))
    assert not invalid_action.any()
    assert terminated.any()


def test_their_wrappers_truncate_and_start_again(played):
    first, states, (after, _, terminated, _) = played
    late = (states.info["steps"] >= LIMIT) & ~terminated
    np.testing.assert_array_equal(states.info["truncation"], late)
    assert late.any()
    done = states.done.astype(bool)
    np.testing.assert_array_equal(states.obs[done], np.broadcast_to(first.obs, states.obs.shape)[done])
    np.testing.assert_array_equal(states.pipeline_state.clock, np.where(done, 0, after.clock))
    keys = states.info["rng"].reshape(-1, 2)
    assert len(np.unique(keys, axis=0)) == len(keys)


def test_metrics_are_added_up_over_an_episode(played):
    _, states, _ = played
    totals = states.info["episode_metrics"]
    assert set(totals) == {"sum_reward", "length", "reward_step", "reward_met", "reward_invalid_action"}
    np.testing.assert_allclose(totals["reward_step"] + totals["reward_met"], totals["sum_reward"], atol=1e-5)
    assert totals["length"].max() == LIMIT
    assert not totals["reward_invalid_action"].any()


def test_the_time_limit_is_a_truncation():
    state, ends = SMALL.reset(jax.random.PRNGKey(3)), []
    for _ in range(int(DEFAULTS.max_steps_in_episode)):
        state = SMALL.step(state, jnp.eye(4)[0])
        ends.append((float(state.done), float(state.info["truncation"])))
    assert ends == [(0, 0)] * 6 + [(1, 1)]


def test_a_natural_end_is_none():
    target_1 = DEFAULTS.replace(bank=jaxenv.ScenarioBank.stack([DEFAULTS.bank[0]]))
    env = wrappers.Brax(COUNTER, target_1)
    state = env.step(env.reset(jax.random.PRNGKey(0)), jnp.eye(4)[1])
    assert (float(state.done), float(state.info["truncation"])) == (1, 0)


def test_a_score_is_needed_for_each_action():
    state = jax.eval_shape(SMALL.reset, jax.random.PRNGKey(0))
    for action in (jnp.int32(3), jnp.zeros(1), jnp.zeros((2, 4))):
        with pytest.raises(ValueError, match="expects 4 scores as action, got shape"):
            jax.eval_shape(SMALL.step, state, action)


def test_it_has_one_agent():
    with pytest.raises(ValueError, match="Brax has one agent and Counters-v0 has 2"):
        wrappers.Brax(Counters())


@pytest.mark.parametrize("id", [id if id == ENV.name else pytest.param(id, marks=pytest.mark.slow) for id in ALONE])
def test_an_id_plays_under_their_wrappers(id):
    one = wrappers.Brax(id)
    _, states, _ = play(one, 12)
    assert states.obs.shape == (STEPS, BATCH, one.observation_size)
    assert np.isfinite(states.obs).all()
    assert states.done.any(axis=0).all()
    totals = states.info["episode_metrics"]
    parts = [values for name, values in totals.items() if name.startswith("reward_")]
    np.testing.assert_allclose(sum(parts), totals["sum_reward"], atol=1e-3)
