"""The reference engine of LifeStack against worked cases: relations, baselines, whole episodes."""

from __future__ import annotations

import copy
import random

import pytest
from hypothesis import HealthCheck, given, settings

from reference.lifestack import UNKNOWN, Crisis
from reference.lifestack_baselines import greedy, random_legal
from reference.lifestack_cases import FLIGHT, act, crisis, play, route
from reference.lifestack_rules import FREE_HOURS, LIQUIDITY, MOTIVATION, ROMANTIC, STRESS, TOP, WORKLOAD, Record
from strategies.lifestack import documents

# ------------------------------------------------------------------------------------------ relations


def web() -> Crisis:
    """a needs a hidden fact and gives x; b needs x and gives won; c spoils x; d helps a metric; e is idle."""
    return crisis(
        hidden_state={"h": 1},
        success_conditions=[
            {"key": "won", "value": True},
            {"any": [{"key": STRESS, "op": "le", "value": 20}, {"key": "calm", "value": True}]},
        ],
        viable_routes=[
            route("a", "plan", preconditions={"h": 1}, consequences={"x": 2}, closes_routes=["c"]),
            route("b", "plan", preconditions={"x": {"op": "ge", "value": 2}}, consequences={"won": True}),
            route("c", "plan", consequences={"x": 1}),
            route("d", "plan", effects={LIQUIDITY: 5}),
            route("e", "plan", effects={LIQUIDITY: -5}),
        ],
        milestones=[{"id": "m", "condition_key": "x", "condition_value": 2}],
    )


def test_relations() -> None:
    game = web()
    assert game.keys == ["h", "x", "won", "calm"]
    assert [game.relation(0, key) for key in game.keys] == ["unknown", "none", "none", "none"]
    assert game.relation(1, "x") == "fails"
    pairs = [(r, q) for r in range(5) for q in range(5)]
    assert [pair for pair in pairs if game.enables(*pair)] == [(0, 1)]
    assert [pair for pair in pairs if game.breaks(*pair)] == [(2, 1)]
    assert [pair for pair in pairs if game.closes(*pair)] == [(0, 2)]
    assert game.serving() == [0, 1, 3]  # b by success, a by b, d by its effect on stress through liquidity
    assert [key for key in game.keys if game.wanted(key)] == ["h", "x"]
    assert game.meets(0)
    assert game.places("x") == {"preconditions", "milestones"}
    assert game.places("h") == {"preconditions"}
    bound = game.bounds()[0]
    assert bound == (STRESS, 0, 2_000_000, False, {"success"})


def test_relations_follow_what_is_known_and_what_is_open() -> None:
    game = web()
    act(game, "inspect", "h")
    assert game.relation(0, "h") == "holds"
    act(game, "plan", "a")
    assert game.relation(1, "x") == "holds"
    assert game.serving() == [1, 3]  # a is completed, c is closed and would not serve
    assert [key for key in game.keys if game.wanted(key)] == ["x"]
    assert not game.meets(0)
    act(game, "plan", "b")
    assert not game.serves(1)
    assert game.serving() == [3]


def test_an_unknown_fact_counts_as_unmet() -> None:
    schedule = [{"step": 5, "id": "e", "world_mutation": {"won": None}}]
    done = [{"key": "won", "value": True}, {"key": "other", "value": 1}]
    game = crisis(mutable_world={"won": True}, event_schedule=schedule, success_conditions=done)
    assert game.serves(0)  # won holds, but this is not known
    act(game, "inspect", "won")
    assert not game.serves(0)


def test_a_met_alternative_makes_the_bounds_beside_it_idle() -> None:
    game = web()
    game.known["calm"] = game.facts["calm"] = True
    assert game.unmet_success_bounds() == []
    assert game.serving() == [0, 1]


def test_equal_bounds_are_one() -> None:
    low = {"key": STRESS, "op": "lt", "value": 20}
    same = {"key": STRESS, "op": "le", "value": 19.99999}
    game = crisis(success_conditions=[low], failure_conditions=[same])
    assert [(bound.high, bound.used) for bound in game.bounds()] == [(1_999_999, {"success", "failure"})]


# ------------------------------------------------------------------------------------------ baselines


def chosen(game: Crisis) -> tuple[str, str | None]:
    action = game.document_action(greedy(game))
    return action["action_type"], action["target"]


def test_greedy_rests_when_tired() -> None:
    assert chosen(crisis(resources={"energy": 19.99})) == ("rest", None)
    assert chosen(crisis(resources={"energy": 20})) == ("execute", "win")


@pytest.mark.parametrize(
    ("disruption", "upkeep"),
    [
        ({STRESS: 41}, "rest"),
        ({WORKLOAD: 36}, "delegate"),
        ({FREE_HOURS: -51}, "deprioritize"),
        ({ROMANTIC: -51}, "communicate"),
        ({MOTIVATION: -51}, "self_care"),
    ],
)
def test_greedy_looks_after_a_low_metric(disruption: Record, upkeep: str) -> None:
    assert chosen(crisis(disruption=disruption)) == (upkeep, None)
    assert chosen(crisis(disruption=disruption, constraints={"deadline_step": 2})) == (upkeep, None)
    hurried = crisis(disruption=disruption, constraints={"deadline_step": 1})
    assert chosen(hurried) == ("execute", "win")  # one verb, one step left


