"""Two engines, one truth: random tasks and random actions in the JAX engine and in the one written from the rules."""

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
from jaxenv.envs.lifestack.metrics import METRICS
from jaxenv.envs.lifestack.types import NEVER, UNKNOWN
from reference.lifestack import UNKNOWN as NOT_KNOWN
from reference.lifestack import Crisis
from scenarios.lifestack.facts import Facts
from strategies.lifestack import documents
from strategies.lifestack_game import members

TOLERANCE = 1e-5
RELATIONS = ("holds", "fails", "unknown")
USES = ("success", "failure", "milestones", "preconditions")


@functools.cache
def engine():
    """(env, params of one empty task, jitted reset, step and mask), compiled once for all examples."""
    env = LifeStack()
    params = env.params_for(ScenarioBank.stack([env.empty_scenario]))
    return env, params, jax.jit(env.reset_env), jax.jit(env.step_env)


def choose(number, crisis):
    """Mostly a legal entry, now and then any index, some of them out of range."""
    legal = crisis.legal()
    if number % 9 == 0:
        return number % (crisis.size + 4) - 2
    on_routes = [index for index in legal if index < 96]
    legal = on_routes if on_routes and number % 2 else legal
    return legal[number // 2 % len(legal)]


def assert_same_crisis(state, crisis, facts):
    """Facts, knowledge, routes, milestones, events, metrics, resources and clock agree."""
    truth, known = np.asarray(state.facts).tolist(), np.asarray(state.known).tolist()
    shown = {key for key in facts.keys if crisis.always_shown(key)}
    for slot, key in enumerate(facts.keys):
        assert truth[slot] == facts.code(key, crisis.facts[key]), key
        if key not in shown:
            expected = UNKNOWN if crisis.known[key] is NOT_KNOWN else facts.code(key, crisis.known[key])
            assert known[slot] == expected, key
    count = len(crisis.routes)
    assert np.asarray(state.completed)[:count].tolist() == [route.completed for route in crisis.routes]
    assert np.asarray(state.fired)[: len(crisis.fired)].tolist() == crisis.fired
    assert np.asarray(state.reached)[: len(crisis.milestones)].tolist() == [m.reached for m in crisis.milestones]
    assert np.asarray(state.metrics).tolist() == [crisis.metrics[path] for path in METRICS]
    assert (int(state.time), int(state.money), int(state.energy)) == (crisis.time, crisis.money, crisis.energy)
    assert int(state.clock) == crisis.t


def assert_same_view(observation, crisis, facts, impossible):
    """Every relation that the observation tells agrees with the one worked out from the document.

    The arrays do not know of conditions that no value satisfies, so keys of such are `impossible` to place.
    """
    o = jax.tree.map(np.asarray, observation)
    R, K, M, B = len(crisis.routes), len(facts.keys), len(crisis.milestones), len(crisis.bounds())
    assert (o.routes.exists.sum(), o.keys.exists.sum(), o.milestones.exists.sum(), o.bounds.exists.sum()) == (
        R,
        K,
        M,
        B,
    )
    for r in range(R):
        route = crisis.routes[r]
        assert bool(o.routes.open[r]) == route.workable
        for relation in RELATIONS:
            told = {key for key in facts.keys if crisis.relation(r, key) == relation}
            assert members(getattr(o.routes, relation)[r], facts.keys) == told, (relation, r)
        assert (o.routes.enables[r][:R] != 0).tolist() == [crisis.enables(r, q) for q in range(R)], r
        for name in ("breaks", "closes"):
            told = {q for q in range(R) if getattr(crisis, name)(r, q)}
            assert members(getattr(o.routes, name)[r], range(R)) == told, (name, r)
        assert (r in members(o.routes.brings_failure, range(R))) == crisis.brings_failure(r), r
        assert o.routes.shift[r][:B].tolist() == [crisis.shift(r, bound) for bound in crisis.bounds()], r
        assert bool(o.routes.serves[r]) == crisis.serves(r), (r, crisis.serving(), o.routes.serves)
    assert members(o.keys.wanted, facts.keys) == {key for key in facts.keys if crisis.wanted(key)}
    assert members(o.keys.shown, facts.keys) == {key for key in facts.keys if crisis.always_shown(key)}
    assert members(o.keys.inspectable, facts.keys) == {key for key in facts.keys if not crisis.always_shown(key)}
    for slot, key in enumerate(facts.keys):
        known = crisis.known[key] if not crisis.always_shown(key) else crisis.facts[key]
        assert o.keys.code[slot] == (UNKNOWN if known is NOT_KNOWN else facts.code(key, known))
        if key not in impossible:
            assert {use for use, keys in zip(USES, o.keys.uses, strict=True) if keys >> slot & 1} == crisis.places(key)
    for slot, bound in enumerate(crisis.bounds()):
        found = (METRICS[o.bounds.metric[slot]], o.bounds.low[slot], o.bounds.high[slot], o.bounds.holds[slot])
        assert found == (bound.metric, bound.low, bound.high, bound.holds)
        assert {use for use, bounds in zip(USES, o.bounds.uses, strict=True) if bounds >> slot & 1} == bound.used
    for m in range(M):
        assert bool(o.milestones.open[m]) == crisis.milestones[m].open
        assert bool(o.milestones.in_sight[m]) == crisis.meets(m)
    fired = [event["id"] for event, shown in zip(crisis.events, o.fired, strict=False) if shown]
    assert fired == crisis.shown_events()
    assert int(o.deadline) == (NEVER if crisis.deadline is None else crisis.deadline)


def play_both(document, numbers, seed):
    env, params, reset, step = engine()
    library = scenarios.parse("lifestack", document)
    task = library.documents[0]
    facts = Facts.of(task)
    on_facts = [(path, condition) for path, condition in task.conditions() if condition.key not in METRICS]
    never = [(path, condition.key) for path, condition in on_facts if not facts.codes(condition)]
    assume(not any(path[0] == "success_conditions" for path, _ in never))  # such an alternative is left out
    impossible = {key for _, key in never}
    params = params.replace(bank=library.bank)
    keys = jax.random.split(jax.random.key(seed), len(numbers) + 1)
    count = len(document.get("event_schedule") or [])
    crisis = Crisis(document, np.asarray(env.sample_draws(keys[0], extra=2))[2:][:count].tolist())
    observation, state = reset(keys[0], params, 0)
    for number, key in zip(numbers, keys[1:], strict=True):
        assert np.flatnonzero(observation.action_mask).tolist() == crisis.legal()
        assert_same_crisis(state, crisis, facts)
        assert_same_view(observation, crisis, facts, impossible)
        action = choose(number, crisis)
        observation, state, reward, terminated, info = step(key, state, jnp.int32(action), params)
        expected = crisis.step(action, np.asarray(env.sample_draws(key))[:count].tolist())
        assert float(reward) == pytest.approx(expected.reward, rel=TOLERANCE, abs=TOLERANCE)
        parts = {name: float(value) for name, value in vars(info["reward_parts"]).items()}
        assert parts == pytest.approx(expected.parts, rel=TOLERANCE, abs=TOLERANCE)
        assert {name: bool(value) for name, value in vars(info["ends"]).items()} == expected.ends
        assert bool(info["invalid_action"]) == (expected.parts["invalid_action"] != 0)
        assert (bool(terminated), bool(env.is_truncated(state, params))) == (expected.terminated, expected.truncated)
        if expected.terminated or expected.truncated:
            assert_same_crisis(state, crisis, facts)
            assert observation.action_mask.all()
            return


EXAMPLE = {
    "document": documents(),
    "numbers": st.lists(st.integers(0, 10_000), min_size=24, max_size=24),
    "seed": st.integers(0, 2**31 - 1),
}


@settings(max_examples=40)
@given(**EXAMPLE)
def test_the_engines_agree(document, numbers, seed):
    play_both(document, numbers, seed)


@pytest.mark.slow
@settings(max_examples=2000)
@given(**EXAMPLE)
def test_the_engines_agree_at_length(document, numbers, seed):
    play_both(document, numbers, seed)
