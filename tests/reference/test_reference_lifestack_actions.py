"""The reference engine of LifeStack against worked cases: actions and their costs, routes, milestones."""

from __future__ import annotations

import pytest

from reference.lifestack import UNKNOWN
from reference.lifestack_cases import WAIT, act, crisis, ends, legal, nonzero, route
from reference.lifestack_rules import (
    ROMANTIC,
    STRESS,
)

# ---------------------------------------------------------------------------------- actions and costs


def test_cost_is_shared_rounded_up_and_money_is_paid_with_spend() -> None:
    cost = {"time": 1, "energy": 10, "money": 99.99}
    win = route("win", "plan", "spend", "wait", cost=cost, consequences={"won": True})
    game = crisis(viable_routes=[win], resources={"time": 10, "money": 100})
    assert (game.time, game.money, game.energy) == (1000, 10_000, 10_000)
    act(game, "wait", "win")  # 0 + 0.34 h, 0 + 3.34 energy
    assert (game.time, game.money, game.energy) == (966, 10_000, 9666)
    act(game, "spend", "win")
    assert (game.time, game.money, game.energy) == (966 - 84, 1, 9666 - 534)
    act(game, "plan", "win")
    assert game.money == 1
    assert game.routes[0].completed


def test_money_without_spend_is_paid_on_completion() -> None:
    win = route("win", "plan", "prepare", cost={"money": 50}, preconditions={"h": 1})
    game = crisis(viable_routes=[win], resources={"money": 40}, hidden_state={"h": 1})
    assert legal(game, "plan", "win")
    act(game, "plan", "win")
    assert not legal(game, "prepare", "win")  # the last verb would pay 50 of 40
    game = crisis(viable_routes=[win], hidden_state={"h": 1})
    act(game, "prepare", "win")
    assert game.money == 200_000
    act(game, "plan", "win")
    assert game.money == 195_000


def test_what_spend_has_paid_stays_paid_when_a_later_verb_fails() -> None:
    win = route("win", "spend", "plan", cost={"money": 50}, preconditions={"h": 1})
    game = crisis(viable_routes=[win], hidden_state={"h": 0})
    act(game, "spend", "win")
    act(game, "plan", "win")
    assert (game.money, game.routes[0].marks) == (195_000, {"spend"})
    act(game, "plan", "win")
    assert game.money == 195_000


def test_no_required_verbs_means_execute() -> None:
    game = crisis(viable_routes=[route("win", consequences={"won": True})])
    assert [game.document_action(index)["action_type"] for index in game.legal() if index < 96] == ["execute"]
    assert ends(act(game, "execute", "win")) == ["success"]


def test_energy_stays_between_its_bounds_and_a_gain_is_always_payable() -> None:
    game = crisis(resources={"energy": 90.5})
    act(game, "rest")
    assert (game.energy, game.time) == (10_000, 1900)
    tired = crisis(resources={"energy": 0})
    assert legal(tired, "rest")
    assert legal(tired, "self_care")
    assert not legal(tired, "deprioritize")
    assert not legal(tired, "execute", "win")
    act(tired, "self_care")
    assert tired.energy == 500
    # a route's own energy comes on top: 30 − 15 is paid
    hard = crisis(viable_routes=[route("win", "rest", cost={"energy": 30})], resources={"energy": 14.99})
    assert not legal(hard, "rest", "win")


def test_resources_by_default() -> None:
    assert [(game.time, game.money, game.energy) for game in [crisis()]] == [(2000, 200_000, 10_000)]
    assert crisis(constraints={"budget_max": 75.5}).money == 7550
    assert crisis(constraints={"budget_max": 75}, resources={"money": 80}).money == 7500
    assert crisis(constraints={"budget_max": 75}, resources={"money": 0}).money == 0
    assert crisis(resources={"time": 0}).time == 0


