"""Worked cases of docs/rules/lifestack.md, sections 5 and 6: the parts of the reward, and the ends."""

import dataclasses

import numpy as np
import pytest

from jaxenv.envs.lifestack.actions import EFFECTS, FIRST_UPKEEP, INSPECTING, UPKEEP
from jaxenv.envs.lifestack.metrics import FIRST, HIGHEST, better
from jaxenv.envs.lifestack.reward import WEIGHTS, upkeep_gains, warnings
from strategies.lifestack_game import FAMILY, NEVER_FIRES, STRESS, WON, Game, event, milestone, route, win

DEBT = "finances.debt_pressure"


def alone(event_schedule=(), **fields):
    """A game in which the only route is closed, so that nothing but events and upkeep can bring success."""
    return Game(event_schedule=[event("shut", 0, closes_routes=["win"]), *event_schedule], **fields)


# ------------------------------------------------------------------------------------------- the ends


def test_success_pays_8():
    step = Game(viable_routes=[win("wait", final_reward=1.5)]).act("wait", "win")
    assert (step.ends, step.terminated, step.truncated) == (["success"], True, False)
    assert step.parts == {"success": 8, "routes": 1.5, "step_cost": -0.08}
    assert step.reward == pytest.approx(9.42)


def test_a_failure_condition_pays_minus_8():
    step = Game(viable_routes=[win("wait", consequences={"a": 1})], failure_conditions=[{"key": "a", "value": 1}])
    step = step.act("wait", "win")
    assert (step.ends[0], step.terminated, step.parts["failure"]) == ("condition", True, -8)


def test_success_wins_over_every_other_end():
    way = win("execute", consequences={"won": True, "lost": True}, effects={FAMILY: -70})
    failure = [{"key": "lost", "value": True}]
    game = Game(viable_routes=[way], failure_conditions=failure, constraints={"deadline_step": 1}, horizon=1)
    step = game.act("execute", "win")
    assert (step.ends, step.terminated, step.truncated) == (["success"], True, True)
    assert (step.parts["success"], "failure" in step.parts) == (8, False)
    assert int(game.state.outcome) == 1


@pytest.mark.parametrize(("last", "ends"), [("wait", ["deadline"]), ("execute win", ["success"])])
def test_the_action_at_the_deadline_can_still_succeed(last, ends):
    game = Game(constraints={"deadline_step": 3})
    assert game.acts("wait", "wait").ends == []
    step = game.act(*last.split())
    assert (step.ends, step.terminated) == (ends, True)


def test_a_missed_deadline_pays_minus_8():
    assert Game(constraints={"deadline_step": 1}).act("wait").parts == {"failure": -8, "step_cost": -0.08}


def test_without_a_deadline_only_the_horizon_ends():
    game = Game(horizon=3)
    steps = [game.act("wait") for _ in range(3)]
    assert [(step.terminated, step.truncated) for step in steps] == [(False, False), (False, False), (False, True)]


def test_truncation_alone_pays_neither():
    assert Game(horizon=1).act("wait").parts == {"step_cost": -0.08}


def test_the_horizon_truncates_whatever_else_ends():
    step = Game(horizon=2, constraints={"deadline_step": 2}).acts("wait", "wait")
    assert (step.ends, step.terminated, step.truncated, step.parts["failure"]) == (["deadline"], True, True, -8)


@pytest.mark.parametrize(("metric", "delta"), [(FAMILY, -70), (DEBT, 70)])
def test_burnout_at_the_worst_of_a_metric(metric, delta):
    game = Game(event_schedule=[event(effects={metric: delta})])
    assert game.act("wait").ends == []
    step = game.act("wait")
    assert (step.ends, step.parts["failure"], step.terminated) == (["burnout"], -8, True)


def test_just_above_the_worst_is_no_burnout():
    game = Game(event_schedule=[event(effects={FAMILY: -69.99999})])
    assert game.acts("wait", "wait").ends == []


