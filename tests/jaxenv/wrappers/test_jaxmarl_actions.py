"""The forms in which JaxMARL's learners give an agent's action, over a small environment of two agents."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from counter import Counters

from jaxenv import wrappers


class Flat(Counters):
    """Two counters as vectors."""

    def flatten(self, observation, params):
        return jnp.stack([observation.at.astype(jnp.float32), observation.share], axis=-1)


MARL = wrappers.JaxMARL(Flat())
KEY = jax.random.key(0)


@pytest.fixture(scope="module")
def state():
    return MARL.reset(KEY)[1]


def rewards(state, one, other):
    _, after, rewards, *_ = MARL.step_env(KEY, state, {"agent_0": one, "agent_1": other})
    return {agent: float(reward) for agent, reward in rewards.items()} | {"at": after.at.tolist()}


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int32])
@pytest.mark.parametrize("shape", [(), (1,)])
def test_integers_of_any_dtype_alone_or_in_an_array_of_one(state, dtype, shape):
    expected = rewards(state, jnp.int32(1), jnp.int32(3))
    assert expected["at"] == [1, 2]
    assert rewards(state, np.full(shape, 1, dtype), np.full(shape, 3, dtype)) == expected


@pytest.mark.parametrize("far", [2**32 + 1, 10**400, np.int64(2**32 + 1), np.full(1, 2**63 + 1, np.uint64)])
def test_one_beyond_32_bits_is_out_of_range(state, far):
    greatest = np.int32(2**31 - 1)
    assert rewards(state, far, np.int32(0)) == rewards(state, greatest, np.int32(0))
    assert rewards(state, far, np.int32(0)) != rewards(state, np.int32(1), np.int32(0))
    actions = {"agent_0": far, "agent_1": 0}
    near = {"agent_0": greatest, "agent_1": 0}
    np.testing.assert_equal(*(MARL.step(KEY, state, each)[1].at.tolist() for each in (actions, near)))


def test_a_step_takes_them_in_a_batch(state):
    states = jax.tree.map(lambda leaf: jnp.stack([leaf] * 3), state)
    actions = dict.fromkeys(MARL.agents, jnp.full((3, 1), 3, jnp.int32))
    outputs = jax.vmap(MARL.step)(jax.random.split(KEY, 3), states, actions)
    observations, after, reward, dones, infos = outputs
    assert after.at.tolist() == [[2, 2]] * 3
    assert observations["agent_1"].shape == (3, 2)
    assert reward["agent_0"].shape == dones["agent_1"].shape == dones["__all__"].shape == (3,)
    assert infos["invalid_action"].shape == (3, 2)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (np.float32(1), r"the action of agent_1 is float32\[\]; expected an integer"),
        (np.zeros(2, np.int32), r"the action of agent_1 is int32\[2\]; expected an integer"),
        (np.True_, r"the action of agent_1 is bool\[\]; expected an integer"),
    ],
)
def test_anything_else_is_an_error(state, action, message):
    with pytest.raises(ValueError, match=message):
        MARL.step_env(KEY, state, {"agent_0": 1, "agent_1": action})


def test_an_agent_without_an_action_is_named(state):
    with pytest.raises(ValueError, match="no action of 'agent_1'; the actions given are those of agent_0"):
        MARL.step(KEY, state, {"agent_0": 1})


def test_redrawn_actions_are_in_infos(state):
    marl = wrappers.JaxMARL(wrappers.LegalActions(Flat()))
    actions = {"agent_0": 2, "agent_1": 1}  # at 0, action 2 is illegal
    *_, infos = marl.step_env(KEY, state, actions)
    assert infos["redrawn"].tolist() == [True, False]
    assert infos["invalid_action"].tolist() == [False, False]
