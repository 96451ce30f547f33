"""Worked cases of docs/rules/lifestack.md, section 3: completed routes, milestones, and what events bring about."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from strategies.lifestack_game import (
    FAMILY,
    NEVER_FIRES,
    STRESS,
    UNKNOWN,
    Game,
    engine,
    event,
    milestone,
    route,
    win,
)

WORKLOAD = "career.workload"


# --------------------------------------------------------------------------------------------- routes


def test_preconditions_must_all_hold_now():
    for third, completes in ((3, True), (4, False)):
        needs = {"a": 1, "b": {"op": "gt", "value": 1}, "c": third}
        game = Game(mutable_world={"a": 1, "b": 2, "c": 3}, viable_routes=[win("plan", preconditions=needs)])
        assert game.act("plan", "win").ends == (["success"] if completes else [])


def test_preconditions_are_judged_at_the_last_verb():
    turns = event(step=1, world_mutation={"a": 2})
    game = Game(
        mutable_world={"a": 1}, event_schedule=[turns], viable_routes=[win("plan", "rest", preconditions={"a": 1})]
    )
    assert "failed_attempt" in game.acts("plan win", "rest win").parts


def test_consequences_are_written_and_null_removes():
    ways = [route("way", "plan", consequences={"a": 5, "gone": None}), win("rest", preconditions={"gone": None})]
    game = Game(mutable_world={"a": 1, "gone": 1}, viable_routes=ways)
    assert "failed_attempt" in game.act("rest", "win").parts
    game.act("plan", "way")
    assert (game.fact("a"), game.fact("gone")) == (5, None)
    assert game.act("rest", "win").ends == ["success"]


def test_closes_routes_for_good():
    ways = [route("way", "plan", closes_routes=["win"]), win("rest"), route("third", "wait")]
    game = Game(viable_routes=ways)
    assert game.legal("rest", "win")
    game.act("plan", "way")
    assert [game.legal("rest", "win"), game.legal("wait", "third")] == [False, True]
    assert game.routes("open") == {"way": False, "win": False, "third": True}


def test_a_completed_route_that_is_closed_stays_completed():
    done = route("done", "plan", consequences={"a": 1})
    game = Game(viable_routes=[done, route("way", "rest", closes_routes=["done"]), win("wait")])
    game.acts("plan done", "rest way")
    assert game.routes("completed") == {"done": True, "way": True, "win": False}
    assert game.fact("a") == 1


def test_a_failed_attempt_closes_and_writes_nothing():
    fails = route("way", "plan", preconditions={"h": 2}, consequences={"a": 1}, closes_routes=["win"], final_reward=2)
    game = Game(hidden_state={"h": 1}, viable_routes=[fails, win("rest")])
    step = game.act("plan", "way")
    assert ("routes" in step.parts, game.fact("a"), game.legal("rest", "win")) == (False, None, True)


def test_final_reward_is_paid_once():
    game = Game(viable_routes=[route("way", "plan", "rest", final_reward=2.5), win("wait", final_reward=-1.5)])
    paid = [game.act(*activity).parts.get("routes") for activity in (("plan", "way"), ("rest", "way"), ("wait",))]
    assert paid == [None, 2.5, None]
    assert game.act("wait", "win").parts["routes"] == -1.5


def test_a_route_completes_once():
    game = Game(viable_routes=[route("way", "plan", effects={FAMILY: -5}), win("wait")])
    game.act("plan", "way")
    assert not game.legal("plan", "way")
    game.act("plan", "way")
    assert game.metric(FAMILY) == 65


def test_effects_of_a_route_spread_on_completion():
    game = Game(viable_routes=[route("way", "execute", "wait", effects={WORKLOAD: 30}), win("plan")])
    game.act("execute", "way")
    assert game.metric(WORKLOAD) == 45
    game.act("wait", "way")
    assert (game.metric(WORKLOAD), game.metric(STRESS)) == (75, 55.192)


def test_verb_and_route_are_clipped_apart():
    game = Game(
        disruption={STRESS: 58},
        viable_routes=[route("way", "rest", effects={STRESS: 30}), win("wait")],
    )
    game.act("rest", "way")  # 98 - 8 + 30 is clipped to 100
    assert game.metric(STRESS) == 100


# ----------------------------------------------------------------------------------------- milestones


def test_milestones_unlocked_by_a_route_are_locked_until_it_completes():
    ways = [route("first", "plan", consequences={"a": 1}), route("key", "rest", milestones_unlocked=["m"]), win("wait")]
    game = Game(viable_routes=ways, milestones=[milestone("m", "a", 1, reward=0.75)])
    assert "milestones" not in game.act("plan", "first").parts
    assert not game.observation.milestones.open[0]
    assert game.act("rest", "key").parts["milestones"] == 0.75


def test_any_route_that_lists_a_milestone_unlocks_it():
    ways = [route(name, "plan", milestones_unlocked=["m"], consequences={"a": 1}) for name in ("first", "second")]
    for name in ("first", "second"):
        game = Game(viable_routes=[*ways, win("wait")], milestones=[milestone("m", "a", 1)])
        assert game.act("plan", name).parts["milestones"] == 1


def test_other_milestones_are_open_from_the_start():
    ways = [route("way", "plan", consequences={"a": 1}), win("wait", milestones_unlocked=["other"])]
    game = Game(viable_routes=ways, milestones=[milestone("m", "a", 1), milestone("other", "a", 1)])
    assert game.act("plan", "way").parts["milestones"] == 1
    assert game.reached() == ["m"]


def test_a_milestone_is_reached_once():
    flips = [event(f"e{step}", step, world_mutation={"a": step % 2}) for step in (1, 2, 3)]
    game = Game(event_schedule=flips, milestones=[milestone("m", "a", 1, reward=2)])
    assert [game.act("wait").parts.get("milestones", 0) for _ in range(5)] == [0, 2, 0, 0, 0]


def test_milestones_of_one_step_are_added():
    game = Game(milestones=[milestone("m", "won", reward=1.5), milestone("n", "won", reward=-0.25)])
    assert game.act("execute", "win").parts["milestones"] == 1.25


def test_what_an_event_brings_about_is_judged_after_the_next_action():
    game = Game(event_schedule=[event(world_mutation={"a": 1})], milestones=[milestone("m", "a", 1)])
    assert "milestones" not in game.act("wait").parts
    assert game.fact("a") == 1
    assert game.act("wait").parts["milestones"] == 1


# --------------------------------------------------------------------------------------------- events


def test_an_event_fires_when_the_clock_reaches_its_step():
    game = Game(event_schedule=[event(step=3, world_mutation={"w": 1})])
    assert [game.act("wait") and game.fired() for _ in range(4)] == [[], [], ["e"], ["e"]]
    assert game.fact("w") == 1


def test_an_event_of_step_0_fires_in_reset():
    game = Game(event_schedule=[event(step=0, world_mutation={"w": 1}, effects={FAMILY: -5}, closes_routes=["win"])])
    assert (game.fired(), game.fact("w"), game.metric(FAMILY)) == (["e"], 1, 65)
    assert not game.legal("execute", "win")


def test_an_event_without_a_step_fires_once_at_any_step_from_1_on():
    game = Game(event_schedule=[event(step=-1, probability=0.5, effects={FAMILY: -5})])
    assert game.fired() == []
    seen = [game.act("wait", draws=draw) and game.metric(FAMILY) for draw in (0.5, NEVER_FIRES, 0.49, 0, 0)]
    assert seen == [70, 70, 65, 65, 65]


def test_an_event_of_a_step_has_one_chance():
    game = Game(event_schedule=[event(step=1, probability=0.5)])
    game.act("wait", draws=0.5)
    game.act("wait", draws=0)
    assert game.fired() == []


def test_each_event_has_its_own_draw():
    game = Game(event_schedule=[event(f"e{n}", probability=0.25 * n) for n in range(5)])
    game.act("wait", draws=[0, 0.2, 0.5, 0.7, NEVER_FIRES, 0, 0, 0])
    assert game.fired() == ["e1", "e3", "e4"]


def test_probability_at_reset_and_during_play():
    schedule = [event("sometimes", 0, probability=0.25), event("next", 1, probability=0.75), event("sure", 0)]
    game = Game(event_schedule=schedule)
    env = engine()[0]

    @jax.jit
    @functools.partial(jax.vmap, in_axes=(0, None))
    def fired(key, params):
        first, second = jax.random.split(key)
        state = env.init(first, params, 0)
        return state.fired, env.transition(second, state, jnp.int32(117), params)[0].fired

    at_reset, later = fired(jax.random.split(jax.random.key(3), 4000), game.params)
    assert np.asarray(at_reset[:, :3]).mean(0) == pytest.approx([0.25, 0, 1], abs=0.03)
    assert np.asarray(later[:, :3]).mean(0) == pytest.approx([0.25, 0.75, 1], abs=0.03)


def test_world_and_hidden_mutations_write_their_sides_unseen():
    both = event(world_mutation={"w": 2}, hidden_state_mutation={"h": 2})
    game = Game(mutable_world={"w": 1}, hidden_state={"h": 1}, event_schedule=[both])
    game.act("wait")
    assert (game.fact("w"), game.fact("h"), game.known("w"), game.known("h")) == (2, 2, UNKNOWN, UNKNOWN)


def test_an_event_closes_routes_for_good():
    closes = event(closes_routes=["way"])
    game = Game(viable_routes=[route("way", "plan"), win("rest")], event_schedule=[closes])
    game.act("wait")
    assert game.routes("open") == {"way": False, "win": True}


def test_effects_of_an_event_spread():
    game = Game(event_schedule=[event(effects={WORKLOAD: 30})])
    game.act("wait")
    assert (game.metric(WORKLOAD), game.metric(STRESS)) == (75, 55.192)


def test_a_silent_event_is_never_told():
    game = Game(event_schedule=[event("loud", 0), event("quiet", 0, silent=True), event("later", 1, silent=True)])
    game.act("wait")
    assert game.fired() == ["loud", "quiet", "later"]
    assert game.told() == ["loud"]


def test_the_last_writer_of_a_key_wins():
    for order in ((1, 2), (2, 1)):
        schedule = [event(f"e{value}", world_mutation={"w": value}) for value in order]
        game = Game(mutable_world={"w": 0}, event_schedule=[*schedule, event("late", 9, world_mutation={"w": 0})])
        game.act("wait")
        assert game.fact("w") == order[1]


def test_deltas_of_events_of_one_step_are_added_then_clipped():
    blows = [event("up", effects={FAMILY: 50}), event("down", effects={FAMILY: -50})]
    game = Game(event_schedule=blows)
    game.act("wait")
    assert game.metric(FAMILY) == 70  # one by one it would be 50


def test_deltas_of_one_phase_are_added_then_clipped():
    game = Game(disruption={STRESS: 70, WORKLOAD: -60})
    assert game.metric(WORKLOAD) == 0
    assert game.metric(STRESS) == 79.76569  # clipped in between it would be below 70


def test_events_do_not_fire_once_it_is_over():
    blow = event(effects={FAMILY: -5})
    won, out_of_time = Game(event_schedule=[blow]), Game(event_schedule=[blow], horizon=1)
    won.act("execute", "win")
    assert out_of_time.act("wait").truncated
    assert (won.fired(), out_of_time.fired()) == ([], [])
    assert (won.metric(FAMILY), out_of_time.metric(FAMILY)) == (70, 70)


# ------------------------------------------------------------------------------------------- the life


def test_the_cascade():
    game = Game(disruption={WORKLOAD: 30})
    sleep, free = game.metric("physical_health.sleep_quality"), game.metric("time.free_hours_per_week")
    assert (game.metric(WORKLOAD), game.metric(STRESS), free, sleep) == (75, 55.192, 55.6, 64.98664)


def test_events_of_step_0_come_after_the_disruption_was_clipped():
    relief = event(step=0, effects={FAMILY: -40})
    game = Game(disruption={FAMILY: 90}, event_schedule=[relief])
    assert game.metric(FAMILY) == 60


def test_one_step_in_order():
    """The action, the clock, milestones, the ends, and only then the events of the new clock."""
    shuts = event(step=1, world_mutation={"open": 0}, effects={FAMILY: -60})
    ways = [route("first", "plan", preconditions={"open": 1}, consequences={"a": 1}), win("rest")]
    document = {"mutable_world": {"open": 1}, "viable_routes": ways, "event_schedule": [shuts]}
    failure = [{"key": FAMILY, "op": "lt", "value": 20}]
    game = Game(**document, milestones=[milestone("m", "a", 1)], failure_conditions=failure)
    step = game.act("plan", "first")
    assert (step.parts["milestones"], step.ends) == (1, [])  # the event came after both
    assert (int(game.state.clock), game.fact("open"), game.metric(FAMILY)) == (1, 0, 10)
    assert step.parts["collapse"] == -0.4  # and counts in the reward of this step
    assert game.act("wait").ends == ["condition"]
