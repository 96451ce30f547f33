"""The reference engine of LifeOps against every number of docs/rules/lifeops.md, section 7."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from reference import lifeops
from reference.lifeops import Day
from reference.lifeops_baselines import careful, episode_return, heuristic
from reference.lifeops_library import LIBRARY
from reference.lifeops_search import solve

STEP, RETURN = 1e-5, 1e-4


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


@pytest.mark.slow
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
