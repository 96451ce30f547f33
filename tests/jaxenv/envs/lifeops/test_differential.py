"""Two engines, one truth: random days and random actions in the JAX engine and in the one written from the rules."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jaxenv
import scenarios
from jaxenv.envs.lifeops.types import ABSENT, KINDS
from reference import lifeops as reference
from strategies.lifeops import documents

RULES = {"LifeOps-v0": "classic", "LifeOps-Shaped-v0": "shaped"}
TOLERANCE = 1e-5


@functools.cache
def engine(env_id):
    """(env, default params, jitted step and both masks) of a rule set, compiled once for all examples."""
    env, params = jaxenv.make(env_id)

    @jax.jit
    def look(state, params):
        return env.action_mask(state, params), env.feasible_mask(state, params)

    return env, params, jax.jit(env.step_env), look


def choose(number, day):
    """Mostly a legal entry, now and then any index, some of them out of range."""
    legal = day.legal()
    if number % 7 == 0 or not legal:
        return number % (day.catalogue_size + 4) - 2
    return legal[number % len(legal)]


def assert_same_day(state, day, library):
    """Calendar (sorted, ties in calendar order), queue, work and clock agree."""
    count = len(day.calendar)
    expected = sorted(day.calendar, key=lambda event: (event["start_min"], event["end_min"]))
    found = list(zip(*(np.asarray(column)[:count].tolist() for column in jax.tree.leaves(state.calendar)), strict=True))
    assert [(start, end, KINDS[kind], importance) for start, end, _, kind, importance in found] == [
        (e["start_min"], e["end_min"], e["kind"], e["importance"]) for e in expected
    ]
    place_codes = [place for _, _, place, _, _ in found]
    names = {code: e["location"] for code, e in zip(place_codes, expected, strict=True)}
    assert [names[code] for code in place_codes] == [e["location"] for e in expected]
    assert (np.asarray(state.calendar.start)[count:] == ABSENT).all()
    left = [task["remaining_minutes"] for task in sorted(day.tasks, key=lambda t: (-t["priority"], t["task_id"]))]
    assert np.asarray(state.minutes_left)[: len(left)].tolist() == left
    assert int(state.clock) == day.clock


def play_both(env_id, document, numbers, departure_min):
    env, params, step, look = engine(env_id)
    library = scenarios.parse("lifeops", document)
    params = params.replace(bank=library.bank, departure_min=jnp.int32(departure_min))
    day = reference.Day(document, RULES[env_id], departure_min=departure_min)
    _, state = env.reset(jax.random.key(0), params, 0)
    for number in numbers:
        legal, feasible = look(state, params)
        assert np.flatnonzero(legal).tolist() == day.legal()
        assert np.flatnonzero(feasible).tolist() == day.feasible()
        action = choose(number, day)
        _, state, reward, terminated, info = step(jax.random.key(0), state, jnp.int32(action), params)
        expected = day.step(action)
        assert float(reward) == pytest.approx(expected.reward, rel=TOLERANCE, abs=TOLERANCE)
        parts = {name: float(value) for name, value in vars(info["reward_parts"]).items()}
        assert parts == pytest.approx(expected.parts, rel=TOLERANCE, abs=TOLERANCE)
        assert bool(info["invalid_action"]) == (expected.parts["invalid_action"] != 0)
        assert int(state.overlaps) == len(expected.overlaps)
        assert (bool(terminated), bool(env.is_truncated(state, params))) == (expected.terminated, expected.truncated)
        assert_same_day(state, day, library)
        if expected.terminated or expected.truncated:
            assert look(state, params)[0].all()
            return


EXAMPLE = {
    "document": documents(),
    "numbers": st.lists(st.integers(0, 10_000), min_size=14, max_size=14),
    "departure_min": st.sampled_from([0, 0, 480, 540]),
}


@pytest.mark.parametrize("env_id", RULES)
@settings(max_examples=60)
@given(**EXAMPLE)
def test_the_engines_agree(env_id, document, numbers, departure_min):
    play_both(env_id, document, numbers, departure_min)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", RULES)
@settings(max_examples=2000)
@given(**EXAMPLE)
def test_the_engines_agree_at_length(env_id, document, numbers, departure_min):
    play_both(env_id, document, numbers, departure_min)
