"""Drawn crises: of one shape, as promised, readable, winnable, and harder with difficulty."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scenarios
from jaxenv import baselines
from jaxenv.core import ScenarioBank
from jaxenv.envs.lifestack import LifeStack
from jaxenv.envs.lifestack.actions import NUM_VERBS
from jaxenv.envs.lifestack.types import NEVER, UNKNOWN, UNWRITTEN, Limits
from jaxenv.lowering import bitsets
from scenarios.solvers.lifestack import chance_to_win
from strategies.lifestack_game import drawn

ENV = LifeStack()
DIFFICULTIES = (0.0, 0.5, 1.0)
BEYOND = 2.0
COUNT = 512
every_difficulty = pytest.mark.parametrize("difficulty", DIFFICULTIES)


@functools.cache
def crises(difficulty, count=COUNT):
    """That many, as NumPy arrays."""
    return jax.device_get(drawn(jax.random.split(jax.random.key(0), count), difficulty).scenarios)


def one(found, number):
    return jax.tree.map(lambda leaf: np.asarray(leaf[number]), found)


def assert_equal(found, expected):
    jax.tree.map(np.testing.assert_array_equal, found, expected)


@pytest.mark.slow
def test_shapes_and_dtypes_are_those_of_every_scenario():
    found, empty = jax.tree.leaves(crises(0.5)), jax.tree.leaves(ENV.empty_scenario)
    assert [(leaf.shape[1:], leaf.dtype) for leaf in found] == [(leaf.shape, leaf.dtype) for leaf in empty]


@pytest.mark.slow
def test_the_same_key_draws_the_same_crisis_alone():
    alone = jax.jit(ENV.generate)(jax.random.split(jax.random.key(0), COUNT)[7], jnp.float32(0.5))
    assert_equal(alone, one(crises(0.5), 7))
    assert int(alone.horizon) > 0


def test_other_keys_draw_other_crises():
    found = crises(1.0)
    rows = np.concatenate([np.asarray(leaf).reshape(COUNT, -1) for leaf in (found.routes.required, found.metrics)], 1)
    assert len(np.unique(rows, axis=0)) == COUNT


@pytest.mark.parametrize("field", ["keys", "codes", "routes", "milestones", "events", "success", "bounds"])
def test_limits_that_are_too_small_are_refused(field):
    small = LifeStack(limits=Limits(**{field: 1}))
    with pytest.raises(ValueError, match="a drawn crisis needs"):
        small.generate(jax.random.key(0), 0.5)


# ---------------------------------------------------------------------------------------- as documents


@pytest.mark.slow
@pytest.mark.parametrize("difficulty", [*DIFFICULTIES, BEYOND])
def test_a_drawn_crisis_can_be_read_and_compiled_again(difficulty):
    bank = ScenarioBank(jax.tree.map(lambda leaf: leaf[:40], crises(difficulty)))
    library = scenarios.decompile("lifestack", bank)
    assert_equal(jax.device_get(library.bank.scenarios), bank.scenarios)


@pytest.mark.parametrize("difficulty", [*(pytest.param(d, marks=pytest.mark.slow) for d in DIFFICULTIES[:2]), 1.0])
def test_nothing_in_a_drawn_crisis_is_warned_of_but_facts_that_only_lure(difficulty):
    bank = ScenarioBank(jax.tree.map(lambda leaf: leaf[:40], crises(difficulty)))
    warnings = scenarios.decompile("lifestack", bank).warnings
    assert [text for text in warnings if "never holds" not in text] == []


def test_rewards_are_tenths_to_the_last_digit():
    found = crises(1.0)
    for rewards in (found.routes.reward, found.milestone_reward):
        tenths = np.round(rewards.astype(np.float64) * 10)
        np.testing.assert_array_equal(rewards, (tenths / 10).astype(np.float32))


@every_difficulty
def test_winning_is_worth_more_than_all_that_lies_beside(difficulty):
    found = crises(difficulty)
    stakes = found.routes.reward.sum(-1) + found.milestone_reward.sum(-1)
    assert stakes.max() < 12
    assert stakes[found.deadline == NEVER].max(initial=0) < 7


# --------------------------------------------------------------------------------- what is promised


def links(found):
    """[N] how many routes stand between the start and success, one behind the other."""
    gives = found.links.gives != 0
    meets_success = bitsets.flags(found.links.meet_success, gives.shape[1])
    level = (meets_success & (np.arange(gives.shape[1]) < found.num_routes[:, None])[:, None]).any(1)
    count = np.zeros(len(level), int)
    while level.any():
        count += level.any(1)
        level = (gives & level[:, None, :]).any(2)
    return count


def shown_keys(found):
    """[..., K] bool: always shown."""
    return bitsets.flags(found.shown, found.facts.shape[-1])


def silent_events(found):
    """[..., X] bool: never shown."""
    return bitsets.flags(found.silent, found.events.step.shape[-1])


def parts(found):
    """Which crises have each part, [N] bool by name."""
    events, routes = found.events, found.routes
    exists = np.arange(routes.required.shape[1]) < found.num_routes[:, None]
    silent, shown = silent_events(found), shown_keys(found)
    drawn_at_reset = (silent & (events.step == 0)).sum(1)
    closes = bitsets.flags(routes.closes, routes.required.shape[1])
    rivals = (closes & np.swapaxes(closes, 1, 2)).sum(2).max(1)  # of a first route of a commitment
    sure = (events.probability == 1) & (events.step > 0) & ~silent
    writes = events.writes != UNWRITTEN
    shut_by_fact = (writes & shown[:, None]).any(2) & sure
    hidden = (found.known == UNKNOWN) & ~shown
    asked = (found.routes.order > 0).any(1) | (found.success.facts[..., 0] != 0)
    brings = (routes.writes != UNWRITTEN) & asked[:, None]
    return {
        "fork": drawn_at_reset > rivals,
        "turn": rivals > 0,
        "three ways": rivals > 1,
        "shut by a fact": shut_by_fact.any(1),
        "shut for good": ((events.closes != 0) & sure).any(1),
        "wait": ((writes & hidden[:, None]).any(2) & sure).any(1),
        "trap": (exists & ~brings.any(2)).any(1),
        "bad luck": (events.step == -1).any(1),
        "bound": found.num_bounds > 0,
        "failure": (found.failure.bounds != 0).any(1) | (found.failure.facts != 0).any((1, 2)),
        "no deadline": found.deadline == NEVER,
    }


def test_every_part_appears():
    shares = {name: has.mean() for name, has in parts(crises(0.5)).items() if name != "no deadline"}
    assert min(shares.values()) > 0.03, shares
    assert 0 < parts(crises(0.0))["no deadline"].mean() < 0.5


def test_chains_are_up_to_five_links_long_and_longer_with_difficulty():
    lengths = [links(crises(difficulty)) for difficulty in DIFFICULTIES]
    assert [set(found) for found in lengths] == [{1}, {1, 2, 3, 4}, {1, 2, 3, 4, 5}]
    assert lengths[0].mean() < lengths[1].mean() < lengths[2].mean()


def test_beyond_training_routes_ask_for_more_verbs():
    """And the plan of the crisis does not change."""
    hard, beyond = crises(1.0), crises(BEYOND)
    verbs = [bitsets.flags(found.routes.required, NUM_VERBS).sum(-1) for found in (hard, beyond)]
    assert [set(count[count > 0]) for count in verbs] == [{1, 2, 3}, {4, 5, 6}]
    np.testing.assert_array_equal(links(beyond), links(hard))
    assert beyond.horizon.mean() > 1.5 * hard.horizon.mean()


def test_ways_and_traps_are_more_with_difficulty():
    easy, hard = parts(crises(0.0)), parts(crises(1.0))
    for name in ("fork", "turn", "wait", "trap", "bound"):
        assert hard[name].mean() > easy[name].mean(), name


@every_difficulty
def test_hidden_facts_are_unknown_at_reset_and_what_is_drawn_is_not_told(difficulty):
    found = crises(difficulty)
    params = ENV.params_for(ScenarioBank(found))
    observation, state = jax.jit(jax.vmap(ENV.reset_env, in_axes=(0, None, 0)))(
        jax.random.split(jax.random.key(1), COUNT), params, jnp.arange(COUNT)
    )
    is_key = np.arange(found.facts.shape[1]) < found.num_keys[:, None]
    hidden = is_key & (found.known == UNKNOWN) & ~shown_keys(found)
    assert hidden.any(1).all()
    assert (np.asarray(observation.keys.code)[hidden] == UNKNOWN).all()
    assert not np.asarray(observation.fired).any()
    if difficulty:
        fired = np.asarray(state.fired)[silent_events(found)]
        assert 0.35 < fired.mean() < 0.65


@pytest.mark.parametrize("difficulty", [*DIFFICULTIES, BEYOND])
def test_nothing_is_decided_before_the_first_step(difficulty):
    found = crises(difficulty)
    assert ((found.metrics > 0) & (found.metrics < 100 * 100_000)).all()
    assert (found.horizon > 0).all()
    assert (found.energy <= 100 * 100).all()
    assert (found.success.facts[..., 0] >> found.facts & 1 == 0).all()
    assert (found.failure.facts[..., 0] >> found.facts & 1 == 0).all()
    last = np.minimum(found.deadline, found.horizon)
    steps = np.where(found.events.step == NEVER, 0, found.events.step)
    assert (steps < last[:, None]).all()


# ---------------------------------------------------------------------------------------- how hard


@functools.cache
def winners(name):
    """Jitted: (keys, params) -> [COUNT] bool, whether a policy wins each crisis of the bank once."""
    policy = baselines.for_environment(ENV)[name]

    def episode(key, number, params):
        first, rest = jax.random.split(key)

        def step(carry):
            state, key, _, _ = carry
            key, policy_key, step_key = jax.random.split(key, 3)
            action = policy(policy_key, ENV.observe(state, params), params)
            state, _, terminated, info = ENV.transition(step_key, state, action, params)
            return state, key, terminated | ENV.is_truncated(state, params), info["ends"].success

        start = (ENV.init(first, params, number), rest, jnp.bool_(False), jnp.bool_(False))
        return jax.lax.while_loop(lambda carry: ~carry[2], step, start)[3]

    return jax.jit(jax.vmap(episode, in_axes=(0, 0, None)))


def win_rate(name, difficulty):
    keys = jax.random.split(jax.random.key(2), COUNT)
    params = ENV.params_for(ScenarioBank(crises(difficulty)))
    return float(winners(name)(keys, jnp.arange(COUNT), params).mean())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least_at_first", "most_at_last"), [("Random", 0.2, 0.05), ("Greedy", 0.85, 0.65)])
def test_baselines_win_less_with_difficulty(name, least_at_first, most_at_last):
    easy, middling, hard = (win_rate(name, difficulty) for difficulty in DIFFICULTIES)
    assert easy > middling + 0.05 > hard + 0.1
    assert easy > least_at_first
    assert hard < most_at_last


@pytest.mark.slow
@pytest.mark.parametrize(("difficulty", "count"), [(0.0, 1000), (0.5, 1000), (1.0, 200)])  # a hard one takes seconds
def test_the_planner_wins_99_of_100(difficulty, count):
    found = crises(difficulty, count)
    least = np.array([chance_to_win(one(found, number), seconds=120.0)[0] for number in range(count)])
    assert (least > 1 - 1e-9).mean() >= 0.99  # with certainty
