"""The reference engine of LifeStack against worked cases: metrics, conditions, keys and knowledge."""

from __future__ import annotations

from typing import Any

import pytest

from reference.lifestack import UNKNOWN, Crisis
from reference.lifestack_cases import WAIT, act, crisis, ends, legal, route
from reference.lifestack_document import condition, precondition
from reference.lifestack_rules import (
    FREE_HOURS,
    LIQUIDITY,
    METRICS,
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