def test_ends_are_told_together_and_one_failure_is_paid():
    game = alone(constraints={"deadline_step": 1}, event_schedule=[event(step=0, effects={FAMILY: -70})])
    step = game.act("wait")
    assert (step.ends, step.parts["failure"]) == (["deadline", "dead_end", "burnout"], -8)
    assert int(game.state.outcome) == 3


def test_the_outcome_tells_the_first_end():
    ends = {1: [win("wait")], 2: [win("wait", consequences={"a": 1})], 4: [win("wait", consequences={"b": 1})]}
    for outcome, ways in ends.items():
        game = Game(viable_routes=ways, failure_conditions=[{"key": "a", "value": 1}])
        game.act("wait", "win")
        assert int(game.state.outcome) == outcome


# ------------------------------------------------------------------------------------------ dead ends


def test_a_dead_end_where_every_route_is_closed_or_completed():
    ways = [route("done", "plan"), route("shuts", "rest", closes_routes=["win"]), win("wait")]
    game = Game(viable_routes=ways)
    assert game.act("plan", "done").ends == []
    step = game.act("rest", "shuts")
    assert (step.ends, step.terminated, step.parts["failure"]) == (["dead_end"], True, -8)


def test_a_task_without_routes_is_a_dead_end_at_once():
    assert Game(viable_routes=[]).act("wait").ends == ["dead_end"]


@pytest.mark.parametrize(
    ("fields", "steps"),
    [
        ({"step": 0, "probability": 0.5}, 0),  # past before the first judgement
        ({"step": 1, "probability": 0.5}, 1),  # to come while the clock is judged at 1
        ({"step": 2, "probability": 0.5}, 2),
        ({"step": -1, "probability": 0.5}, 6),
        ({"step": -1, "probability": 0}, 6),  # how likely it is is not looked at
    ],
)
def test_an_event_that_can_write_the_key_holds_the_dead_end_off(fields, steps):
    game = alone(event_schedule=[event(**fields, world_mutation={"won": False})])
    told = [game.act("wait", draws=NEVER_FIRES).ends for _ in range(min(steps + 1, 6))]
    assert told == ([[]] * steps + [["dead_end"]])[:6]


def test_an_event_that_has_fired_holds_nothing_off():
    game = alone(event_schedule=[event(step=-1, world_mutation={"won": False})])
    assert [game.act("wait").ends for _ in range(2)] == [[], ["dead_end"]]


def test_an_event_that_writes_another_key_holds_nothing_off():
    assert alone(event_schedule=[event(step=9, world_mutation={"w": 1})]).act("wait").ends == ["dead_end"]


def test_a_metric_among_the_alternatives_holds_the_dead_end_off():
    soft = {"any": [*WON, {"key": STRESS, "op": "lt", "value": 10}]}
    assert alone(success_conditions=[soft]).act("wait").ends == []
    hard = alone(success_conditions=[soft, {"key": "other", "value": 1}])
    assert hard.act("wait").ends == ["dead_end"]


def test_a_member_that_holds_is_no_dead_end():
    ways = [win("plan"), route("other", "rest")]
    members = [*WON, {"key": FAMILY, "op": "gt", "value": 70}]
    game = Game(success_conditions=members, viable_routes=ways)
    assert [game.acts("plan win").ends, game.act("rest", "other").ends] == [[], []]


# --------------------------------------------------------------------------------- parts of the reward


def test_every_step_costs():
    assert Game().act("wait").reward == pytest.approx(-0.08)


def test_wellbeing_is_the_difference_of_the_mean_and_better_when_lower_counts_down():
    blow = {FAMILY: -11.5, DEBT: 0}
    game = Game(event_schedule=[event(effects=blow)])
    assert game.act("wait").parts["wellbeing"] == pytest.approx(-4 * 11.5 / 2300)
    assert "wellbeing" not in game.act("wait").parts
    rest = Game().act("rest")
    assert rest.parts["wellbeing"] > 4 * 12 / 2300  # less stress is better, and spreads


