"""Worked cases of docs/rules/lifeops.md, sections 3, 4, 5 and 8, the number in the test."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxenv
import scenarios

LIBRARY = scenarios.load("lifeops")


@functools.cache
def engine(env_id):
    env, params = jaxenv.make(env_id)
    return env, params, jax.jit(env.step_env)


class Day:
    """One episode of a document, driven by document actions."""

    def __init__(self, env_id, document, departure_min=0):
        self.env, params, self.step_env = engine(env_id)
        library = scenarios.parse("lifeops", document)
        self.params = params.replace(bank=library.bank, departure_min=jnp.int32(departure_min))
        self.codec = scenarios.Codec(self.env, self.params, library)
        _, self.state = self.env.reset(jax.random.key(0), self.params, 0)

    def act(self, action_type, start=None, end=None, duration=None):
        actions = [
            index
            for index, a in self.codec.legal_actions(self.state)
            if a["action_type"] == action_type
            and start in (None, a["new_start_min"])
            and end in (None, a["new_end_min"])
            and duration in (None, a["duration_min"])
        ]
        return self.step(actions[0])

    def step(self, index):
        _, self.state, reward, terminated, info = self.step_env(
            jax.random.key(0), self.state, jnp.int32(index), self.params
        )
        parts = {name: float(value) for name, value in vars(info["reward_parts"]).items() if value != 0}
        return float(reward), parts, bool(terminated)


def request(start=600, end=630, **fields):
    return {"event_id": fields.pop("event_id", "r1"), "start_min": start, "end_min": end, "location": "Office"} | fields


def event(event_id, start, end, location="Office", **fields):
    return {"event_id": event_id, "start_min": start, "end_min": end, "location": location} | fields


def document(**fields):
    """A day of the early bird with one request and the library's travel times."""
    base = {
        "scenario_id": "case",
        "persona": "early_bird_engineer",
        "calendar": [],
        "pending_requests": [request()],
        "travel_times": {"Home": {"Office": 25, "Gym": 20}, "Office": {"Home": 25, "Gym": 10}, "Gym": {"Office": 40}},
    }
    return base | fields


@pytest.mark.parametrize(
    ("id", "action_type", "start", "classic", "shaped"),
    [
        ("s1_basic_conflict", "accept_event", None, -10, -4.5),
        ("s1_basic_conflict", "reject_event", None, -4, -2.5),
        ("s2_travel_tight", "accept_event", None, -3.2, -0.1),
        ("s3_focus_vs_meeting", "accept_event", None, -5, -1.5),
        ("s3_focus_vs_meeting", "block_focus_time", 540, 1.76, 4.26),
        ("s4_parent_pickup", "accept_event", None, -7.8, -4.6),
        ("s5_late_meeting", "accept_event", None, -4.8, -3.1),
        ("easy_2", "accept_event", None, -5.6, -1.7),
        ("easy_2", "reject_event", None, 0, 1.0),
        ("edge_cascade_1", "accept_event", None, 0, 2.9),
        ("edge_cascade_1", "block_focus_time", 540, -3.24, 0.96),
        ("edge_mood_monday_1", "accept_event", None, 0, -0.5),
    ],
)
def test_golden_first_steps(id, action_type, start, classic, shaped):
    found = LIBRARY.documents[LIBRARY.ids.index(id)]
    for env_id, expected in (("LifeOps-v0", classic), ("LifeOps-Shaped-v0", shaped)):
        reward, _, _ = Day(env_id, found).act(action_type, start, duration=30 if start else None)
        assert reward == pytest.approx(expected, abs=1e-5)


def test_a_tie_of_priority_goes_to_the_id_as_a_string():
    tasks = [{"task_id": name, "remaining_minutes": 60, "priority": 2} for name in ("t2", "t10")]
    day = Day("LifeOps-v0", document(tasks=tasks))
    day.act("block_focus_time", duration=30)
    left = {task["task_id"]: task["remaining_minutes"] for task in day.codec.observation(day.state)["tasks"]}
    assert left == {"t2": 60, "t10": 30}


