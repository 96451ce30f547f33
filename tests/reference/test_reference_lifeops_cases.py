"""The reference engine of LifeOps in cases that no trace tells."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reference import lifeops
from reference.lifeops import Day, Record
from reference.lifeops_library import LIBRARY


def event(name: str, start: int, end: int, place: str = "Office", **more: Any) -> Record:
    return {"event_id": name, "start_min": start, "end_min": end, "location": place, **more}


def document(**more: Any) -> Record:
    return {"persona": "early_bird_engineer", "travel_times": lifeops.TRAVEL_TIMES, **more}


def task(name: str, minutes: int, **more: Any) -> Record:
    return {"task_id": name, "remaining_minutes": minutes, **more}


def first_focus(day: Day) -> int:
    return next(i for i in day.legal() if day.action(i)["action_type"] == "block_focus_time")


def test_catalogue_sizes() -> None:
    sizes = {rules: Day(LIBRARY["easy_1"], rules).catalogue_size for rules in lifeops.RULES}
    assert sizes == {"classic": 16, "shaped": 46}


def test_document_is_left_alone_and_defaults_are_filled() -> None:
    given = document(pending_requests=[event("r", 600, 630)], tasks=[task("t", 30)])
    before = json.dumps(given)
    day = Day(given)
    day.step(0)
    assert json.dumps(given) == before
    assert day.max_steps == 6
    assert day.calendar[0] == event("r", 600, 630) | {
        "title": "",
        "from_person": "",
        "importance": 1,
        "kind": "meeting",
        "flexible": True,
    }
    assert day.tasks == [task("t", 30) | {"title": "", "priority": 2, "due_in_days": None}]


def test_tie_of_priority_goes_to_the_smaller_string() -> None:
    day = Day(document(tasks=[task("t2", 60), task("t10", 60), task("t1", 60, priority=1)]))
    day.step(first_focus(day))
    assert [t["remaining_minutes"] for t in day.tasks] == [60, 30, 60]


def test_what_a_block_has_left_over_is_lost() -> None:
    day = Day(document(tasks=[task("a", 10), task("b", 60)]))
    step = day.step(first_focus(day))
    assert [t["remaining_minutes"] for t in day.tasks] == [0, 60]
    assert step.parts["focus_reward"] == pytest.approx((1 + 0.02 * 10) * 1.1)


def test_zero_length_and_touching_events() -> None:
    assert lifeops.overlap_pairs([event("a", 600, 660), event("b", 630, 630)]) == [("a", "b")]
    assert lifeops.overlap_pairs([event("a", 600, 660), event("b", 600, 600)]) == []
    assert lifeops.overlap_pairs([event("a", 630, 630), event("b", 630, 630)]) == []
    assert lifeops.overlap_pairs([event("a", 600, 660), event("b", 660, 690)]) == []


def test_zero_length_request_can_only_be_accepted_or_rejected() -> None:
    for rules in lifeops.RULES:
        assert Day(document(pending_requests=[event("r", 600, 600)]), rules).legal() == [0, 1]


def test_meeting_longer_than_the_window_is_one_unit() -> None:
    persona = lifeops.PERSONAS["early_bird_engineer"]
    assert lifeops.preference_units(event("a", 500, 1000), persona) == 1
    assert lifeops.preference_units(event("a", 500, 1060), persona) == 2


def test_nested_event_hides_the_onward_leg() -> None:
    day = [
        event("long", 600, 720),
        event("inner", 630, 640, "Downtown"),
        event("z", 720, 750, "Gym"),
    ]
    assert lifeops.travel_issues(day, lifeops.TRAVEL_TIMES, None) == []


def test_ties_keep_the_calendar_order() -> None:
    near, far = event("near", 600, 630, "Office"), event("far", 600, 630, "Downtown")
    onward = event("z", 640, 700, "Office")
    times = lifeops.TRAVEL_TIMES
    assert lifeops.travel_issues([far, near, onward], times, None) == []
    assert lifeops.travel_issues([near, far, onward], times, None) == [("far", "z", 18, 10)]


def test_leg_from_home() -> None:
    early = [event("a", 20, 40)]
    assert lifeops.travel_issues(early, lifeops.TRAVEL_TIMES, "Home") == [("__start__", "a", 25, 20)]
    morning = [event("a", 480, 510)]
    assert lifeops.travel_issues(morning, lifeops.TRAVEL_TIMES, "Home") == []
    late = lifeops.travel_issues(morning, lifeops.TRAVEL_TIMES, "Home", departure_min=480)
    assert late == [("__start__", "a", 25, 0)]


def test_travel_times() -> None:
    one_way = {"A": {"A": 9, "B": 50}, "B": {"A": 5}}
    assert lifeops.travel_minutes(one_way, "A", "A") == 0
    assert lifeops.travel_minutes(one_way, "A", "B") == 50
    assert lifeops.travel_minutes(one_way, "B", "A") == 5
    assert lifeops.travel_minutes(one_way, "B", "nowhere") == 30
    assert lifeops.travel_minutes(one_way, "nowhere", "A") == 30
    assert lifeops.travel_minutes(one_way, "nowhere", "nowhere") == 0


def test_clamped_candidates_are_legal_once() -> None:
    rules = lifeops.RULES["shaped"]
    times = lifeops.candidate_times(event("r", 20, 50), rules)
    assert times[:8] == [(0, 30), None, None, None, (50, 80), (80, 110), (110, 140), (140, 170)]
    times = lifeops.candidate_times(event("r", 1380, 1440), lifeops.RULES["classic"])
    assert times == [(1350, 1410), (1380, 1440), None]


def test_step_limit_with_work_left() -> None:
    day = Day(document(tasks=[task("t", 90)], max_steps=1), "shaped")
    step = day.step(first_focus(day))
    assert (step.terminated, step.truncated) == (False, True)
    assert step.parts["truncation_goal_miss_penalty"] == -4


def test_both_ends_at_once_is_a_natural_end() -> None:
    day = Day(document(tasks=[task("t", 30)], max_steps=1), "shaped")
    step = day.step(first_focus(day))
    assert (step.terminated, step.truncated) == (True, False)
    assert step.parts["truncation_goal_miss_penalty"] == 0
    assert day.legal() == []


@pytest.mark.parametrize("index", [4, 13, 16, 46, 99, -1])
def test_illegal_entry_moves_only_the_clock(index: int) -> None:
    calendar = [event("a", 600, 660), event("b", 630, 690)]
    given = document(calendar=calendar, pending_requests=[event("r", 1440, 1440)], max_steps=1)
    day = Day(given)
    before = (json.dumps(day.calendar), json.dumps(day.queue))
    step = day.step(index)
    assert (json.dumps(day.calendar), json.dumps(day.queue)) == before
    assert (day.clock, step.terminated, step.truncated) == (1, False, True)
    assert {name: value for name, value in step.parts.items() if value != 0} == {
        "overlap_penalty": -5,
        "invalid_action": -1,
    }


def test_monday_penalty_asks_for_no_kind() -> None:
    queue = [event("r", 600, 630, kind="focus", importance=2)]
    step = Day(document(pending_requests=queue, day_of_week="Monday"), "shaped").step(0)
    assert step.parts["monday_cancellation_penalty"] == -4
    assert step.parts["preference_bonus"] == 0
    assert step.parts["feasible_schedule_bonus"] == 4


def test_cascade_penalty_looks_behind_the_new_head() -> None:
    shadow = [
        event("low", 600, 630),
        event("mid", 800, 830),
        event("top", 615, 645, importance=3, flexible=False),
    ]
    queue_second = [shadow[0], shadow[2], shadow[1]]
    for queue, expected in ((shadow, -3), (queue_second, 0)):
        step = Day(document(pending_requests=queue), "shaped").step(0)
        assert step.parts["cascade_penalty"] == expected
