"""The reference engine of LifeStack against worked cases: events, reward and ends."""

from __future__ import annotations

import pytest

from reference.lifestack import UNKNOWN, Crisis
from reference.lifestack_cases import NEVER, act, crisis, ends, nonzero, route
from reference.lifestack_rules import STRESS, Record

# --------------------------------------------------------------------------------------------- events


def test_events_fire_by_their_draws() -> None:
    schedule = [
        {"step": 0, "probability": 0.5, "id": "zero", "silent": True, "hidden_state_mutation": {"h": 0}},
        {"step": 2, "probability": 0.5, "id": "two"},
        {"step": -1, "probability": 0.5, "id": "any"},
        {"step": 0, "id": "sure"},
    ]
    game = crisis([0.49, 0.0, 0.0, NEVER], event_schedule=schedule)
    assert game.fired == [True, False, False, True]  # -1 does not fire at 0, and probability is 1 by default
    assert game.shown_events() == ["sure"]
    assert (game.facts["h"], game.known["h"]) == (0, UNKNOWN)
    act(game, "wait", draws=[0.0, 0.0, 0.5, 0.0])
    assert game.fired == [True, False, False, True]
    act(game, "wait", draws=[0.0, 0.5, 0.49, 0.0])
    assert game.fired == [True, False, True, True]  # `two` had its one chance
    act(game, "wait", draws=[0.0, 0.0, 0.0, 0.0])
    assert game.fired == [True, False, True, True]
    assert game.shown_events() == ["any", "sure"]


def test_an_event_without_a_step_fires_once() -> None:
    event = {"step": -1, "id": "e", "effects": {"relationships.family": -5}}
    game = crisis(event_schedule=[event])
    for _ in range(3):
        act(game, "wait")
    assert game.metrics["relationships.family"] == 65 * 100_000


def test_the_last_writer_wins_and_routes_close() -> None:
    game = crisis(
        event_schedule=[
            {"step": 1, "id": "a", "world_mutation": {"w": 1}},
            {"step": 1, "id": "b", "world_mutation": {"w": 2}, "closes_routes": ["win"]},
        ],
    )
    act(game, "wait")
    assert (game.facts["w"], game.routes[0].open) == (2, False)


def test_events_do_not_fire_after_the_end() -> None:
    event = {"step": 1, "id": "e", "effects": {"relationships.family": -5}}
    game = crisis(event_schedule=[event])
    assert ends(act(game, "execute", "win")) == ["success"]
    assert game.fired == [False]
    short = crisis(event_schedule=[event], horizon=1)
    assert act(short, "wait").truncated
    assert short.fired == [False]


def test_reward_covers_the_events_of_the_step() -> None:
    game = crisis(event_schedule=[{"step": 1, "id": "e", "effects": {"relationships.family": -51}}])
    step = act(game, "wait")
    assert step.parts["wellbeing"] == pytest.approx(-4 * 51 / 2300)
    assert step.parts["collapse"] == -0.4
    assert act(game, "wait").parts["collapse"] == 0  # only the crossing


def test_collapse_is_polarity_adjusted_and_20_is_not_below_20() -> None:
    game = crisis(event_schedule=[{"step": 1, "id": "e", "effects": {"finances.debt_pressure": 50}}])
    assert act(game, "wait").parts["collapse"] == 0  # debt at 80
    game = crisis(event_schedule=[{"step": 1, "id": "e", "effects": {"relationships.family": -50.00001}}])
    assert act(game, "wait").parts["collapse"] == -0.4


# ----------------------------------------------------------------------------------------------- ends


def test_success_wins_over_everything() -> None:
    win = route("win", consequences={"won": True, "lost": True}, final_reward=1, effects={"relationships.family": -70})
    game = crisis(
        viable_routes=[win],
        failure_conditions=[{"key": "lost", "value": True}],
        constraints={"deadline_step": 1},
        horizon=1,
    )
    step = act(game, "execute", "win")
    assert ends(step) == ["success"]
    assert (step.terminated, step.truncated) == (True, True)
    assert (step.parts["success"], step.parts["failure"], step.parts["routes"]) == (8, 0, 1)
    assert step.reward == pytest.approx(8 + 1 - 0.08 - 0.4 - 4 * 70 / 2300)
    assert game.legal() == list(range(118))
    with pytest.raises(ValueError, match="over"):
        game.step(117, [])


def test_success_needs_every_member_and_makes_its_facts_known() -> None:
    members = [
        {"key": "h", "value": 1},
        {"any": [{"key": "i", "value": 2}, {"key": STRESS, "op": "ge", "value": 10}, {"key": "won", "value": True}]},
    ]
    hidden = {"h": 0, "i": 1}
    schedule = [{"step": 1, "id": "e", "hidden_state_mutation": {"h": 1}}]
    game = crisis(success_conditions=members, hidden_state=hidden, event_schedule=schedule)
    assert ends(act(game, "wait")) == []
    assert game.known["h"] is UNKNOWN
    assert ends(act(game, "wait")) == ["success"]
    assert (game.known["h"], game.known["i"]) == (1, 1)  # an alternative that fails is known, too


