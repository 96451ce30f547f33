"""The rule-based planners of LifeOps, straight from docs/rules/lifeops.md, section 7, on the reference engine."""

from __future__ import annotations

from collections.abc import Callable

from reference.lifeops import Day, Record, current_task, minutes_left, overlaps

Policy = Callable[[Day], int]
ACCEPT, REJECT = 0, 1
CLEAN = (0, 0)


def heuristic(day: Day) -> int:
    """Accept what fits and reject the rest; then the focus block that conflicts least."""
    if day.queue:
        return ACCEPT if day.conflicts_with(day.queue[0]) == CLEAN else REJECT
    # `min` keeps the first of equals: catalogue order on ties.
    return min(day.legal(), key=lambda index: conflicts(day, index))


def careful(day: Day) -> int:
    """Like the Heuristic, but it moves important requests where focus time survives."""
    if day.queue:
        return _careful_request(day)
    task = current_task(day.tasks)
    wanted = 60 if task["remaining_minutes"] > 30 else 30

    def cost(index: int) -> tuple[tuple[int, int], bool]:
        return conflicts(day, index), day.action(index)["duration_min"] != wanted

    return min(day.legal(), key=cost)


def _careful_request(day: Day) -> int:
    if day.conflicts_with(day.queue[0]) == CLEAN:
        return ACCEPT
    if day.queue[0]["importance"] >= 3:
        needed = min(minutes_left(day.tasks), focus_cover(day, day.calendar))
        for index in day.legal():
            action = day.action(index)
            if action["action_type"] != "reschedule_event" or conflicts(day, index) != CLEAN:
                continue
            if focus_cover(day, [*day.calendar, day.event_of(action)]) >= needed:
                return index
    return REJECT


def conflicts(day: Day, index: int) -> tuple[int, int]:
    """(overlap pairs, travel issues) of the calendar with what a scheduling entry adds."""
    return day.conflicts_with(day.event_of(day.action(index)))


def focus_cover(day: Day, calendar: list[Record]) -> int:
    """Minutes of overlap-free focus blocks: greedy, long blocks first, starts in order."""
    placed: list[Record] = []
    for duration in sorted(day.rules["focus_durations"], reverse=True):
        for start in day.rules["focus_starts"]:
            block = {"start_min": start, "end_min": start + duration}
            if not any(overlaps(block, event) for event in [*calendar, *placed]):
                placed.append(block)
    return sum(block["end_min"] - block["start_min"] for block in placed)


def episode_return(document: Record, rules: str, policy: Policy) -> float:
    """The sum of rewards of one whole episode."""
    day = Day(document, rules)
    total = 0.0
    while not (day.terminated or day.truncated):
        total += day.step(policy(day)).reward
    return total
