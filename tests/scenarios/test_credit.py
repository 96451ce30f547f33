"""Credit by turn: exact values are the solver's, and rollouts are what `evaluate` plays."""

import json

import jax
import numpy as np
import pytest

import jaxenv
import scenarios
from jaxenv import baselines
from jaxenv.rendering.view import scenario_of, to_host
from scenarios.credit import values
from scenarios.libraries import RETURNS
from scenarios.solvers.lifestack import search

STORED = json.loads(RETURNS.read_text("utf-8"))
DAYS = scenarios.load("lifeops")
LONG = ("LifeOps-Shaped-v0", "edge_deadline_1")  # a million states


@pytest.mark.parametrize("id", ["LifeOps-v0", pytest.param("LifeOps-Shaped-v0", marks=pytest.mark.slow)])
def test_exact_values_are_the_known_returns_of_the_library(id: str) -> None:
    env, params = jaxenv.make(id)
    credit = scenarios.Credit()
    for number, day in enumerate(DAYS.ids):
        if (id, day) != LONG:
            found = credit.values(env, params, env.init(jax.random.key(0), params, number))
            assert found.is_exact
            assert found.of_state == pytest.approx(STORED[id][day]["best"], abs=1e-4)
            assert found.of_state == found.of_actions.max()


def test_rollouts_are_played_by_a_policy_without_memory() -> None:
    """That of Week would begin in the middle with nothing remembered."""
    assert values.policy_of(jaxenv.make("Week-v0")[0])[0] == "Rule-based"
    assert values.policy_of(jaxenv.make("LifeOps-v0")[0])[0] == "PPO"


QUICK = ("car_breakdown_task", "code_merge_task_fallback", "finance_crisis", "flight_crisis_task_main", "mental_crisis",
         "rideshare_surge_task", "time_crisis", "transit_strike_task")  # fmt: skip
LONGER = ("custody_hearing", "exam_resit", "flood_claim", "funeral_abroad", "payroll_gap", "server_outage", "tax_audit")


@pytest.fixture(scope="module")
def crises():
    """(environment, params with the library, ids, compiled start of a crisis)."""
    library = scenarios.load("lifestack")
    env, params = jaxenv.make("LifeStack-v0")
    params = params.replace(bank=library.bank)
    start = jax.jit(lambda number: env.init(jax.random.key(0), params, number))
    return env, params, library.ids, lambda id: to_host(start(library.index(id)))


@pytest.mark.parametrize("id", [*QUICK, *(pytest.param(id, marks=pytest.mark.slow) for id in LONGER)])
def test_exact_values_of_crises_are_the_known_returns(crises, id: str) -> None:
    env, params, _, start = crises
    found = scenarios.Credit().values(env, params, start(id))
    assert found.is_exact
    assert STORED["LifeStack-v0"][id]["best_is"] == "exact"
    assert found.of_state == pytest.approx(STORED["LifeStack-v0"][id]["best"], abs=1e-3)


@pytest.mark.slow
def test_a_crisis_whose_search_is_long_has_rollouts(crises, monkeypatch: pytest.MonkeyPatch) -> None:
    env, params, _, start = crises
    monkeypatch.setattr(search.Worth.of_actions, "__defaults__", (0.01,))
    assert not scenarios.Credit(rollouts=1).values(env, params, start("visa_permit")).is_exact


def is_same(searched, played) -> bool:
    """Whether states are the same but for time, money and energy that cannot be used, of which a search drops more."""
    if searched is None or played is None:
        return searched is played
    left = ("time", "money", "energy")
    is_less = all(getattr(searched, name) <= getattr(played, name) for name in left)
    return is_less and searched._replace(**{name: getattr(played, name) for name in left}) == played


def test_the_game_that_is_searched_is_the_environment(crises) -> None:
    """Each step of random episodes is one of the outcomes of the game: its state, its end and its reward."""
    env, params, ids, start = crises
    step, mask = jax.jit(env.transition), jax.jit(env.action_mask)
    dice, steps = np.random.default_rng(0), 0
    for number, id in enumerate(ids):
        state, model = start(id), search.Worth(scenario_of(params, start(id)), params.weights).model
        while True:
            now, legal = search.state_of(model, state), np.flatnonzero(mask(state, params))
            action = int(dice.choice(legal))
            before, entry = search.entry_of(model, now, action)
            outcomes = model.outcomes(before, entry)
            after, reward, ended, _ = to_host(step(jax.random.key(100 * number + steps), state, action, params))
            is_over = bool(ended) or int(after.clock) >= int(params.bank.scenarios.horizon[number])
            found = None if is_over else search.state_of(model, after)
            matching = [each for each in outcomes if is_same(each.state, found)]
            assert matching, (id, action)
            assert min(abs(each.reward - float(reward)) for each in matching) < 1e-4, (id, action)
            state, steps = after, steps + 1
            if is_over:
                break
    assert steps > 150