def test_without_time_only_waiting_is_left() -> None:
    game = crisis(resources={"time": 0.49}, viable_routes=[route("win", "wait", "plan")], hidden_state={"h": 1})
    assert [game.document_action(index) for index in game.legal()] == [{"action_type": "wait", "target": "win"}, WAIT]


def test_a_verb_is_marked_once_and_only_if_the_route_needs_it() -> None:
    game = crisis(viable_routes=[route("win", "plan", "execute")])
    assert not legal(game, "spend", "win")
    act(game, "plan", "win")
    assert not legal(game, "plan", "win")
    assert legal(game, "execute", "win")


def test_illegal_entries_wait_and_pay() -> None:
    for index in (1, 97, 118, 500, -1):
        game = crisis()
        step = game.step(index, [])
        assert nonzero(step) == {"step_cost": -0.08, "invalid_action": -0.4}
        assert (game.t, game.time, game.energy) == (1, 2000, 10_000)


def test_upkeep() -> None:
    game = crisis()
    step = act(game, "communicate")
    assert (game.time, game.energy) == (1950, 9500)
    assert game.metrics[ROMANTIC] == 80 * 100_000
    assert game.metrics[STRESS] == 4_000_000 - 501_069
    assert set(nonzero(step)) == {"step_cost", "wellbeing"}
    assert step.parts["wellbeing"] == pytest.approx(0.044604, abs=1e-6)


# ----------------------------------------------------------------------------- routes and milestones


def test_completion() -> None:
    game = crisis(
        viable_routes=[
            route(
                "a",
                "plan",
                preconditions={"h": 1},
                consequences={"done": 7, "gone": None},
                closes_routes=["b"],
                milestones_unlocked=["m"],
                final_reward=2.5,
                effects={"relationships.family": -3},
            ),
            route("b", "plan"),
            route("c", "plan"),
        ],
        hidden_state={"h": 1},
        mutable_world={"gone": 1},
        milestones=[
            {"id": "m", "condition_key": "done", "condition_op": "gt", "condition_value": 6, "reward": 0.75},
            {"id": "n", "condition_key": "gone", "condition_value": None, "reward": 0.5},
        ],
    )
    assert [milestone.open for milestone in game.milestones] == [False, True]
    step = act(game, "plan", "a")
    assert (step.parts["routes"], step.parts["milestones"]) == (2.5, 1.25)
    assert [(each.open, each.completed) for each in game.routes] == [(True, True), (False, False), (True, False)]
    assert (game.facts["done"], game.facts["gone"], game.known["h"], game.known["done"]) == (7, None, 1, 7)
    assert game.metrics["relationships.family"] == 67 * 100_000
    assert not legal(game, "plan", "a")
    assert not legal(game, "plan", "b")
    later = act(game, "wait")
    assert (later.parts["routes"], later.parts["milestones"]) == (0, 0)


def test_a_closed_route_that_was_completed_stays_completed() -> None:
    game = crisis(viable_routes=[route("a", "plan"), route("b", "plan", closes_routes=["a"])])
    act(game, "plan", "a")
    act(game, "plan", "b")
    assert (game.routes[0].open, game.routes[0].completed) == (False, True)


def test_a_locked_milestone_waits_and_an_event_milestone_is_reached_a_step_later() -> None:
    game = crisis(
        viable_routes=[route("win", "plan", milestones_unlocked=["locked"])],
        milestones=[
            {"id": "locked", "condition_key": "e", "condition_value": 1, "reward": 1},
            {"id": "open", "condition_key": "e", "condition_value": 1, "reward": 2},
        ],
        event_schedule=[{"step": 1, "id": "e", "world_mutation": {"e": 1}}],
    )
    assert act(game, "wait").parts["milestones"] == 0  # the event fires after the judgement
    assert game.known["e"] is UNKNOWN
    assert act(game, "wait").parts["milestones"] == 2
    assert game.known["e"] == 1  # reaching it tells
    assert act(game, "plan", "win").parts["milestones"] == 1