def test_an_empty_success_never_holds_and_leaves_no_dead_end() -> None:
    game = crisis(success_conditions=[], viable_routes=[])
    assert ends(act(game, "wait")) == []


def test_failure_condition_with_any() -> None:
    lost = {"any": [{"key": "x", "value": 1}, {"key": "relationships.family", "op": "lt", "value": 65}]}
    game = crisis(
        failure_conditions=[{"key": "y", "value": 1}, lost],
        event_schedule=[{"step": 1, "id": "e", "effects": {"relationships.family": -5.00001}}],
    )
    assert ends(act(game, "wait")) == []  # what an event brings about is judged after the next action
    step = act(game, "wait")
    assert (ends(step), step.parts["failure"], step.truncated) == (["condition"], -8, False)


def test_the_action_at_the_deadline_can_still_succeed() -> None:
    for last, expected in (("wait", ["deadline"]), ("execute", ["success"])):
        game = crisis(constraints={"deadline_step": 2})
        assert ends(act(game, "wait")) == []
        assert ends(act(game, last, "win" if last == "execute" else None)) == expected


def test_truncation_alone_pays_neither() -> None:
    game = crisis(horizon=1)
    step = act(game, "wait")
    assert (step.terminated, step.truncated, nonzero(step)) == (False, True, {"step_cost": -0.08})


def test_burnout() -> None:
    for metric, delta in (("relationships.family", -70), ("finances.debt_pressure", 70)):
        game = crisis(event_schedule=[{"step": 0, "id": "e", "effects": {metric: delta}}])
        step = act(game, "wait")
        assert ("burnout" in ends(step), step.parts["failure"]) == (True, -8)
    near = crisis(event_schedule=[{"step": 0, "id": "e", "effects": {"relationships.family": -69.99999}}])
    assert ends(act(near, "wait")) == []


def test_dead_end_at_once_without_routes() -> None:
    assert ends(act(crisis(viable_routes=[]), "wait")) == ["dead_end"]


def test_dead_end_when_every_route_is_closed_or_completed() -> None:
    routes = [route("a", "plan", closes_routes=["b"]), route("b", "plan", consequences={"won": True})]
    game = crisis(viable_routes=routes)
    step = act(game, "plan", "a")
    assert (ends(step), step.parts["failure"]) == (["dead_end"], -8)


@pytest.mark.parametrize(
    ("event", "steps"),
    [
        ({"step": 2, "probability": 0.5}, 2),  # judged at t = 1 and 2 it is still to come, at 3 it is past
        ({"step": 1, "probability": 0.5}, 1),  # it fires after the judgement of its step
        ({"step": 0, "probability": 0.5}, 0),
        ({"step": -1, "probability": 0.5}, 5),
    ],
)
def test_an_event_that_can_still_write_holds_the_dead_end_off(event: Record, steps: int) -> None:
    game = crisis([NEVER], viable_routes=[], event_schedule=[{"id": "e", "world_mutation": {"won": False}, **event}])
    for _ in range(steps):
        assert ends(act(game, "wait", draws=[NEVER])) == []
    if event["step"] != -1:
        assert ends(act(game, "wait", draws=[NEVER])) == ["dead_end"]


def test_a_fired_event_no_longer_holds_the_dead_end_off() -> None:
    game = crisis(viable_routes=[], event_schedule=[{"id": "e", "step": -1, "world_mutation": {"won": False}}])
    assert ends(act(game, "wait")) == []
    assert ends(act(game, "wait")) == ["dead_end"]


def test_a_metric_alternative_holds_the_dead_end_off_but_not_for_another_member() -> None:
    soft = {"any": [{"key": "won", "value": True}, {"key": STRESS, "op": "lt", "value": 10}]}
    assert ends(act(crisis(viable_routes=[], success_conditions=[soft]), "wait")) == []
    hard = {"key": "other", "value": True}
    assert ends(act(crisis(viable_routes=[], success_conditions=[soft, hard]), "wait")) == ["dead_end"]


def test_ends_are_told_together() -> None:
    game = crisis(viable_routes=[], constraints={"deadline_step": 1}, disruption={"relationships.family": -70})
    assert ends(act(game, "wait")) == ["deadline", "dead_end", "burnout"]


def test_weights_can_be_replaced() -> None:
    game = Crisis({"horizon": 5}, [], weights={"step_cost": -1.0})
    assert game.step(500, []).reward == -1.4
