"""The reference engine of LifeStack against worked cases: metrics, conditions, knowledge, actions, routes."""

from __future__ import annotations

from typing import Any

import pytest

from reference.lifestack import UNKNOWN, Crisis
from reference.lifestack_cases import WAIT, act, crisis, ends, legal, nonzero, route
from reference.lifestack_document import condition, precondition
from reference.lifestack_rules import (
    FREE_HOURS,
    LIQUIDITY,
    METRICS,
    ROMANTIC,
    STRESS,
    TOP,
    UPKEEP,
    VERBS,
    WORKLOAD,
    adjusted,
    influence,
    spread,
)

# ------------------------------------------------------------------------------ metrics and cascade


def test_golden_of_the_cascade() -> None:
    game = crisis(disruption={WORKLOAD: 30})
    values = {metric: value / 1e5 for metric, value in game.metrics.items()}
    assert len(values) == 23
    assert values[WORKLOAD] == 75
    assert values[STRESS] == 55.192
    assert values[FREE_HOURS] == 55.6
    assert values["physical_health.sleep_quality"] == 64.98664
    assert game.metrics[STRESS] == 5_519_200


def test_no_upkeep_pays_for_its_step() -> None:
    gains = {}
    for verb in UPKEEP:
        moved = spread(VERBS[verb].upkeep or {}).items()
        gains[verb] = 4 * sum(adjusted(metric, change) - adjusted(metric, 0) for metric, change in moved) / (23 * TOP)
    assert max(gains, key=gains.__getitem__) == "rest"
    assert gains["rest"] == pytest.approx(0.0528, abs=5e-5)


def test_a_spread_is_four_hops_deep() -> None:
    # Workload, stress, sleep, energy, fitness is the only way of at most four hops; by free hours it takes five.
    product = 0.7 * -0.55 * 0.5 * 0.3
    assert float(influence(WORKLOAD)["physical_health.fitness"]) == pytest.approx(0.6**4 * product, abs=1e-12)


def test_every_entry_is_rounded_on_its_own_half_to_even() -> None:
    # One unit of 1e-5 on free hours brings 0.27 units to social, two bring 0.54.
    assert spread({FREE_HOURS: 0.00001})["relationships.social"] == 0
    assert spread({FREE_HOURS: 0.00002})["relationships.social"] == 1
    assert spread({FREE_HOURS: 0.000005})[FREE_HOURS] == 0  # 0.5 units
    assert spread({FREE_HOURS: 0.000015})[FREE_HOURS] == 2  # 1.5 units
    # −0.36 units and −0.24 units reach stress: each rounds to 0 before they are added.
    both = spread({LIQUIDITY: 0.00001, "finances.long_term_health": 0.00001})
    assert both[STRESS] == 0
    assert both[LIQUIDITY] == 1


def test_the_deltas_of_a_phase_are_added_and_then_clipped() -> None:
    up = {"step": 1, "id": "up", "effects": {"relationships.family": 50}}
    down = {"step": 1, "id": "down", "effects": {"relationships.family": -60}}
    game = crisis(event_schedule=[up, down])
    act(game, "wait")
    assert game.metrics["relationships.family"] == 60 * 100_000
    # A verb and the route that it completes are two phases: 40 − 8 + 65 would be 97.
    win = route("win", "rest", effects={STRESS: 65}, consequences={"won": True})
    game = crisis(viable_routes=[win], disruption={STRESS: -39})
    act(game, "rest", "win")
    assert game.metrics[STRESS] > 65 * 100_000  # 1 − 8 was clipped to 0 first


# --------------------------------------------------------------------------------------- conditions


@pytest.mark.parametrize(
    ("op", "wanted", "value", "holds"),
    [
        ("eq", True, True, True),
        ("eq", True, 1, False),
        ("eq", 1, True, False),
        ("eq", 1, 1.0, True),
        ("eq", "1", 1, False),
        ("eq", None, None, True),
        ("eq", 0, None, False),
        ("eq", [1, True], [1.0, True], True),
        ("eq", [1], [True], False),
        ("eq", {"a": 1}, {"a": 1.0}, True),
        ("ne", 1, None, True),
        ("ne", 1, True, True),
        ("ne", 1, 1.0, False),
        ("ne", None, None, False),
        ("ne", None, 3, True),
        ("gt", 1, 1, False),
        ("gt", 1, 1.5, True),
        ("ge", 1, 1.0, True),
        ("lt", 1, True, False),
        ("lt", 1, 0.5, True),
        ("le", 1, 1, True),
        ("le", 1, None, False),
        ("le", True, 0, False),
        ("gt", "a", "b", False),
    ],
)
def test_operators(op: str, wanted: Any, value: Any, holds: bool) -> None:
    assert condition("fact", wanted, op).allows(value) is holds


def test_bounds_of_metrics_are_closed_integers() -> None:
    def bounds(op: str, value: float) -> tuple[int, int]:
        found = condition(STRESS, value, op)
        return found.low, found.high

    assert bounds("gt", 50) == (5_000_001, TOP)
    assert bounds("ge", 50) == (5_000_000, TOP)
    assert bounds("lt", 50) == (0, 4_999_999)
    assert bounds("le", 50) == (0, 5_000_000)
    # 55.000005 lies between two units.
    assert bounds("gt", 55.000005) == (5_500_001, TOP)
    assert bounds("ge", 55.000005) == (5_500_001, TOP)
    assert bounds("lt", 55.000005) == (0, 5_500_000)
    assert bounds("le", 55.000005) == (0, 5_500_000)
    assert bounds("ge", 55.0005) == (5_500_050, TOP)
    with pytest.raises(ValueError, match="compare"):
        condition(STRESS, 50)