def test_a_zero_length_event_inside_another_overlaps_and_at_its_edge_does_not():
    calendar = [event("long", 540, 600)]
    for start, pairs in ((570, 1), (540, 0), (600, 0)):
        day = Day("LifeOps-v0", document(calendar=calendar, pending_requests=[request(start, start)]))
        _, parts, _ = day.act("accept_event")
        assert parts.get("overlap_penalty", 0) == -5 * pairs


def test_a_zero_length_request_can_only_be_accepted_or_rejected():
    day = Day("LifeOps-Shaped-v0", document(pending_requests=[request(600, 600)]))
    assert [index for index, _ in day.codec.legal_actions(day.state)] == [0, 1]


def test_a_meeting_longer_than_the_window_breaks_one_wish():
    persona = {"persona_id": "p", "home_location": "Office", "primary_work_location": "Office"}
    persona["preferred_meeting_window"] = [600, 660]
    day = Day("LifeOps-v0", document(persona=persona, pending_requests=[request(570, 690)]))
    assert day.act("accept_event")[1] == {"preference_penalty": -2}


def test_touching_events_do_not_overlap():
    day = Day("LifeOps-v0", document(calendar=[event("e1", 570, 600), event("e2", 630, 660)]))
    assert day.act("accept_event")[0] == 0


def test_a_nested_event_hides_the_longer_ones_onward_leg():
    calendar = [event("long", 540, 700, "Office"), event("later", 700, 720, "Gym")]
    alone = Day("LifeOps-v0", document(calendar=calendar))
    assert "travel_penalty" in alone.act("reject_event")[1]  # Office to Gym takes 10 minutes, there are none
    nested = Day("LifeOps-v0", document(calendar=calendar, pending_requests=[request(600, 620, location="Gym")]))
    assert "travel_penalty" not in nested.act("accept_event")[1]


@pytest.mark.parametrize(("departure_min", "issues"), [(0, 1), (10, 1)])
def test_the_leg_from_home_is_judged_by_the_time_since_departure(departure_min, issues):
    day = Day("LifeOps-v0", document(calendar=[event("early", 20, 40)]), departure_min)
    assert day.act("reject_event")[1]["travel_penalty"] == -4 * issues


def test_an_eight_oclock_event_is_out_of_reach_of_somebody_who_leaves_at_eight():
    calendar = [event("e1", 480, 510)]
    assert "travel_penalty" not in Day("LifeOps-v0", document(calendar=calendar)).act("reject_event")[1]
    assert "travel_penalty" in Day("LifeOps-v0", document(calendar=calendar), 480).act("reject_event")[1]


def test_an_unknown_place_is_half_an_hour_away_and_no_time_from_itself():
    calendar = [event("e1", 540, 600, "Moon")]
    for start, place, is_issue in ((629, "Office", True), (630, "Office", False), (600, "Moon", False)):
        day = Day("LifeOps-v0", document(calendar=calendar, pending_requests=[request(start, 660, location=place)]))
        assert ("travel_penalty" in day.act("accept_event")[1]) == is_issue


def test_travel_times_have_a_direction():
    there = [event("e1", 540, 590, "Office")], [request(610, 630, location="Gym")]
    back = [event("e1", 540, 590, "Gym")], [request(610, 630, location="Office")]
    for (calendar, requests), is_issue in ((there, False), (back, True)):
        day = Day("LifeOps-v0", document(calendar=calendar, pending_requests=requests))
        assert ("travel_penalty" in day.act("accept_event")[1]) == is_issue


def test_a_move_is_clamped_to_the_day_and_each_start_is_offered_once():
    day = Day("LifeOps-Shaped-v0", document(pending_requests=[request(20, 50)]))
    legal = [action for _, action in day.codec.legal_actions(day.state)]
    starts = [action["new_start_min"] for action in legal if action["action_type"] == "propose_new_time"]
    assert starts == [0, 50, 80, 110, 140, 540, 600, 660, 780, 840, 900, 960, 1020]
    day.act("reschedule_event", start=0)
    assert day.codec.observation(day.state)["calendar"][0]["start_min"] == 0


