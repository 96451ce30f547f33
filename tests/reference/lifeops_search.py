"""Exact best, worst and Random whole-episode returns of a LifeOps scenario, by memoised search.

The calendar only grows, and what it is worth depends only on its events in (start, end) order, ties
in the order of arrival. So a node is (queue position, minutes left of each task, clock, sorted
calendar), and a new event changes the travel issues only where it lands. Events are numbered, a
calendar is a string of bytes, and the tables of overlaps and short legs are filled in beforehand.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from math import inf

from reference.lifeops import (
    Day,
    Outcome,
    Record,
    catalogue,
    overlaps,
    pressing_minutes,
    reward_parts,
    travel_issues,
)

Left = tuple[int, ...]  # remaining minutes of each task, in the order in which they are worked off
Values = tuple[float, float, float]  # best, worst, random: the return from a node to the end


@dataclass(frozen=True)
class Solution:
    """Whole-episode returns: the optimum, its opposite, and uniform over legal entries."""

    best: float
    worst: float
    random: float


@dataclass(frozen=True)
class Move:
    """A legal entry at a node, with everything about it that the calendar does not decide."""

    code: int | None  # the event that it schedules or proposes
    schedules: bool  # that event enters the calendar
    reward: float  # of a calendar without overlaps and travel issues, without the clean bonus
    clean_bonus: float  # on top, if the calendar with the event is clean
    position: int  # of the queue, afterwards
    left: Left  # afterwards
    over: bool  # the episode ends


class Search:
    """One scenario under one rule set: its numbered events, tables, and memo."""

    def __init__(self, document: Record, rules: str) -> None:
        self.day = Day(document, rules)
        self.requests = self.day.queue
        self.tasks = sorted(self.day.tasks, key=lambda task: (-task["priority"], task["task_id"]))
        coefficients = self.day.rules["reward"]
        self.overlap_price: float = coefficients["overlap"]
        weight = self.day.persona["travel_aversion_weight"]
        self.travel_price: float = coefficients["travel"] * weight

        self.events: list[Record] = []  # by code
        self.codes: dict[tuple[int, int, str], int] = {}
        ordered = sorted(self.day.calendar, key=lambda e: (e["start_min"], e["end_min"]))
        self.base = bytes([self._code(event) for event in ordered])
        self.menus = [self._menu(position) for position in range(len(self.requests) + 1)]
        self._fill_tables()
        self.moves = cache(self._moves)
        self.memo: dict[tuple[int, Left, int, bytes], Values] = {}

    def _code(self, event: Record) -> int:
        key = (event["start_min"], event["end_min"], event["location"])
        if key not in self.codes:
            self.codes[key] = len(self.events)
            self.events.append(event)
        return self.codes[key]

    def _menu(self, position: int) -> list[tuple[Record, Record | None, int | None]]:
        """(action, its event, the event's code) of each entry, as if there were work left."""
        self.day.queue = self.requests[position:]
        menu = []
        for action in catalogue(self.day.current_request, True, self.day.rules):
            if action is not None:
                event = self.day.event_of(action)
                menu.append((action, event, None if event is None else self._code(event)))
        return menu

    def _fill_tables(self) -> None:
        """By event code: sort keys, overlaps (as tables for `bytes.translate`), short legs."""
        times, home = self.day.travel_times, self.day.persona["home_location"]
        self.sort_keys = [(event["start_min"], event["end_min"]) for event in self.events]
        self.overlap = [bytes([overlaps(a, b) for b in self.events]).ljust(256, b"\0") for a in self.events]
        self.first_leg = [len(travel_issues([event], times, home)) for event in self.events]
        self.leg = [
            [len(travel_issues([a, b], times, None)) if in_order(a, b) else 0 for b in self.events] for a in self.events
        ]

    # ------------------------------------------------------------------------------- calendars

    def count(self, calendar: bytes) -> tuple[int, int]:
        """(overlap pairs, travel issues), by adding the events one at a time."""
        grown, pairs, issues = b"", 0, 0
        for code in calendar:
            grown, pairs, issues = self.add(grown, pairs, issues, code)
        return pairs, issues

    def add(self, calendar: bytes, pairs: int, issues: int, code: int) -> tuple[bytes, int, int]:
        """A calendar with one more event, and the counts of both."""
        place = bisect_right(calendar, self.sort_keys[code], key=self.sort_keys.__getitem__)
        legs = self.leg[calendar[place - 1]] if place else self.first_leg
        issues += legs[code]
        if place < len(calendar):
            issues += self.leg[code][calendar[place]] - legs[calendar[place]]
        pairs += calendar.translate(self.overlap[code]).count(1)
        return calendar[:place] + bytes((code,)) + calendar[place:], pairs, issues

    # ------------------------------------------------------------------------------- the search

    def _moves(self, position: int, left: Left, clock: int) -> list[Move]:
        """The legal entries at a node."""
        moves = []
        for action, event, code in self.menus[position]:
            is_focus = action["action_type"] == "block_focus_time"
            if is_focus and not any(left):
                continue
            left_after = work_off(left, action["duration_min"]) if is_focus else left
            position_after = position if is_focus else position + 1
            limit_reached = clock + 1 >= self.day.max_steps
            rest = [
                {**task, "remaining_minutes": minutes} for task, minutes in zip(self.tasks, left_after, strict=True)
            ]
            fallen = sum(left) - sum(left_after)
            outcome = Outcome(
                action_type=action["action_type"],
                persona=self.day.persona,
                overlap_count=0,
                travel_count=0,
                request=None if is_focus else self.requests[position],
                event=event,
                progress=fallen,
                fallen=fallen,
                minutes_left=sum(left_after),
                pressing=pressing_minutes(rest),
                previewed=self.requests[position_after + 1 : position_after + 3],
                day_of_week=self.day.day_of_week,
                limit_reached=limit_reached,
            )
            coefficients = self.day.rules["reward"]
            reward = sum(reward_parts(outcome, coefficients).values())
            outcome.clean = event is not None
            clean_bonus = sum(reward_parts(outcome, coefficients).values()) - reward
            schedules = action["action_type"] not in ("reject_event", "propose_new_time")
            nothing_left = position_after == len(self.requests) and not any(left_after)
            over = nothing_left or limit_reached
            moves.append(Move(code, schedules, reward, clean_bonus, position_after, left_after, over))
        return moves

    def values(self, position: int, left: Left, clock: int, calendar: bytes, pairs: int, issues: int) -> Values:
        """Best, worst and random return from a node to the end."""
        key = (position, left, clock, calendar)
        if key in self.memo:
            return self.memo[key]
        best, worst, total = -inf, inf, 0.0
        moves = self.moves(position, left, clock)
        for move in moves:
            after, after_pairs, after_issues = calendar, pairs, issues
            gain = move.reward
            if move.code is not None:
                grown, grown_pairs, grown_issues = self.add(calendar, pairs, issues, move.code)
                if grown_pairs == 0 and grown_issues == 0:
                    gain += move.clean_bonus
                if move.schedules:
                    after, after_pairs, after_issues = grown, grown_pairs, grown_issues
            gain += self.overlap_price * after_pairs + self.travel_price * after_issues
            high = low = mean = 0.0
            if not move.over:
                high, low, mean = self.values(move.position, move.left, clock + 1, after, after_pairs, after_issues)
            best = max(best, gain + high)
            worst = min(worst, gain + low)
            total += gain + mean
        self.memo[key] = best, worst, total / len(moves)
        return self.memo[key]


def in_order(a: Record, b: Record) -> bool:
    """Whether `a` may stand before `b` in a sorted calendar."""
    return (a["start_min"], a["end_min"]) <= (b["start_min"], b["end_min"])


def work_off(left: Left, duration: int) -> Left:
    """The minutes left after a focus block: it works on the first unfinished task alone."""
    rest = list(left)
    for position, minutes in enumerate(left):
        if minutes > 0:
            rest[position] = minutes - min(duration, minutes)
            break
    return tuple(rest)


def solve(document: Record, rules: str) -> Solution:
    """The exact whole-episode returns of a scenario."""
    search = Search(document, rules)
    left = tuple(task["remaining_minutes"] for task in search.tasks)
    pairs, issues = search.count(search.base)
    return Solution(*search.values(0, left, 0, search.base, pairs, issues))
