"""The reference engine of LifeOps against every recorded trace and every number of the rules."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from reference import lifeops
from reference.lifeops import Day, Outcome, Record
from reference.lifeops_baselines import careful, episode_return, heuristic
from reference.lifeops_library import LIBRARY
from reference.lifeops_search import solve

DATA = Path(__file__).parents[1] / "data"
NOT_PARTS = ("total", "travel_issues", "overlap_count", "travel_issue_count")
STEP, RETURN = 1e-5, 1e-4


# --------------------------------------------------------------------------------- reading traces


def read(rules: str, what: str) -> list[Record]:
    with gzip.open(DATA / f"lifeops_{rules}_{what}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def episodes() -> list[Any]:
    """Every recorded episode: its rules, its document, and its steps."""
    found = []
    for rules in lifeops.RULES:
        for what in ("episodes", "random_scenarios"):
            runs: dict[tuple[str, int, str], list[Record]] = {}
            for line in read(rules, what):
                key = (line["policy"], line["traj"], line["scenario_id"])
                runs.setdefault(key, []).append(line)
            for (policy, number, scenario), steps in runs.items():
                document = steps[0].get("scenario") or LIBRARY[scenario]
                name = f"{rules}-{what}-{policy}-{number}-{scenario}"
                found.append(pytest.param(rules, document, steps, id=name))
    return found


def cases(fn: str) -> list[tuple[str, Record]]:
    return [(rules, case) for rules in lifeops.RULES for case in read(rules, "cases") if case["fn"] == fn]


def five(action: Record) -> tuple:
    fields = ("action_type", "request_id", "new_start_min", "new_end_min", "duration_min")
    return tuple(action[name] for name in fields)


def legal_entries(day: Day) -> dict[tuple, int]:
    return {five(day.action(index)): index for index in day.legal()}


def assert_parts(parts: dict[str, float], reward: float, recorded: Record) -> None:
    """The parts that are not zero are the recorded ones, and all of them sum to the reward."""
    expected = {name: value for name, value in recorded.items() if name not in NOT_PARTS}
    assert set(parts) == set(lifeops.PARTS)
    assert {name: value for name, value in parts.items() if value != 0} == pytest.approx(expected, abs=STEP)
    assert sum(parts.values()) == pytest.approx(reward, abs=STEP)
    assert recorded["total"] == pytest.approx(reward, abs=STEP)


def assert_records(mine: list[Record], recorded: list[Record]) -> None:
    """The same records in the same order, as far as the recording tells."""
    assert len(mine) == len(recorded)
    for record, expected in zip(mine, recorded, strict=True):
        assert {name: record[name] for name in expected} == expected


# ----------------------------------------------------------------------------------------- replay


@pytest.mark.parametrize(("rules", "document", "steps"), episodes())
def test_episode_replays(rules: str, document: Record, steps: list[Record]) -> None:
    day = Day(document, rules)
    assert_starts(day, steps[0]["initial"])
    total = 0.0
    for number, line in enumerate(steps):
        assert (line["step"], day.clock) == (number, number)
        entries = legal_entries(day)
        recorded = [tuple(action) for action in line["valid_actions"]]
        assert set(entries) == set(recorded)
        if line["feasible_idx"] is not None:
            feasible = {five(day.action(index)) for index in day.feasible()}
            assert feasible == {recorded[index] for index in line["feasible_idx"]}
        assert recorded[line["action_idx"]] == five(line["action"])
        if line["policy"] == "heuristic":
            assert heuristic(day) == entries[five(line["action"])]

        task = lifeops.current_task(day.tasks)
        task_id = task and task["task_id"]
        before = lifeops.minutes_left(day.tasks)
        step = day.step(entries[five(line["action"])])
        total += step.reward
        assert_parts(step.parts, line["reward"], line["reward_breakdown"])
        assert step.reward == pytest.approx(line["reward"], abs=STEP)
        assert total == pytest.approx(line["return_so_far"], abs=RETURN)
        assert (step.terminated or step.truncated) == line["done"]
        progress = before - lifeops.minutes_left(day.tasks)
        assert line["last_task_progress_minutes"] == progress
        assert line["last_task_id_progressed"] == (task_id if progress else None)
        assert_state(day, step, line)
    assert steps[-1]["done"]


def assert_starts(day: Day, initial: Record) -> None:
    assert_records([day.persona], [initial["persona"]])
    assert_records(day.calendar, initial["calendar"])
    assert_records(day.tasks, initial["tasks"])
    assert_records(day.queue[:1], [initial["current_request"]] if day.queue else [])
    if "upcoming_requests_preview" in initial:
        assert_records(day.preview, initial["upcoming_requests_preview"])
    assert day.day_of_week == initial.get("day_of_week", day.day_of_week)
    assert (day.clock, day.max_steps) == (initial["step_count"], initial["max_steps"])
    assert len(day.queue) == initial["pending_request_count"]


def assert_state(day: Day, step: lifeops.Step, line: Record) -> None:
    assert [list(pair) for pair in step.overlaps] == line["overlaps"]
    assert [list(issue) for issue in step.travel_issues] == line["travel_issues"]
    assert_records(day.calendar, line["calendar_after"])
    assert_records(day.tasks, line["tasks_after"])
    current = line["current_request_after"]
    assert_records(day.queue[:1], [] if current is None else [current])
    if line["preview_after"] is not None:
        assert_records(day.preview, line["preview_after"])
    assert len(day.queue) == line["pending_after"]
    assert (day.clock, day.max_steps) == (line["step_count_after"], line["max_steps"])
    counts = (len(step.overlaps), len(step.travel_issues))
    recorded = line["reward_breakdown"]
    assert recorded.get("overlap_count", counts[0]) == counts[0]
    assert recorded.get("travel_issue_count", counts[1]) == counts[1]


@pytest.mark.parametrize("rules", lifeops.RULES)
@pytest.mark.parametrize("scenario", LIBRARY)
def test_first_steps_replay(rules: str, scenario: str) -> None:
    lines = [line for line in read(rules, "first_steps") if line["scenario_id"] == scenario]
    entries = legal_entries(Day(LIBRARY[scenario], rules))
    assert set(entries) == {five(line["action"]) for line in lines}
    for line in lines:
        step = Day(LIBRARY[scenario], rules).step(entries[five(line["action"])])
        assert_parts(step.parts, line["reward"], line["reward_breakdown"])
        assert (step.terminated or step.truncated) == line["done"]


# ------------------------------------------------------------------------------------------ cases


def test_every_kind_of_case_is_replayed() -> None:
    known = {"overlaps+travel", "preference_units", "compute_reward", "valid_actions"}
    assert {case["fn"] for rules in lifeops.RULES for case in read(rules, "cases")} == known


def test_overlap_and_travel_cases() -> None:
    for _, case in cases("overlaps+travel"):
        events = case["events"]
        assert [list(pair) for pair in lifeops.overlap_pairs(events)] == case["overlaps"]
        issues = lifeops.travel_issues(events, case["travel_times"], case["start_location"])
        assert [list(issue) for issue in issues] == case["travel_issues"]


def test_preference_cases() -> None:
    for _, case in cases("preference_units"):
        persona = lifeops.PERSONAS[case["persona_id"]]
        event = {"start_min": case["start"], "end_min": case["end"]}
        weighted = lifeops.preference_units(event, persona) * persona["preference_weight"]
        assert weighted == pytest.approx(case["units"], abs=STEP)


def test_valid_action_cases() -> None:
    for rules, case in cases("valid_actions"):
        state = case["state"]
        work_left = lifeops.minutes_left(state["tasks"]) > 0
        entries = lifeops.catalogue(state["current_request"], work_left, lifeops.RULES[rules])
        legal = [five(action) for action in entries if action is not None]
        assert len(set(legal)) == len(legal)
        assert set(legal) == {tuple(key) for key in case["keys"]}


def test_reward_cases() -> None:
    for rules, case in cases("compute_reward"):
        parts = lifeops.reward_parts(case_outcome(case), lifeops.RULES[rules]["reward"])
        assert_parts(parts, case["reward"], case["breakdown"])


def case_outcome(case: Record) -> Outcome:
    before, after = case["prev"], case["next"]
    calendar, event = after["calendar"], after["last_added_event"]
    home, times = after["persona"]["home_location"], after["travel_times"]
    proposed = case["action"]["action_type"] == "propose_new_time"
    tested = [*calendar, event] if proposed else calendar
    clean = not lifeops.overlap_pairs(tested) and not lifeops.travel_issues(tested, times, home)
    return Outcome(
        action_type=case["action"]["action_type"],
        persona=after["persona"],
        overlap_count=len(lifeops.overlap_pairs(calendar)),
        travel_count=len(lifeops.travel_issues(calendar, times, home)),
        request=after["last_handled_request"],
        event=event,
        clean=event is not None and clean,
        progress=after["last_task_progress_minutes"],
        fallen=lifeops.minutes_left(before["tasks"]) - lifeops.minutes_left(after["tasks"]),
        minutes_left=lifeops.minutes_left(after["tasks"]),
        pressing=lifeops.pressing_minutes(after["tasks"]),
        previewed=after["upcoming_requests_preview"],
        day_of_week=after["day_of_week"],
        limit_reached=after["_truncated"],
    )


# ------------------------------------------------------------------------- numbers from the rules

GOLDEN_FIRST_STEPS = [
    ("s1_basic_conflict", "accept_event", -10, -4.5),
    ("s1_basic_conflict", "reject_event", -4, -2.5),
    ("s2_travel_tight", "accept_event", -3.2, -0.1),
    ("s3_focus_vs_meeting", "accept_event", -5, -1.5),
    ("s3_focus_vs_meeting", "block_focus_time", 1.76, 4.26),
    ("s4_parent_pickup", "accept_event", -7.8, -4.6),
    ("s5_late_meeting", "accept_event", -4.8, -3.1),
    ("easy_2", "accept_event", -5.6, -1.7),
    ("easy_2", "reject_event", 0, 1.0),
    ("edge_cascade_1", "accept_event", 0, 2.9),
    ("edge_cascade_1", "block_focus_time", -3.24, 0.96),
    ("edge_mood_monday_1", "accept_event", 0, -0.5),
]


@pytest.mark.parametrize(("scenario", "kind", "classic", "shaped"), GOLDEN_FIRST_STEPS)
def test_golden_first_steps(scenario: str, kind: str, classic: float, shaped: float) -> None:
    for rules, expected in (("classic", classic), ("shaped", shaped)):
        day = Day(LIBRARY[scenario], rules)
        # The first entry of its kind; of the focus blocks that is 540 for 30 minutes.
        first = next(i for i in day.legal() if day.action(i)["action_type"] == kind)
        assert day.step(first).reward == pytest.approx(expected, abs=STEP)


# scenario: (random, heuristic, best, worst), classic and then shaped
RETURNS = {
    "easy_1": ((0, 0, 0, 0), (3.5679, 5.5, 5.5, -1.5)),
    "easy_2": ((-3.5, -5.6, 0, -5.6), (-0.1147, -1.7, 3.5, -1.7)),
    "medium_1": ((-4.6453, 3.2, 3.2, -36.8), (4.7060, 8.8, 13.3, -20.7)),
    "medium_2": ((-15.2384, -2.19, -2.19, -46.79), (-0.8528, 7.66, 12.16, -24.94)),
    "edge_cascade_1": ((-12.9568, -0.48, 3.52, -125.48), (-3.8844, 12.92, 22.72, -104.08)),
    "edge_mood_monday_1": ((-6.1656, 3.2, 3.2, -36.8), (3.7337, 7.3, 11.3, -20.7)),
    "edge_deadline_1": ((-101.8835, -41.4, -8.66, -556.36), (-32.7710, 6.6, 24.94, -351.7)),
    "s1_basic_conflict": ((-10.1661, 1.28, 5.28, -69.72), (4.4789, 10.28, 13.28, -35.72)),
    "s2_travel_tight": ((-1.6234, 3.2, 3.2, -26.8), (7.3309, 8.8, 13.3, -14.7)),
    "s3_focus_vs_meeting": ((-36.0471, -6.2, 6.93, -271.2), (4.9758, 18.3, 25.28, -149.2)),
    "s4_parent_pickup": ((-22.8664, -4.95, 0.35, -86.35), (-4.3639, 7.7, 10.7, -56.4)),
    "s5_late_meeting": ((-5.2925, -1.28, 3.52, -36.28), (5.9675, 5.42, 14.02, -19.98)),
}
SLOW = {("edge_deadline_1", "shaped")}


def returns() -> list[Any]:
    return [
        pytest.param(
            scenario,
            rules,
            expected,
            id=f"{scenario}-{rules}",
            marks=[pytest.mark.slow] if (scenario, rules) in SLOW else [],
        )
        for scenario, both in RETURNS.items()
        for rules, expected in zip(lifeops.RULES, both, strict=True)
    ]


@pytest.mark.parametrize(("scenario", "rules", "expected"), returns())
def test_best_worst_and_random_returns(scenario: str, rules: str, expected: tuple[float, float, float, float]) -> None:
    random, _, best, worst = expected
    solution = solve(LIBRARY[scenario], rules)
    assert solution.random == pytest.approx(random, abs=5.1e-5)
    assert solution.best == pytest.approx(best, abs=STEP)
    assert solution.worst == pytest.approx(worst, abs=STEP)


@pytest.mark.parametrize("scenario", LIBRARY)
def test_heuristic_returns(scenario: str) -> None:
    for rules, expected in zip(lifeops.RULES, RETURNS[scenario], strict=True):
        mine = episode_return(LIBRARY[scenario], rules, heuristic)
        assert mine == pytest.approx(expected[1], abs=RETURN)


def test_heuristic_mean_scores() -> None:
    for column, (mean, count) in enumerate([(0.679, 11), (0.481, 12)]):
        rows = [both[column] for both in RETURNS.values()]
        scores = [(mine - random) / (best - random) for random, mine, best, _ in rows if best - random >= 0.1]
        assert len(scores) == count
        assert sum(scores) / count == pytest.approx(mean, abs=5.1e-4)


@pytest.mark.parametrize("rules", lifeops.RULES)
@pytest.mark.parametrize("scenario", LIBRARY)
def test_careful_ends_without_overlaps(scenario: str, rules: str) -> None:
    day = Day(LIBRARY[scenario], rules)
    while not (day.terminated or day.truncated):
        step = day.step(careful(day))
    # `test_one_overlap_is_unavoidable` shows that no policy does better here.
    unavoidable = int((scenario, rules) == ("edge_deadline_1", "classic"))
    assert len(step.overlaps) == unavoidable


def test_one_overlap_is_unavoidable() -> None:
    assert not can_end_without_overlaps(Day(LIBRARY["edge_deadline_1"], "classic"), set())
    assert can_end_without_overlaps(Day(LIBRARY["edge_deadline_1"], "shaped"), set())


def can_end_without_overlaps(day: Day, seen: set[tuple]) -> bool:
    """Whether any way through the rest of the day ends with no overlap; `seen` ones failed."""
    if day.terminated or day.truncated:
        return True
    times = sorted((event["start_min"], event["end_min"]) for event in day.calendar)
    node = (day.clock, len(day.queue), lifeops.minutes_left(day.tasks), *times)
    if node in seen:
        return False
    seen.add(node)
    for index in day.legal():
        later = copy.deepcopy(day)
        if not later.step(index).overlaps and can_end_without_overlaps(later, seen):
            return True
    return False


# ----------------------------------------------------------------------- cases that no trace tells


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