def test_midnight_is_a_time():
    day = Day("LifeOps-v0", document(calendar=[event("e1", 0, 0, "Home")], pending_requests=[request(1410, 1440)]))
    assert [a["new_start_min"] for _, a in day.codec.legal_actions(day.state)][2:] == [1380, 1380, 1410, 1410]
    assert "overlap_penalty" not in day.act("accept_event")[1]


def test_running_out_of_time_with_work_left_costs_four_and_truncates():
    tasks = [{"task_id": "t1", "remaining_minutes": 60}]
    day = Day("LifeOps-Shaped-v0", document(tasks=tasks, max_steps=1))
    _, parts, terminated = day.act("accept_event")
    assert parts["truncation_goal_miss_penalty"] == -4
    assert not terminated
    assert day.env.is_truncated(day.state, day.params)


def test_running_out_of_time_without_work_costs_nothing():
    requests = [request(), request(event_id="r2")]
    day = Day("LifeOps-Shaped-v0", document(pending_requests=requests, max_steps=1))
    _, parts, terminated = day.act("reject_event")
    assert "truncation_goal_miss_penalty" not in parts
    assert not terminated
    assert day.env.is_truncated(day.state, day.params)


def test_both_ends_at_once_are_a_natural_end():
    day = Day("LifeOps-v0", document(max_steps=1))
    assert day.act("reject_event")[2]
    assert not day.env.is_truncated(day.state, day.params)


def cascade(start_of_third, flexible=False, importance=3):
    """A low request now, one behind it, and a third that may be shadowed."""
    third = request(start_of_third, start_of_third + 30, event_id="r3", importance=importance, flexible=flexible)
    return document(pending_requests=[request(600, 630), request(800, 830, event_id="r2"), third])


def test_accepting_what_shadows_an_important_later_request_costs_three():
    assert Day("LifeOps-Shaped-v0", cascade(615)).act("accept_event")[1]["cascade_penalty"] == -3
    for spared in (cascade(630), cascade(615, flexible=True), cascade(615, importance=2)):
        assert "cascade_penalty" not in Day("LifeOps-Shaped-v0", spared).act("accept_event")[1]


def test_the_request_right_behind_is_no_cascade():
    requests = [request(600, 630), request(600, 630, event_id="r2", importance=3, flexible=False)]
    assert "cascade_penalty" not in Day("LifeOps-Shaped-v0", document(pending_requests=requests)).act("accept_event")[1]


def test_an_illegal_action_moves_only_the_clock():
    tasks = [{"task_id": "t1", "remaining_minutes": 60, "due_in_days": 0}]
    day = Day("LifeOps-Shaped-v0", document(tasks=tasks, pending_requests=[request(600, 600)]))
    before = day.state
    for index, clock in ((2, 1), (-1, 2), (46, 3)):
        reward, parts, _ = day.step(index)
        assert parts == {"invalid_action": -1, "deadline_pressure_penalty": pytest.approx(-0.6)}
        assert reward == pytest.approx(-1.6)
        jax.tree.map(np.testing.assert_array_equal, day.state, before.replace(clock=jnp.int16(clock)))


def test_weights_are_traced_numbers():
    env, params, _ = engine("LifeOps-v0")
    _, state = env.reset(jax.random.key(0), params, 7)  # s1_basic_conflict
    doubled = params.replace(weights=params.weights.replace(overlap_penalty=jnp.float32(-10.0)))
    sweep = jax.tree.map(lambda *leaves: jnp.stack(leaves), params, doubled)
    step = jax.jit(jax.vmap(env.step_env, in_axes=(None, None, None, 0)))
    rewards = step(jax.random.key(0), state, jnp.int32(0), sweep)[2]
    assert rewards.tolist() == [-10, -20]
