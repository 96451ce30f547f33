"""Nothing is paid for standing still: waiting, looking and caring for oneself never earn more than they cost."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import scenarios
from jaxenv.core import ScenarioBank
from jaxenv.envs.lifestack import LifeStack
from jaxenv.envs.lifestack.actions import INSPECTING
from jaxenv.envs.lifestack.metrics import METRICS
from scenarios.text.errors import ScenarioError
from strategies.lifestack import documents
from strategies.lifestack_game import drawn

STEPS = 30


def calm(document):
    """The document without what pays to those who stand still.

    Its events raise no metric and write nothing, so they meet no milestone or success; neither rests on a metric.
    """

    def on_facts(conditions):
        found = [
            {"any": kept} for c in conditions if (kept := [m for m in c.get("any", [c]) if m["key"] not in METRICS])
        ]
        return found[:4]

    events = [
        {name: value for name, value in record.items() if name not in ("effects", "world_mutation")}
        | {"hidden_state_mutation": {}}
        for record in document.get("event_schedule") or []
    ]
    success = on_facts(document["success_conditions"])
    milestones = [m for m in document.get("milestones") or [] if m["condition_key"] not in METRICS]
    kept = {m["id"] for m in milestones}
    routes = [
        route | {"milestones_unlocked": [m for m in route.get("milestones_unlocked") or [] if m in kept]}
        for route in document["viable_routes"]
    ]
    return document | {
        "event_schedule": events,
        "success_conditions": success,
        "milestones": milestones,
        "viable_routes": routes,
    }


@functools.cache
def stand_still():
    """Jitted: (key, shares, params) -> the return of an episode and its largest reward."""
    env = LifeStack()
    first = env.catalogue.first(INSPECTING)

    def step(carry, key):
        state, params, shares, is_over = carry
        action_key, step_key = jax.random.split(key)
        weights = jnp.where(env.action_mask(state, params)[first:], shares, 0.0)
        drawn = jax.random.categorical(action_key, jnp.log(weights)).astype(jnp.int32)
        after, reward, terminated, _ = env.transition(step_key, state, drawn + first, params)
        reward = jnp.where(is_over, 0.0, reward)
        is_over = is_over | terminated | env.is_truncated(after, params)
        return (after, params, shares, is_over), reward

    def episode(key, shares, params):
        reset_key, play_key = jax.random.split(key)
        carry = (env.init(reset_key, params, 0), params, shares, jnp.bool_(False))
        return jax.lax.scan(step, carry, jax.random.split(play_key, STEPS))[1]

    params = env.params_for(ScenarioBank.stack([env.empty_scenario]))
    return params, jax.jit(episode)


def shares_of(upkeep):
    """[22] float32: how often each of 16 looks, five kinds of upkeep and waiting is drawn."""
    return jnp.asarray([1 / 16] * 16 + [float(share) for share in upkeep] + [0.1], jnp.float32)


UPKEEP_SHARES = st.lists(st.sampled_from([0, 0, 1, 10]), min_size=5, max_size=5)


@pytest.mark.slow
@settings(max_examples=60)
@given(documents(), UPKEEP_SHARES, st.integers(0, 2**31 - 1))
def test_no_episode_of_waits_looks_and_upkeep_earns_anything(document, upkeep, seed):
    try:
        bank = scenarios.parse("lifestack", calm(document)).bank
    except ScenarioError:  # what was left holds before the first step
        assume(False)
    params, episode = stand_still()
    rewards = np.asarray(episode(jax.random.key(seed), shares_of(upkeep), params.replace(bank=bank)), np.float64)
    assert rewards[0] < 0
    assert rewards.max() <= 0  # no single step either


@pytest.mark.slow
@pytest.mark.parametrize("difficulty", [0.0, 0.5, 1.0])
def test_nor_in_drawn_crises(difficulty):
    params, episode = stand_still()
    keys = jax.random.split(jax.random.key(5), 40)
    bank = drawn(keys, difficulty)
    for number, key in enumerate(keys):
        alone = params.replace(bank=ScenarioBank(bank[jnp.array([number])]))
        assert np.asarray(episode(key, shares_of([1, 1, 1, 1, 1]), alone)).max() <= 0
