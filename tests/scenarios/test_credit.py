"""Credit by turn: exact values are the solver's, and rollouts are what `evaluate` plays."""

import json

import jax
import numpy as np
import pytest

import jaxenv
import scenarios
from jaxenv import baselines
from jaxenv.rendering.view import to_host
from scenarios.libraries import RETURNS

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
