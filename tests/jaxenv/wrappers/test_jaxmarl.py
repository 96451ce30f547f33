"""JaxMARL's wrappers, spaces and base class as clients of an environment of this suite."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
from jaxenv import wrappers

pytestmark = pytest.mark.slow
PEERS = "the extra `peers` is not installed"
base = pytest.importorskip("jaxmarl.environments.multi_agent_env", reason=PEERS)
theirs = pytest.importorskip("jaxmarl.wrappers.baselines", reason=PEERS)
their_spaces = pytest.importorskip("jaxmarl.environments.spaces", reason=PEERS)

ENV, DEFAULTS = jaxenv.make("TeamsClone-MultiAgent-v0", num_agents=3)
PARAMS = DEFAULTS.replace(max_steps_in_episode=jnp.int32(7))
MARL = wrappers.JaxMARL(ENV, PARAMS)
STEPS = 20


@pytest.fixture(autouse=True)
def as_their_users_run_it():
    """Other suites rely on promotion between dtypes and ranks."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def sample(key, masks):
    """A random legal action for each agent."""
    keys = jax.random.split(key, len(masks))
    return {
        agent: jax.random.categorical(one, jnp.where(mask, 0.0, -jnp.inf))
        for one, (agent, mask) in zip(keys, masks.items(), strict=True)
    }


def play(env, marl):
    """(actions, rewards, dones, infos), [STEPS] each, of random legal play under anything with JaxMARL's signatures."""

    def step(carry, key):
        state, inner = carry
        action_key, step_key = jax.random.split(key)
        actions = sample(action_key, marl.get_avail_actions(inner(state)))
        _, state, rewards, dones, infos = env.step(step_key, state, actions)
        return state, (actions, rewards, dones, infos)

    @jax.jit
    def scan(key):
        inner = (lambda state: state.env_state) if env is not marl else (lambda state: state)
        _, state = env.reset(key)
        return jax.lax.scan(lambda s, k: step((s, inner), k), state, jax.random.split(key, STEPS))[1]

    return jax.device_get(scan(jax.random.key(0)))


@pytest.fixture(scope="module")
def logged():
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        return play(theirs.LogWrapper(MARL), MARL)


def test_it_has_what_their_base_class_has():
    for name, member in inspect.getmembers(base.MultiAgentEnv):
        if not name.startswith("_"):
            assert hasattr(MARL, name), name
            if inspect.isfunction(member):
                expected = list(inspect.signature(member).parameters)[1:]
                assert list(inspect.signature(getattr(MARL, name)).parameters) == expected, name


def test_dictionaries_are_keyed_by_agent(logged):
    actions, rewards, dones, _ = logged
    names = ["agent_0", "agent_1", "agent_2"]
    assert MARL.agents == names
    assert MARL.agent_classes == {"agent": names}
    assert list(actions) == list(rewards) == names
    assert set(dones) == {*names, "__all__"}


def test_their_log_wrapper_sums_the_rewards_of_each_agent(logged):
    _, rewards, dones, infos = logged
    ends = np.flatnonzero(dones["__all__"])
    assert ends.tolist() == [6, 13]
    stacked = np.stack(list(rewards.values()), axis=1)
    np.testing.assert_allclose(infos["returned_episode_returns"][6], stacked[:7].sum(axis=0), atol=1e-5)
    np.testing.assert_allclose(infos["returned_episode_returns"][13], stacked[7:14].sum(axis=0), atol=1e-5)
    assert infos["returned_episode_lengths"][13].tolist() == [7, 7, 7]


def test_both_ends_are_in_infos(logged):
    *_, dones, infos = logged
    np.testing.assert_array_equal(infos["terminated"] | infos["truncated"], infos["returned_episode"])
    assert infos["truncated"].shape == (STEPS, 3)
    assert not infos["invalid_action"].any()
    np.testing.assert_array_equal(dones["agent_1"], dones["__all__"])


def test_a_step_is_the_step_of_the_environment():
    key = jax.random.key(4)
    observations, state = MARL.reset(key)
    flat = wrappers.FlattenObservation(ENV)
    expected, same = jax.jit(flat.reset_env)(key, PARAMS)
    np.testing.assert_array_equal(np.stack(list(observations.values())), expected.vector)
    actions = {agent: jnp.int32(number) for number, agent in enumerate(MARL.agents)}
    observations, _, rewards, _, _ = MARL.step_env(key, state, actions)
    expected, _, reward, _, _ = jax.jit(flat.step_env)(key, same, jnp.arange(3, dtype=jnp.int32), PARAMS)
    np.testing.assert_array_equal(np.stack(list(rewards.values())), reward)
    np.testing.assert_array_equal(np.stack(list(observations.values())), expected.vector)


def test_the_state_after_a_reset_can_be_given():
    _, state = MARL.reset(jax.random.key(1))
    late = state.replace(clock=jnp.int16(6))
    actions = dict.fromkeys(MARL.agents, jnp.int32(0))
    observations, after, _, dones, _ = MARL.step(jax.random.key(2), late, actions, state)
    assert bool(dones["__all__"])
    jax.tree.map(np.testing.assert_array_equal, (after, observations), (state, jax.jit(MARL.get_obs)(state)))


def test_spaces_are_theirs_and_contain_what_comes():
    observations, state = MARL.reset(jax.random.key(0))
    for agent, vector in observations.items():
        assert isinstance(MARL.observation_space(agent), their_spaces.Box)
        assert MARL.observation_space(agent).contains(vector)
        assert isinstance(MARL.action_space(agent), their_spaces.Discrete)
        assert MARL.get_avail_actions(state)[agent].shape == (MARL.action_space(agent).n,)


@pytest.mark.slow
def test_their_manager_of_central_training_runs_it():
    manager = theirs.CTRolloutManager(MARL, batch_size=4)
    observations, state = manager.batch_reset(jax.random.key(0))
    keys = jax.random.split(jax.random.key(1), 3)
    actions = {agent: manager.batch_sample(key, agent) for agent, key in zip(MARL.agents, keys, strict=True)}
    observations, _, rewards, dones, _ = manager.batch_step(jax.random.key(2), state, actions)
    assert observations["__all__"].shape[0] == 4
    assert rewards["__all__"].shape == (4,)
    assert dones["__all__"].shape == (4,)


def test_one_agent_is_agent_0():
    marl = wrappers.JaxMARL("LifeOps-v0")
    observations, state = marl.reset(jax.random.key(0))
    mask = marl.get_avail_actions(state)["agent_0"]
    observations, _, rewards, dones, _ = marl.step(jax.random.key(1), state, {"agent_0": jnp.argmax(mask)})
    assert list(observations) == list(rewards) == ["agent_0"]
    assert rewards["agent_0"].shape == dones["agent_0"].shape == ()
