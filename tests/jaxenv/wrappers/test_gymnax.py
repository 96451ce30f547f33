"""gymnax's wrappers and spaces and rejax's PPO over an environment of this suite."""

import copy
import importlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from counter import Counter

import jaxenv
from jaxenv import wrappers

PEERS = "the extra `peers` is not installed"
theirs = pytest.importorskip("gymnax.wrappers", reason=PEERS)
their_spaces = pytest.importorskip("gymnax.environments.spaces", reason=PEERS)
rejax = pytest.importorskip("rejax", reason=PEERS)

ENV, PARAMS = jaxenv.make("LifeOps-v0")
SIX, FIVE = wrappers.Gymnax(ENV), wrappers.Gymnax(ENV, steps=5)
BATCH, STEPS = 8, 24


@pytest.fixture(autouse=True)
def as_their_users_run_it():
    """Other suites rely on promotion between dtypes and ranks."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def play(env):
    """(vector, reward, ends and info) of random actions, [STEPS, BATCH], of anything with gymnax's signatures."""
    reset_keys = jax.random.split(jax.random.key(0), BATCH)
    keys = jax.random.split(jax.random.key(1), (STEPS, BATCH))
    actions = jax.random.randint(jax.random.key(2), (STEPS, BATCH), 0, ENV.num_actions)

    @jax.jit
    def scan(params):
        def step(state, inputs):
            result = jax.vmap(env.step, in_axes=(0, 0, 0, None))(inputs[0], state, inputs[1], params)
            return result[1], (result[0], *result[2:])

        _, state = jax.vmap(env.reset, in_axes=(0, None))(reset_keys, params)
        return jax.lax.scan(step, state, (keys, actions))[1]

    return jax.device_get(scan(PARAMS))


@pytest.fixture(scope="module")
def six():
    """Six values under their log wrapper, with our statistics inside."""
    with jax.numpy_dtype_promotion("standard"):
        return play(theirs.LogWrapper(wrappers.Gymnax(wrappers.EpisodeStatistics(ENV))))


def test_their_log_wrapper_counts_what_ours_counts(six):
    info = six[-1]
    done = info["returned_episode"]
    assert done.sum() > BATCH
    np.testing.assert_array_equal(done, info["terminated"] | info["truncated"])
    episode = info["episode"]
    np.testing.assert_allclose(info["returned_episode_returns"][done], episode.episode_return[done], rtol=1e-5)
    np.testing.assert_array_equal(info["returned_episode_lengths"][done], episode.length[done])


def test_six_values(six):
    vector, reward, terminated, truncated, info = six
    assert vector.dtype == reward.dtype == np.float32
    assert vector.shape == (STEPS, BATCH, *SIX.observation_space(PARAMS).shape)
    assert terminated.dtype == truncated.dtype == bool
    assert info["final_observation"].shape == vector.shape
    continues = ~(terminated | truncated)
    np.testing.assert_array_equal(info["final_observation"][continues], vector[continues])
    assert {"reward_parts", "invalid_action", "terminated", "truncated"} <= set(info)


def test_five_values_have_one_end_and_a_discount(six):
    _, state = jax.eval_shape(FIVE.reset, jax.random.key(0), PARAMS)
    vector, _, reward, done, info = jax.eval_shape(FIVE.step, jax.random.key(0), state, 0, PARAMS)
    assert vector.shape == six[0].shape[2:]
    assert (reward.dtype, done.dtype, info["discount"].dtype) == (jnp.float32, bool, jnp.float32)


@pytest.mark.parametrize(("env_id", "success"), [("LifeOps-v0", False), ("LifeStack-v0", True)])
def test_the_info_of_five_values_has_only_arrays_of_no_axes(env_id, success):
    env, params = jaxenv.make(env_id)
    adapted = wrappers.Gymnax(env, steps=5)
    state = jax.eval_shape(lambda: env.init(jax.random.key(0), params, 0))
    *_, info = jax.eval_shape(adapted.step, jax.random.key(0), state, 0, params)
    names = ["discount", *(["success"] if success else []), "terminated", "truncated"]
    assert sorted(info) == names
    assert {array.shape for array in info.values()} == {()}
    assert {name: array.dtype for name, array in info.items()} == {**dict.fromkeys(names, bool), "discount": "float32"}