def test_the_best_actions_have_no_advantage_and_earn_the_best_return() -> None:
    env = scenarios.TextEnv("LifeOps-Shaped-v0", "s5_late_meeting", credit=scenarios.Credit())
    env.reset()
    total, done, mistakes = 0.0, False, []
    while not done:
        snapshot = env.snapshot()
        worst = max(env.legal_actions)
        _, reward, _, info = env.step(worst)
        mistakes.append(info["advantage"])
        best = info["best_action"]
        env.restore(snapshot)
        _, reward, done, info = env.step(best)
        assert (info["advantage"], info["best_action"]) == (0.0, best)
        total += reward
    assert total == pytest.approx(STORED["LifeOps-Shaped-v0"]["s5_late_meeting"]["best"], abs=1e-4)
    assert max(mistakes) <= 0 > min(mistakes)


def test_an_action_that_is_not_legal_has_no_advantage() -> None:
    env = scenarios.TextEnv("LifeOps-v0", "easy_1", credit=scenarios.Credit())
    env.reset()
    assert env.step("9")[3]["advantage"] is None
    assert "advantage" not in scenarios.TextEnv("LifeOps-v0").step("0")[3]


def test_credit_is_for_one_agent() -> None:
    env, params = jaxenv.make("TeamsClone-MultiAgent-v1")
    with pytest.raises(scenarios.ScenarioError, match="MultiAgent-v1 has several agents, and credit is for one"):
        scenarios.Credit().values(env, params, None)


@pytest.mark.slow
def test_rollouts_of_a_policy_without_chance_are_its_return() -> None:
    """Where a step draws nothing, a state is worth what the policy earns from there on, whatever the draws."""
    env, params = jaxenv.make("LifeOps-v0")
    policy = baselines.for_environment(env)["Careful"]
    returns = jaxenv.evaluate(policy, env, params).returns[:, 0]
    credit = scenarios.Credit(rollouts=3, policy=policy)
    for number in (0, 4, 7):
        observation, state = env.reset(jax.random.key(0), params, number)
        found = credit.values(env, params, state)
        assert not found.is_exact
        assert found.of_state == pytest.approx(float(returns[number]), abs=1e-4)
        taken = int(policy(jax.random.key(0), observation, params))
        assert found.of_actions[taken] == pytest.approx(found.of_state, abs=1e-4)
        assert np.isfinite(found.of_actions).tolist() == observation.action_mask.tolist()
        other = max(set(np.flatnonzero(observation.action_mask).tolist()))
        after, reward, ended, _ = env.transition(jax.random.key(0), state, other, params)
        rest = 0.0 if ended else credit.values(env, params, to_host(after)).of_state
        assert found.of_actions[other] == pytest.approx(float(reward) + rest, abs=1e-4)


@pytest.mark.slow
def test_rollouts_draw_the_chance_of_a_step() -> None:
    """Random play of a chat, beside `evaluate`, within four standard errors; actions share their draws."""
    env, params = jaxenv.make("TeamsClone-v0")
    state = env.init(jax.random.key(1), params, 0)
    policy = baselines.random_policy
    found = scenarios.Credit(rollouts=128, policy=policy).values(env, params, state)
    played = np.asarray(jaxenv.evaluate(policy, env, params, repetitions=512).returns[0])
    assert abs(found.of_state - played.mean()) < 4 * played.std() * (1 / 128 + 1 / 512) ** 0.5
    again = scenarios.Credit(rollouts=128, policy=policy).values(env, params, state)
    assert np.array_equal(again.of_actions, found.of_actions)
    other = scenarios.Credit(rollouts=128, policy=policy, seed=1).values(env, params, state)
    assert other.of_state != found.of_state


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(scenarios.ScenarioError, match="rollouts is 0"):
        scenarios.Credit(rollouts=0)
    with pytest.raises(scenarios.ScenarioError, match="the seed is -1"):
        scenarios.Credit(seed=-1)
