"""The reference engine of LifeOps against every recorded trace."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from reference import lifeops
from reference.lifeops import Day, Outcome, Record
from reference.lifeops_baselines import heuristic
from reference.lifeops_library import LIBRARY

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
