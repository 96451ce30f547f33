"""LifeOps in slow, plain Python: the executable form of the rules, and the oracle of the tests.

Everything here is written to be read next to the rules. Times are integer minutes after midnight,
records are plain dictionaries with the document's field names, and nothing is precomputed.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from reference.lifeops_rules import BLOCKED_HOURS as BLOCKED_HOURS
from reference.lifeops_rules import (
    DAY_END,
    DEFAULT_TRAVEL,
    EVENT_DEFAULTS,
    MEETING_LIKE,
    PERSONA_DEFAULTS,
    REQUEST_DEFAULTS,
    START,
    TASK_DEFAULTS,
    Matrix,
    Record,
)
from reference.lifeops_rules import PERSONAS as PERSONAS
from reference.lifeops_rules import RULES as RULES
from reference.lifeops_rules import TRAVEL_TIMES as TRAVEL_TIMES

# ------------------------------------------------------------------ calendars: overlap and travel


def overlaps(a: Record, b: Record) -> bool:
    """Whether two events share time; touching is fine."""
    return a["start_min"] < b["end_min"] and b["start_min"] < a["end_min"]


def overlap_pairs(events: Sequence[Record]) -> list[tuple[str, str]]:
    """The ids of every unordered pair of overlapping events, in calendar order."""
    return [
        (a["event_id"], b["event_id"])
        for position, a in enumerate(events)
        for b in events[position + 1 :]
        if overlaps(a, b)
    ]


def travel_minutes(travel_times: Matrix, origin: str, target: str) -> int:
    """Minutes from one place to another: 0 at the same place, 30 where the matrix is silent."""
    if origin == target:
        return 0
    return travel_times.get(origin, {}).get(target, DEFAULT_TRAVEL)


def travel_issues(
    events: Sequence[Record],
    travel_times: Matrix,
    start_location: str | None,
    departure_min: int = 0,
) -> list[tuple[str, str, int, int]]:
    """Legs of the day that need more minutes than there are: (from, to, needed, available).

    The first leg starts from `start_location` (None: there is no first leg). Python's sort is
    stable, so events with the same start and end keep their calendar order.
    """
    day = sorted(events, key=lambda event: (event["start_min"], event["end_min"]))
    issues = []
    if day and start_location is not None:
        first = day[0]
        needed = travel_minutes(travel_times, start_location, first["location"])
        available = max(0, first["start_min"] - departure_min)
        if needed > available:
            issues.append((START, first["event_id"], needed, available))
    for before, after in pairwise(day):
        needed = travel_minutes(travel_times, before["location"], after["location"])
        gap = after["start_min"] - before["end_min"]
        if gap >= 0 and needed > gap:
            issues.append((before["event_id"], after["event_id"], needed, gap))
    return issues


def in_blocked_hours(event: Record) -> bool:
    """Whether a meeting-like event reaches into the hours that the feasible mask keeps free."""
    if event["kind"] not in MEETING_LIKE:
        return False
    return any(event["start_min"] < end and start < event["end_min"] for start, end in BLOCKED_HOURS)


def preference_units(event: Record, persona: Record) -> int:
    """How many of the persona's wishes about meeting times an event breaks, unweighted."""
    window_start, window_end = persona["preferred_meeting_window"]
    before = persona["avoid_meetings_before_min"]
    after = persona["avoid_meetings_after_min"]
    outside = event["start_min"] < window_start or event["end_min"] > window_end
    early = before is not None and event["start_min"] < before
    late = after is not None and event["end_min"] > after
    return int(outside) + int(early) + int(late)


# ------------------------------------------------------------------------------------------ tasks


def minutes_left(tasks: Sequence[Record]) -> int:
    """Unfinished minutes over all tasks."""
    return sum(task["remaining_minutes"] for task in tasks)


def pressing_minutes(tasks: Sequence[Record]) -> int:
    """Unfinished minutes over the tasks that are due today or tomorrow."""
    return sum(
        task["remaining_minutes"] for task in tasks if task["due_in_days"] is not None and task["due_in_days"] <= 1
    )


