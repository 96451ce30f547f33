"""LifeOps in slow, plain Python: the executable form of docs/rules/lifeops.md, and the oracle of the tests.

Everything here is written to be read next to that page. Times are integer minutes after midnight,
records are plain dictionaries with the document's field names, and nothing is precomputed.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

from reference.lifeops_calendar import current_task as current_task
from reference.lifeops_calendar import in_blocked_hours
from reference.lifeops_calendar import minutes_left as minutes_left
from reference.lifeops_calendar import overlap_pairs as overlap_pairs
from reference.lifeops_calendar import overlaps as overlaps
from reference.lifeops_calendar import preference_units as preference_units
from reference.lifeops_calendar import pressing_minutes as pressing_minutes
from reference.lifeops_calendar import travel_issues as travel_issues
from reference.lifeops_calendar import travel_minutes as travel_minutes
from reference.lifeops_reward import PARTS as PARTS
from reference.lifeops_reward import Outcome as Outcome
from reference.lifeops_reward import reward_parts as reward_parts
from reference.lifeops_rules import BLOCKED_HOURS as BLOCKED_HOURS
from reference.lifeops_rules import DAY_END, EVENT_DEFAULTS, PERSONA_DEFAULTS, REQUEST_DEFAULTS, TASK_DEFAULTS, Matrix
from reference.lifeops_rules import PERSONAS as PERSONAS
from reference.lifeops_rules import RULES as RULES
from reference.lifeops_rules import TRAVEL_TIMES as TRAVEL_TIMES
from reference.lifeops_rules import Record as Record

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