def test_a_metric_that_crosses_20_collapses():
    game = Game(event_schedule=[event(effects={FAMILY: -50.00001, "relationships.family": -50.00001})])
    assert game.act("wait").parts["collapse"] == -0.4
    assert "collapse" not in game.act("wait").parts  # only the crossing


def test_20_is_not_below_20():
    assert "collapse" not in Game(event_schedule=[event(effects={FAMILY: -50})]).act("wait").parts


def test_collapse_counts_each_metric_and_turns_those_that_are_better_when_lower():
    two = {"relationships.family": -51, "physical_health.nutrition": -51}
    assert Game(event_schedule=[event(effects=two)]).act("wait").parts["collapse"] == pytest.approx(-0.8)
    for delta, collapses in ((50, False), (50.00001, True)):  # to 80, and just above
        parts = Game(event_schedule=[event(effects={DEBT: delta})]).act("wait").parts
        assert ("collapse" in parts) == collapses


def test_events_count_in_the_reward_of_the_step_that_they_end():
    way = win("wait", "plan", effects={FAMILY: 30})
    game = Game(viable_routes=[way], event_schedule=[event(effects={FAMILY: -60})])
    assert set(game.act("wait").parts) == {"wellbeing", "collapse", "step_cost"}


def test_events_of_reset_are_paid_by_nobody():
    game = Game(event_schedule=[event(step=0, effects={FAMILY: -60})])
    assert game.act("wait").parts == {"step_cost": -0.08}


def test_a_failed_attempt_pays_minus_a_fifth():
    game = Game(hidden_state={"h": 1}, viable_routes=[win("wait", preconditions={"h": 2})])
    assert game.act("wait", "win").parts == {"failed_attempt": -0.2, "step_cost": -0.08}


def test_every_weight_scales_its_part():
    ones = dict.fromkeys(vars(WEIGHTS), 1.0)
    rewards = {"final_reward": 2, "effects": {FAMILY: -60}}
    won = Game(weights=ones, viable_routes=[win("wait", **rewards)], milestones=[milestone("m", "won", reward=3)])
    parts = {"milestones": 3, "routes": 2, "success": 1, "wellbeing": round(-60 / 2300, 6), "collapse": 1}
    assert won.act("wait", "win").parts == pytest.approx({**parts, "step_cost": 1})
    lost = Game(weights=ones, viable_routes=[win("wait", preconditions={"a": 1})], constraints={"deadline_step": 1})
    assert lost.act("wait", "win").parts == {"failure": 1, "step_cost": 1, "failed_attempt": 1}
    assert Game(weights=ones).step(-1).parts == {"step_cost": 1, "invalid_action": 1}


def test_no_verb_pays_for_itself():
    """Whatever the metrics are: gains at their full size, losses clipped away."""
    gains = np.maximum(better(FIRST[None] + EFFECTS) - better(FIRST[None]), 0).sum(-1) / (23 * HIGHEST)
    worth = WEIGHTS.wellbeing * gains
    upkeep = worth[FIRST_UPKEEP:INSPECTING]
    assert worth.max() == upkeep[0] == pytest.approx(0.0528, abs=5e-5)  # rest
    assert worth.max() < -WEIGHTS.step_cost
    assert list(upkeep_gains().values()) == pytest.approx(gains[FIRST_UPKEEP:INSPECTING])


def test_params_under_which_upkeep_pays_are_odd():
    assert warnings(WEIGHTS) == ()
    (rest,) = warnings(dataclasses.replace(WEIGHTS, step_cost=-0.0527))
    assert rest == (
        "upkeep 'rest' pays for itself: it can earn 0.0528 of wellbeing (weight 4) "
        "and its step costs 0.0527 (step_cost)"
    )
    assert len(warnings(dataclasses.replace(WEIGHTS, step_cost=0.0))) == len(UPKEEP)