def current_task(tasks: Sequence[Record]) -> Record | None:
    """The unfinished task that a focus block works on: highest priority, then smallest id."""
    unfinished = [task for task in tasks if task["remaining_minutes"] > 0]
    return min(unfinished, key=lambda task: (-task["priority"], task["task_id"]), default=None)


# ---------------------------------------------------------------------------------------- actions


def _action(
    action_type: str,
    request_id: str | None = None,
    start: int | None = None,
    end: int | None = None,
    duration: int | None = None,
) -> Record:
    return {
        "action_type": action_type,
        "request_id": request_id,
        "new_start_min": start,
        "new_end_min": end,
        "duration_min": duration,
    }


def candidate_times(request: Record, rules: Record) -> list[tuple[int, int] | None]:
    """The other times offered for a request, in catalogue order; None where one is not legal."""
    length = max(0, request["end_min"] - request["start_min"])
    raw_starts = [request["start_min"] + shift for shift in rules["request_shifts"]]
    seen: set[int] = set()
    times: list[tuple[int, int] | None] = []
    for raw in [*raw_starts, *rules["request_starts"]]:
        start = max(0, min(raw, DAY_END - length))
        end = start + length
        legal = start not in seen and start < end <= DAY_END
        times.append((start, end) if legal else None)
        seen.add(start)
    return times


def catalogue(request: Record | None, work_left: bool, rules: Record) -> list[Record | None]:
    """Every entry of the fixed catalogue, in order; None where the entry is not legal now."""
    entries: list[Record | None] = []
    if request is None:
        slots = len(rules["request_shifts"]) + len(rules["request_starts"])
        entries += [None] * (2 + 2 * slots)
    else:
        name = request["event_id"]
        entries += [_action("accept_event", name), _action("reject_event", name)]
        for time in candidate_times(request, rules):
            entries.append(time and _action("reschedule_event", name, *time))
            entries.append(time and _action("propose_new_time", name, *time))
    for start in rules["focus_starts"]:
        for duration in rules["focus_durations"]:
            focus = _action("block_focus_time", start=start, duration=duration)
            entries.append(focus if work_left else None)
    return entries


# ----------------------------------------------------------------------------------------- reward


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


# ------------------------------------------------------------------------------------ the episode


@dataclass
class Step:
    """What one step gives back."""

    reward: float
    parts: dict[str, float]
    terminated: bool
    truncated: bool
    overlaps: list[tuple[str, str]]
    travel_issues: list[tuple[str, str, int, int]]


def _filled(records: Sequence[Record], defaults: Record) -> list[Record]:
    return [{**defaults, **copy.deepcopy(record)} for record in records]


