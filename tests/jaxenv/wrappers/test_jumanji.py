"""Jumanji's own checks and wrappers over environments of this suite, and what its clients read."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from counter import Counter, Counters

import jaxenv
from jaxenv import wrappers

PEERS = "the extra `peers` is not installed"
jumanji = pytest.importorskip("jumanji", reason=PEERS)
theirs = pytest.importorskip("jumanji.wrappers", reason=PEERS)
checks = pytest.importorskip("jumanji.testing.env_not_smoke", reason=PEERS)

ENV, PARAMS = jaxenv.make("LifeOps-v0")
COUNTER, DEFAULTS = Counter(), Counter().default_params
ONE = wrappers.Jumanji(ENV, PARAMS)
SMALL = wrappers.Jumanji(COUNTER, DEFAULTS)
OTHERS = [id for id in jaxenv.registered() if id != ENV.name]
BATCH, STEPS = 8, 40


@pytest.fixture(autouse=True)
def as_their_users_run_it():
    """Other suites rely on promotion between dtypes and ranks."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def test_it_passes_their_checks():
    assert isinstance(ONE, jumanji.Environment)
    checks.check_env_does_not_smoke(ONE)
    checks.check_env_specs_does_not_smoke(ONE)


@pytest.mark.slow
@pytest.mark.parametrize("id", OTHERS)
def test_every_other_id_passes_them(id):
    env = wrappers.Jumanji(id)
    checks.check_env_does_not_smoke(env)
    checks.check_env_specs_does_not_smoke(env)


@pytest.fixture(scope="module")
def played():
    """(states before, time steps, the environment's own transitions) of random play that resets, [STEPS, BATCH]."""
    env = theirs.VmapAutoResetWrapper(SMALL, next_obs_in_extras=True)

    def ours(state, action):
        turn_key, _ = jax.random.split(state.key)
        after, reward, terminated, _ = COUNTER.transition(turn_key, state.env_state, action, DEFAULTS)
        return reward, terminated, COUNTER.is_truncated(after, DEFAULTS)

    @jax.jit
    def scan(keys, actions):
        def step(state, action):
            after, timestep = env.step(state, action)
            return after, (state, timestep, jax.vmap(ours)(state, action))

        return jax.lax.scan(step, env.reset(keys)[0], actions)[1]

    keys = jax.random.split(jax.random.PRNGKey(0), BATCH)
    actions = jax.random.randint(jax.random.key(1), (STEPS, BATCH), 0, COUNTER.num_actions)
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        return jax.device_get(scan(keys, actions))


def test_a_step_is_the_step_of_the_environment(played):
    _, timesteps, (reward, terminated, truncated) = played
    np.testing.assert_array_equal(timesteps.reward, reward)
    np.testing.assert_array_equal(timesteps.discount, np.where(terminated, 0, 1))
    np.testing.assert_array_equal(timesteps.last(), terminated | truncated)
    assert terminated.any()
    assert (truncated & ~terminated).any()


def test_their_auto_reset_starts_new_episodes(played):
    before, timesteps, _ = played
    last = timesteps.last()[:-1]
    np.testing.assert_array_equal(before.step_count[1:][last], 0)
    np.testing.assert_array_equal(timesteps.observation.step_count[:-1], before.step_count[1:])
    np.testing.assert_array_equal(timesteps.extras["next_obs"].step_count, before.step_count + 1)
    keys = before.key.reshape(-1, 2)
    assert len(np.unique(keys, axis=0)) == len(keys)
    assert len(np.unique(before.env_state.scenario[1:][last])) == 4


def test_extras_are_plain_arrays_that_add_up_to_the_reward(played):
    _, timesteps, _ = played
    extras = timesteps.extras
    assert set(extras) == {"reward_step", "reward_met", "reward_invalid_action", "invalid_action", "next_obs"}
    np.testing.assert_allclose(
        extras["reward_step"] + extras["reward_met"] + extras["reward_invalid_action"], timesteps.reward, atol=1e-6
    )
    assert extras["invalid_action"].dtype == bool
    np.testing.assert_array_equal(extras["invalid_action"], extras["reward_invalid_action"] < 0)
    assert extras["invalid_action"].any()