def test_greedy_goes_on_where_the_upkeep_is_not_legal() -> None:
    game = crisis(disruption={WORKLOAD: 36, ROMANTIC: -51}, resources={"time": 0.5})
    assert chosen(game) == ("communicate", None)  # delegate takes an hour


def test_greedy_inspects_then_works_the_shortest_route() -> None:
    routes = [
        route("long", "plan", "prepare", consequences={"won": True}, final_reward=3),
        route("poor", "plan", consequences={"won": True}, final_reward=1),
        route("good", "plan", preconditions={"i": 1, "h": 1}, consequences={"won": True}, final_reward=2),
    ]
    game = crisis(hidden_state={"h": 1, "i": 0}, viable_routes=routes)
    assert chosen(game) == ("inspect", "h")  # in the order of the slots
    act(game, "inspect", "h")
    assert chosen(game) == ("inspect", "i")
    act(game, "inspect", "i")
    assert chosen(game) == ("plan", "poor")  # good is known to fail
    broke = crisis(hidden_state={"h": 1, "i": 0}, viable_routes=routes, resources={"time": 0.5})
    assert chosen(broke) == ("inspect", "h")
    waiting = [route("good", "wait", preconditions={"h": 1}, consequences={"won": True})]
    assert chosen(crisis(hidden_state={"h": 1}, viable_routes=waiting, resources={"time": 0})) == ("wait", "good")


def test_greedy_takes_a_metric_precondition_that_fails_for_known() -> None:
    needs = {STRESS: {"op": "gt", "value": 40}}
    game = crisis(viable_routes=[route("win", preconditions=needs, consequences={"won": True})])
    assert chosen(game) == ("wait", None)


def test_greedy_moves_a_metric_of_success_else_waits() -> None:
    bound = {"key": STRESS, "op": "le", "value": 20}
    assert chosen(crisis(viable_routes=[], success_conditions=[bound])) == ("rest", None)
    away = {"key": STRESS, "op": "ge", "value": 50}
    assert chosen(crisis(viable_routes=[], success_conditions=[away])) == ("wait", None)  # no upkeep raises stress


def test_the_main_flight_by_its_known_returns() -> None:
    def best(game: Crisis) -> int:
        verb = "communicate" if game.t == 0 else "execute"
        return game.index_of({"action_type": verb, "target": "rebook_premium"})

    rng = random.Random(0)
    assert play(FLIGHT, rng, best) == (pytest.approx(11.34), ["success"])
    assert play(FLIGHT, rng, greedy) == (pytest.approx(11.26), ["success"])
    results = [play(FLIGHT, rng, lambda game: random_legal(game, rng)) for _ in range(300)]
    won = sum(found == ["success"] for _, found in results) / len(results)
    assert won == pytest.approx(0.09, abs=0.06)
    assert sum(total for total, _ in results) / len(results) == pytest.approx(-7.11, abs=0.8)


def test_price_surge_turns_a_known_card_into_a_failure() -> None:
    game = Crisis(FLIGHT, [0.0, 0.0])
    act(game, "inspect", "card_available")
    act(game, "communicate", "rebook_premium")
    for _ in range(3):
        act(game, "wait")
    assert game.t == 5
    assert (game.known["card_available"], game.facts["card_available"]) == (True, False)
    step = act(game, "execute", "rebook_premium")
    assert step.parts["failed_attempt"] == -0.2
    assert (game.money, game.known["card_available"]) == (80_000, False)


# ------------------------------------------------------------------------------------- any document


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents())
def test_drawn_documents_play_to_an_end(document: Record) -> None:
    given_document = copy.deepcopy(document)
    start = at_reset(document)
    assert (start.succeeded(), start.failed(), start.burnt_out()) == (False, False, False)
    assert not any(each.open and start.holds(each.condition) for each in start.milestones)
    assert len(start.bounds()) <= 4
    assert len(start.keys) <= 8
    for seed in range(2):
        rng = random.Random(seed)
        total, found = play(document, rng, lambda game, rng=rng: check_and_play(game, rng))
        assert not ("success" in found and len(found) > 1)
        assert total == pytest.approx(total)
    play(document, random.Random(3), greedy)
    assert document == given_document


def at_reset(document: Record) -> Crisis:
    """The crisis before the events of step 0."""
    return Crisis({**document, "event_schedule": []}, [])


def check_and_play(game: Crisis, rng: random.Random) -> int:
    """What is shown never rests on what is not known; then a random entry."""
    blind = copy.deepcopy(game)
    blind.facts = {key: value if value is not UNKNOWN else object() for key, value in game.known.items()}
    for number in range(len(game.routes)):
        assert blind.serves(number) == game.serves(number)
        assert [blind.relation(number, key) for key in game.keys] == [game.relation(number, key) for key in game.keys]
    assert greedy(blind) == greedy(game)
    assert blind.legal() == game.legal()
    assert all(game.known[key] == game.facts[key] for key in game.keys if game.always_shown(key))
    assert all(0 <= value <= TOP for value in game.metrics.values())
    assert min(game.time, game.money, game.energy) >= 0
    return random_legal(game, rng)