class Day:
    """One episode: a calendar that only grows, a queue of requests, and unfinished tasks."""

    def __init__(self, document: Record, rules: str = "classic", departure_min: int = 0) -> None:
        persona = document["persona"]
        if isinstance(persona, str):
            persona = PERSONAS[persona]
        self.persona: Record = {**PERSONA_DEFAULTS, **persona}
        self.scenario_id: str = document.get("scenario_id", "")
        self.calendar = _filled(document.get("calendar", []), EVENT_DEFAULTS)
        self.queue = _filled(document.get("pending_requests", []), REQUEST_DEFAULTS)
        self.tasks = _filled(document.get("tasks", []), TASK_DEFAULTS)
        self.travel_times: Matrix = copy.deepcopy(document.get("travel_times", {}))
        self.day_of_week: str | None = document.get("day_of_week")
        given = document.get("max_steps")
        self.max_steps: int = len(self.queue) + 5 if given is None else given
        self.rules = RULES[rules]
        self.departure_min = departure_min
        self.clock = 0
        self.terminated = self._nothing_left()
        self.truncated = False

    @property
    def current_request(self) -> Record | None:
        """The head of the queue."""
        return self.queue[0] if self.queue else None

    @property
    def preview(self) -> list[Record]:
        """The two requests behind the current one."""
        return self.queue[1:3]

    @property
    def catalogue_size(self) -> int:
        """How many entries the catalogue has, legal or not."""
        return len(catalogue(None, False, self.rules))

    def _nothing_left(self) -> bool:
        return not self.queue and minutes_left(self.tasks) == 0

    def _catalogue(self) -> list[Record | None]:
        return catalogue(self.current_request, minutes_left(self.tasks) > 0, self.rules)

    def legal(self) -> list[int]:
        """The legal entries; empty when nothing is left to do."""
        return [index for index, action in enumerate(self._catalogue()) if action is not None]

    def action(self, index: int) -> Record:
        """The document form of a legal entry."""
        action = self._catalogue()[index]
        if action is None:
            raise ValueError(f"entry {index} is not legal now")
        return action

    def event_of(self, action: Record) -> Record | None:
        """The event that an action schedules or proposes; None for a rejection."""
        kind = action["action_type"]
        if kind == "reject_event":
            return None
        if kind == "accept_event":
            return dict(self.queue[0])
        if kind == "block_focus_time":
            return {
                **EVENT_DEFAULTS,
                "event_id": f"focus_{self.clock}",
                "start_min": action["new_start_min"],
                "end_min": min(DAY_END, action["new_start_min"] + action["duration_min"]),
                "location": self.persona["primary_work_location"],
                "kind": "focus",
            }
        return {
            **self.queue[0],
            "start_min": action["new_start_min"],
            "end_min": action["new_end_min"],
        }

    def travel_issues_with(self, extra: Sequence[Record] = ()) -> list[tuple[str, str, int, int]]:
        """The travel issues of the calendar with further events."""
        return travel_issues(
            [*self.calendar, *extra],
            self.travel_times,
            self.persona["home_location"],
            self.departure_min,
        )

    def conflicts_with(self, *extra: Record) -> tuple[int, int]:
        """(overlap pairs, travel issues) of the whole calendar with further events."""
        pairs = overlap_pairs([*self.calendar, *extra])
        return len(pairs), len(self.travel_issues_with(extra))

    def feasible(self) -> list[int]:
        """The optional feasible mask: a subset of the legal entries, never enforced."""
        legal = self.legal()
        return [index for index in legal if self._is_feasible(self.action(index))] or legal

    def _is_feasible(self, action: Record) -> bool:
        event = self.event_of(action)
        if event is None:
            return True
        return self.conflicts_with(event) == (0, 0) and not in_blocked_hours(event)

    def step(self, index: int) -> Step:
        """Play one entry of the catalogue; an illegal one moves only the clock."""
        if self.terminated or self.truncated:
            raise ValueError("the episode is over")
        action = self.action(index) if index in self.legal() else None
        left_before = minutes_left(self.tasks)
        request = event = None
        clean, progress = False, 0
        if action is not None:
            event = self.event_of(action)
            clean = event is not None and self.conflicts_with(event) == (0, 0)
            if action["action_type"] == "block_focus_time":
                progress = self._work(action["duration_min"])
            else:
                request = self.queue.pop(0)
            if action["action_type"] not in ("reject_event", "propose_new_time"):
                self.calendar.append(event)

        self.clock += 1
        self.terminated = self._nothing_left()
        limit_reached = self.clock >= self.max_steps
        self.truncated = limit_reached and not self.terminated

        pairs, issues = overlap_pairs(self.calendar), self.travel_issues_with()
        outcome = Outcome(
            action_type=None if action is None else action["action_type"],
            persona=self.persona,
            overlap_count=len(pairs),
            travel_count=len(issues),
            request=request,
            event=event,
            clean=clean,
            progress=progress,
            fallen=left_before - minutes_left(self.tasks),
            minutes_left=minutes_left(self.tasks),
            pressing=pressing_minutes(self.tasks),
            previewed=self.preview,
            day_of_week=self.day_of_week,
            limit_reached=limit_reached,
        )
        parts = reward_parts(outcome, self.rules["reward"])
        return Step(sum(parts.values()), parts, self.terminated, self.truncated, pairs, issues)

    def _work(self, duration: int) -> int:
        """Work off minutes of the current task; what a block has left over is lost."""
        task = current_task(self.tasks)
        progress = min(duration, task["remaining_minutes"])
        task["remaining_minutes"] -= progress
        return progress
