"""The reward of a step: its parts, from everything that it depends on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from reference.lifeops_calendar import overlaps, preference_units
from reference.lifeops_rules import MEETING_LIKE, Record


@dataclass
class Outcome:
    """Everything about one step that its reward depends on."""

    action_type: str | None  # None: the entry was not legal
    persona: Record
    overlap_count: int  # of the calendar after the step
    travel_count: int  # of the calendar after the step
    request: Record | None = None  # the handled request at its original time
    event: Record | None = None  # the same at its new time (accept, reschedule, propose)
    clean: bool = False  # the calendar with `event` has no overlaps and no travel issues
    progress: int = 0  # minutes that a focus block worked off
    fallen: int = 0  # by how much the minutes left fell
    minutes_left: int = 0  # after the step
    pressing: int = 0  # after the step, of tasks that are due today or tomorrow
    previewed: list[Record] = field(default_factory=list)  # queue items 2 and 3 after the step
    day_of_week: str | None = None
    limit_reached: bool = False


def standing_parts(outcome: Outcome, c: dict[str, float]) -> dict[str, float]:
    """The parts that apply at every step, also after an entry that is not legal."""
    weight = outcome.persona["travel_aversion_weight"]
    pressure = min(c["deadline_limit"], -c["deadline_per_minute"] * outcome.pressing)
    missed = outcome.limit_reached and outcome.minutes_left > 0
    return {
        "overlap_penalty": c["overlap"] * outcome.overlap_count,
        "travel_penalty": c["travel"] * outcome.travel_count * weight,
        "deadline_pressure_penalty": -pressure,
        "truncation_goal_miss_penalty": c["truncation_goal_miss"] if missed else 0.0,
    }


def request_parts(outcome: Outcome, c: dict[str, float]) -> dict[str, float]:
    """The parts of the four request actions."""
    kind, request = outcome.action_type, outcome.request
    parts = {"handled_request_bonus": c["handled_request"]}
    if kind == "reject_event":
        if request["importance"] >= 3:
            parts["rejected_important_penalty"] = c["rejected_important"]
        else:
            parts["rejected_low_importance_bonus"] = c["rejected_low_importance"]
        return parts

    if outcome.event["kind"] in MEETING_LIKE:
        units = preference_units(outcome.event, outcome.persona)
        if units > 0:
            weighted = units * outcome.persona["preference_weight"]
            parts["preference_penalty"] = c["preference_unit"] * weighted
        else:
            parts["preference_bonus"] = c["preference_bonus"]
    if outcome.clean and kind == "propose_new_time":
        parts["feasible_proposal_bonus"] = c["feasible_proposal"]
    elif outcome.clean:
        important = request["importance"] >= 2
        name = "feasible_schedule_important" if important else "feasible_schedule_other"
        parts["feasible_schedule_bonus"] = c[name]
    if kind != "accept_event" and not request["flexible"]:
        parts["inflexible_reschedule_penalty"] = c["inflexible_reschedule"]
    if kind == "accept_event" and shadows_important(request, outcome.previewed):
        parts["cascade_penalty"] = c["cascade"]
    if kind == "accept_event" and outcome.day_of_week == "Monday" and request["importance"] <= 2:
        parts["monday_cancellation_penalty"] = c["monday_cancellation"]
    return parts


def shadows_important(request: Record, previewed: Sequence[Record]) -> bool:
    """Whether an unimportant request overlaps a previewed important one that cannot move."""
    return request["importance"] <= 1 and any(
        later["importance"] >= 3 and not later["flexible"] and overlaps(request, later) for later in previewed
    )


def focus_parts(outcome: Outcome, c: dict[str, float]) -> dict[str, float]:
    """The parts of a focus block."""
    if outcome.progress <= 0:
        return {"wasted_focus_penalty": c["wasted_focus"]}
    earned = c["focus_base"] + c["focus_per_minute"] * outcome.progress
    return {"focus_reward": earned * outcome.persona["focus_time_weight"]}


# fmt: off
PARTS: tuple[str, ...] = (
    "overlap_penalty", "travel_penalty", "handled_request_bonus", "rejected_important_penalty",
    "rejected_low_importance_bonus", "preference_penalty", "preference_bonus", "focus_reward",
    "wasted_focus_penalty", "feasible_schedule_bonus", "feasible_proposal_bonus",
    "inflexible_reschedule_penalty", "cascade_penalty", "monday_cancellation_penalty",
    "deadline_pressure_penalty", "truncation_goal_miss_penalty", "task_progress_bonus",
    "invalid_action",
)
# fmt: on


def reward_parts(outcome: Outcome, c: dict[str, float]) -> dict[str, float]:
    """Every named part of the reward, zeros included; the reward is their sum."""
    parts = dict.fromkeys(PARTS, 0.0)
    parts.update(standing_parts(outcome, c))
    if outcome.action_type is None:
        parts["invalid_action"] = c["invalid_action"]
        return parts
    if outcome.action_type == "block_focus_time":
        parts.update(focus_parts(outcome, c))
    else:
        parts.update(request_parts(outcome, c))
    parts["task_progress_bonus"] = min(c["progress_limit"], c["progress_per_minute"] * outcome.fallen)
    return parts