@pytest.mark.parametrize("env", [ONE, SMALL], ids=["LifeOps", "counter"])
def test_reset_and_step_return_the_same_structure(env):
    state, timestep = jax.eval_shape(env.reset, jax.random.key(0))
    assert jax.eval_shape(env.step, state, jnp.int32(0)) == (state, timestep)


@pytest.mark.parametrize("far", [2**32, np.int64(2**32), np.uint64(2**63)])
def test_an_action_beyond_32_bits_is_not_legal(far):
    state, _ = ONE.reset(jax.random.key(0))
    assert ONE.step(state, far)[1].extras["invalid_action"]
    assert not ONE.step(state, np.int64(0))[1].extras["invalid_action"]


def test_specs_are_theirs_and_cached():
    assert ONE.observation_spec is ONE.observation_spec
    assert ONE.action_spec == jumanji.specs.DiscreteArray(16, name="action")
    assert ONE.observation_spec.agent_view.shape == (455,)
    assert ONE.reward_spec == jumanji.specs.Array((), jnp.float32, "reward")
    assert (ONE.discount_spec.minimum, ONE.discount_spec.maximum) == (0, 1)
    _, timestep = SMALL.reset(jax.random.key(1))
    SMALL.observation_spec.validate(timestep.observation)
    SMALL.reward_spec.validate(timestep.reward)
    SMALL.discount_spec.validate(timestep.discount)
    assert bool(timestep.first())


@pytest.mark.parametrize("wrap", [theirs.AutoResetWrapper, theirs.VmapWrapper])
def test_their_other_wrappers_take_it(wrap):
    env, batch = wrap(SMALL), () if wrap is theirs.AutoResetWrapper else (3,)
    state, first = jax.eval_shape(env.reset, jax.random.split(jax.random.key(0), batch))
    _, timestep = jax.eval_shape(env.step, state, jnp.zeros(batch, jnp.int32))
    assert first.observation.agent_view.shape == timestep.observation.agent_view.shape == (*batch, 2)
    assert timestep.reward.shape == batch


def test_stoix_finds_the_fields_that_it_reads():
    state, timestep = jax.eval_shape(ONE.reset, jax.random.key(0))
    found = timestep.observation._asdict()
    assert list(found) == ["agent_view", "action_mask", "step_count"]
    assert (found["step_count"].shape, found["step_count"].dtype) == (state.step_count.shape, jnp.int32)
    assert vars(ONE.observation_spec)["agent_view"].shape == found["agent_view"].shape


def test_torchrl_finds_arrays_under_nested_names():
    state, _ = jax.eval_shape(ONE.reset, jax.random.PRNGKey(0))

    def leaves(value):
        """Arrays under dataclasses, which is all that TorchRL's wrapper takes of a state."""
        if isinstance(value, jax.ShapeDtypeStruct):
            return [value]
        return [leaf for field in dataclasses.fields(value) for leaf in leaves(getattr(value, field.name))]

    assert leaves(state) == jax.tree.leaves(state)
    assert (state.key.shape, state.key.dtype) == ((2,), jnp.uint32)


def test_several_agents_have_an_axis_as_in_their_environments():
    env = wrappers.Jumanji(Counters())
    assert env.num_agents == 2
    assert env.action_spec.num_values.tolist() == [4, 4]
    state, first = jax.eval_shape(env.reset, jax.random.key(0))
    actions = env.action_spec.generate_value()
    assert jax.eval_shape(env.step, state, actions) == (state, first)
    assert first.reward.shape == first.discount.shape == env.reward_spec.shape == env.discount_spec.shape == (2,)
    assert first.observation.action_mask.shape == env.observation_spec.action_mask.shape == (2, 4)
    assert first.observation.agent_view.shape == env.observation_spec.agent_view.shape == (2, 2)
    single = theirs.MultiToSingleWrapper(env)
    assert jax.eval_shape(single.step, state, actions)[1].discount.shape == ()


@pytest.mark.slow
def test_their_adapters_take_it():
    env = theirs.JumanjiToGymWrapper(ONE, seed=1)
    observation, _ = env.reset()
    assert env.observation_space.contains(observation)
    assert len(env.step(env.action_space.sample())) == 5
    assert theirs.JumanjiToDMEnvWrapper(ONE).reset().observation.agent_view.shape == (455,)
