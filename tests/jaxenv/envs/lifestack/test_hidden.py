"""What was not looked at, what is to come, and what routes need of the unknown never reach an observation."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scenarios
from jaxenv.core import ScenarioBank
from jaxenv.envs.lifestack import LifeStack
from jaxenv.envs.lifestack.types import UNKNOWN
from jaxenv.lowering import bitsets
from strategies.lifestack import documents
from strategies.lifestack_game import UNKNOWN as NOT_KNOWN
from strategies.lifestack_game import Game, drawn, event, win

STEPS = 8


def unknown(state, params):
    """[K] bool: what the agent does not know."""
    return (state.known == UNKNOWN) & ~bitsets.flags(params.bank.scenarios.shown[0], state.known.size)


def scramble(key, state, params):
    """Other values of unknown facts, other needs of them, other events; what has fired is told, and so stays."""
    crises = params.bank.scenarios
    hidden = unknown(state, params)
    keys = iter(jax.random.split(key, 8))

    def noise(column, low, high):
        return jax.random.randint(next(keys), column.shape, low, high).astype(column.dtype)

    def to_come(column, replacement):
        return jnp.where(state.fired.reshape((1, -1) + (1,) * (column.ndim - 2)), column, replacement)

    fired = bitsets.of_flags(state.fired)

    routes, events = crises.routes, crises.events
    needs = jnp.where(hidden[None, None], noise(routes.preconditions, 0, 256), routes.preconditions)
    events = events.replace(
        step=to_come(events.step, noise(events.step, -1, 20)),
        probability=to_come(events.probability, jax.random.uniform(next(keys), events.probability.shape)),
        writes=to_come(events.writes, noise(events.writes, -1, 4)),
        closes=to_come(events.closes, noise(events.closes, 0, 256)),
        effects=to_come(events.effects, noise(events.effects, -(10**6), 10**6)),
    )
    silent = (crises.silent & fired) | (noise(crises.silent, 0, 256) & ~fired)
    crises = crises.replace(routes=routes.replace(preconditions=needs), events=events, silent=silent)
    facts = jnp.where(hidden, noise(state.facts, 0, 8), state.facts)
    return state.replace(facts=facts), params.replace(bank=params.bank.replace(scenarios=crises))


@functools.cache
def play():
    """Jitted: (key, params) -> what the agent is given at each step of random play, in truth and scrambled."""
    env = LifeStack()

    def view(state, params):
        observation = env.observe(state, params)
        return observation, env.entities(observation, params), env.action_mask(state, params)

    def step(carry, key):
        state, params, is_over = carry
        scramble_key, action_key, step_key = jax.random.split(key, 3)
        told, told_otherwise = view(state, params), view(*scramble(scramble_key, state, params))
        scores = jax.random.uniform(action_key, (env.num_actions,)) + told[2].astype(jnp.float32)
        after, _, terminated, _ = env.transition(step_key, state, jnp.argmax(scores).astype(jnp.int32), params)
        is_over = is_over | terminated | env.is_truncated(after, params)
        state = jax.tree.map(lambda new, old: jnp.where(is_over, old, new), after, state)
        hidden = jnp.sum(unknown(state, params))
        return (state, params, is_over), (told, told_otherwise, hidden)

    def episode(key, params):
        reset_key, play_key = jax.random.split(key)
        carry = (env.init(reset_key, params, 0), params, jnp.bool_(False))
        return jax.lax.scan(step, carry, jax.random.split(play_key, STEPS))[1]

    return env.params_for(ScenarioBank.stack([env.empty_scenario])), jax.jit(episode)


def assert_nothing_shows(bank, seed):
    params, episode = play()
    told, told_otherwise, _ = episode(jax.random.key(seed), params.replace(bank=bank))
    jax.tree.map(np.testing.assert_array_equal, told, told_otherwise)


@settings(max_examples=60)
@given(documents(), st.integers(0, 2**31 - 1))
def test_no_observation_mask_or_feature_depends_on_what_is_hidden(document, seed):
    assert_nothing_shows(scenarios.parse("lifestack", document).bank, seed)


@pytest.mark.slow
@settings(max_examples=20)
@given(st.integers(0, 2**31 - 1), st.sampled_from([0.0, 0.5, 1.0]))
def test_nor_in_a_drawn_crisis(seed, difficulty):
    assert_nothing_shows(drawn(jax.random.split(jax.random.key(seed), 1), difficulty), seed)


def test_the_scramble_is_seen_where_something_was_looked_at():
    """What the property leaves alone does show, so that it says something."""
    hides = {"hidden_state": {"h": 1}, "viable_routes": [win("plan", preconditions={"h": 1})]}
    game = Game(**hides, event_schedule=[event(step=9, hidden_state_mutation={"h": 2})])
    other = Game(**hides | {"hidden_state": {"h": 2}}, event_schedule=[event(step=9, hidden_state_mutation={"h": 1})])
    assert game.known("h") == other.known("h") == NOT_KNOWN
    assert game.relations() == other.relations()
    game.act("inspect", "h")
    other.act("inspect", "h")
    assert (game.known("h"), other.known("h")) == (1, 2)
    assert game.relations() != other.relations()