def test_a_mapping_is_an_operator_only_with_both_fields() -> None:
    assert precondition("fact", {"op": "gt", "value": 1}).allows(2)
    assert precondition("fact", {"value": 1}).allows({"value": 1})


# --------------------------------------------------------------------- keys, knowledge and catalogue


def test_order_of_the_key_slots() -> None:
    game = crisis(
        hidden_state={"h": 1},
        mutable_world={"m": 1, "both": 2},
        visible_world={"both": 2, "v": 3},
        viable_routes=[
            route("a", preconditions={"p": 1, STRESS: {"op": "lt", "value": 90}}, consequences={"c": 1, "m": 2}),
            route("b", preconditions={"q": 1}),
        ],
        milestones=[{"id": "m1", "condition_key": "mile", "condition_value": 1}],
        success_conditions=[{"any": [{"key": "s1", "value": 1}, {"key": "s2", "value": 1}]}, {"key": "s0", "value": 1}],
        failure_conditions=[{"key": "f", "value": 1}],
        event_schedule=[{"step": 3, "id": "e", "hidden_state_mutation": {"eh": 1}, "world_mutation": {"ew": 1}}],
    )
    assert game.keys == ["h", "m", "both", "v", "p", "c", "q", "mile", "s1", "s2", "s0", "f", "ew", "eh"]
    assert game.known == {
        **dict.fromkeys(game.keys),
        "h": UNKNOWN,  # hidden
        "ew": UNKNOWN,  # an event writes it
        "eh": UNKNOWN,  # hidden by its mutation
        "m": 1,
        "both": 2,
        "v": 3,
    }
    assert game.facts["eh"] is None
    shown = [key for key in game.keys if game.always_shown(key)]
    assert shown == ["both", "v"]


def test_catalogue() -> None:
    game = crisis(hidden_state={"h": 1})
    assert game.size == 118
    assert game.document_action(0) == {"action_type": "communicate", "target": "win"}
    assert game.index_of({"action_type": "execute", "target": "win"}) == 80
    assert game.document_action(96) == {"action_type": "inspect", "target": "h"}
    assert [game.document_action(index) for index in range(112, 118)] == [
        {"action_type": verb, "target": None}
        for verb in ("rest", "self_care", "delegate", "deprioritize", "communicate", "wait")
    ]
    small = Crisis(game.document, [], routes=2, keys=3)
    assert small.size == 12 * 2 + 3 + 6
    assert small.document_action(small.size - 1) == WAIT
    for index in game.legal():
        assert game.index_of(game.document_action(index)) == index
    for index in (1, 98, 118, -1):  # empty slots, and no entries at all
        with pytest.raises(ValueError, match="entry"):
            game.document_action(index)


def test_knowledge_is_as_of_the_last_look() -> None:
    game = crisis(
        hidden_state={"h": 1},
        visible_world={"v": 1},
        event_schedule=[
            {"step": 2, "id": "e", "hidden_state_mutation": {"h": 2}, "world_mutation": {"v": 2, "w": 2}},
        ],
    )
    assert (game.known["h"], game.known["v"], game.known["w"]) == (UNKNOWN, 1, UNKNOWN)
    assert not legal(game, "inspect", "v")  # always shown
    act(game, "inspect", "h")
    assert (game.known["h"], game.time, game.energy) == (1, 1950, 10_000)
    act(game, "inspect", "w")
    assert (game.known["h"], game.facts["h"], game.known["v"], game.known["w"]) == (1, 2, 2, None)
    assert legal(game, "inspect", "h")  # may be repeated
    act(game, "inspect", "h")
    assert game.known["h"] == 2


def test_a_failed_attempt_shows_preconditions_up_to_the_first_that_fails() -> None:
    needs = {"a": 1, STRESS: {"op": "lt", "value": 90}, "b": 1, "c": 1}
    win = route("win", "spend", "plan", preconditions=needs, cost={"money": 50}, consequences={"won": True})
    game = crisis(hidden_state={"a": 1, "b": 0, "c": 0}, viable_routes=[win])
    act(game, "plan", "win")
    step = act(game, "spend", "win")
    assert step.parts["failed_attempt"] == -0.2
    assert game.routes[0].marks == {"plan"}
    assert (game.known["a"], game.known["b"], game.known["c"]) == (1, 0, UNKNOWN)
    assert (game.time, game.energy, game.money) == (1900, 9500, 200_000)  # 0.5 h twice, 3 and 2 of energy, no money
    # plan's effects and spend's are applied all the same
    expected = {
        metric: METRICS[metric] * 100_000
        + spread(VERBS["plan"].on_route)[metric]
        + spread(VERBS["spend"].on_route)[metric]
        for metric in METRICS
    }
    assert game.metrics == expected
    assert legal(game, "spend", "win")


def test_a_metric_precondition_that_fails_ends_the_look() -> None:
    needs = {"a": 1, STRESS: {"op": "lt", "value": 20}, "b": 1}
    game = crisis(hidden_state={"a": 1, "b": 1}, viable_routes=[route("win", preconditions=needs)])
    act(game, "execute", "win")
    assert (game.known["a"], game.known["b"]) == (1, UNKNOWN)


def test_metric_preconditions_are_judged_after_the_effects_of_the_verb() -> None:
    needs = {STRESS: {"op": "le", "value": 32}}
    win = route("win", "rest", preconditions=needs, consequences={"won": True})
    game = crisis(viable_routes=[win])
    assert ends(act(game, "rest", "win")) == ["success"]


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