def test_the_discount_of_five_values_is_zero_after_a_natural_end():
    class Flat(Counter):
        def flatten(self, observation, params):
            return observation.share[None]

    env = wrappers.Gymnax(Flat(), steps=5)
    state = env.env.init(jax.random.key(0), env.default_params, 0)  # up to 1
    infos = [env.step(jax.random.key(1), state, action)[-1] for action in (0, 1)]
    assert [bool(info["terminated"]) for info in infos] == [False, True]
    assert [float(info["discount"]) for info in infos] == [1.0, 0.0]


def test_spaces_are_theirs_and_contain_what_comes_out(six):
    vector, state = SIX.reset(jax.random.key(0), PARAMS)
    assert isinstance(SIX.action_space(PARAMS), their_spaces.Discrete)
    assert SIX.action_space().n == SIX.num_actions == ENV.num_actions
    assert isinstance(SIX.observation_space(PARAMS), their_spaces.Box)
    assert SIX.observation_space(PARAMS).contains(six[0])
    assert SIX.observation_space(PARAMS).dtype == vector.dtype
    assert isinstance(SIX.state_space(PARAMS), their_spaces.Dict)
    calendar = SIX.state_space(PARAMS).spaces["calendar"]
    assert calendar.spaces["start"].contains(state.calendar.start)


def test_params_default_to_those_of_make():
    vector, state = SIX.reset(jax.random.key(0))
    assert vector.shape == SIX.observation_space().shape
    result = jax.eval_shape(SIX.step, jax.random.key(1), state, 0)
    assert len(result) == 6
    assert result[0].shape == vector.shape
    assert SIX.default_params.max_steps_in_episode == PARAMS.bank.scenarios.max_steps.max()
    assert SIX.name == ENV.name


def test_an_action_that_is_not_legal_costs_its_penalty_and_the_mask_says_which(six):
    info = six[-1]
    assert info["invalid_action"].any()
    penalty = np.where(info["invalid_action"], PARAMS.weights.invalid_action, 0.0)
    np.testing.assert_array_equal(info["reward_parts"].invalid_action, penalty)
    _, state = SIX.reset(jax.random.key(0), PARAMS)
    np.testing.assert_array_equal(jax.jit(SIX.action_mask)(state), jax.jit(ENV.action_mask)(state, PARAMS))


def test_it_is_a_value():
    assert wrappers.Gymnax(ENV) == SIX == copy.deepcopy(SIX)
    assert hash(wrappers.Gymnax(ENV)) == hash(SIX)
    assert FIVE != SIX
    assert wrappers.Gymnax(ENV, steps=5) == FIVE
    with pytest.raises(ValueError, match="6 values, or 5"):
        wrappers.Gymnax(ENV, steps=4)


def test_several_agents_are_an_error_that_names_the_adapter():
    env, _ = jaxenv.make("TeamsClone-MultiAgent-v0", num_agents=3)
    with pytest.raises(ValueError, match=r"has one agent and \S+ has 3; see wrappers\.JaxMARL"):
        wrappers.Gymnax(env)


@pytest.mark.slow
def test_their_vector_wrapper_takes_it():
    env = theirs.GymnaxToVectorGymWrapper(SIX, num_envs=3, params=PARAMS)
    vector, _ = env.reset(seed=0)
    assert vector.shape == (3, *SIX.observation_space().shape)
    _, reward, terminated, truncated, _ = env.step(env.action_space.sample())
    assert reward.shape == terminated.shape == truncated.shape == (3,)


def test_without_gymnax_the_error_names_the_extra(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ImportError, match=r"in a checkout of jaxenv, pip install '.\[peers\]'"):
        SIX.action_space(PARAMS)


@pytest.mark.slow
def test_rejax_learns_by_ppo():
    ppo = rejax.PPO.create(
        env=FIVE,
        env_params=PARAMS,
        num_envs=32,
        num_steps=32,
        num_epochs=4,
        num_minibatches=4,
        learning_rate=1e-3,
        total_timesteps=16_384,
        eval_freq=16_384,
        normalize_observations=True,
    )
    _, (lengths, returns) = jax.jit(ppo.train)(jax.random.key(0))
    before, after = returns.mean(axis=-1)
    assert lengths.max() <= PARAMS.max_steps_in_episode
    assert after > before + 1.0
