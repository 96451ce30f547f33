"""Blank weeks with a few rows filled in, and short plays, for the tests of the reference engine of Week."""

from __future__ import annotations

from typing import Any

import pytest

from reference.week import Episode

NEVER = 1000
PLACES, CHANNELS, EVENTS, JOBS, FACTS, POSTS = 6, 6, 20, 35, 16, 32
ATTEND, REST = 51, 52
ERRAND = {"length": 1, "place": -1, "closes": 40, "due": 200, "group": -1, "needs": -1, "value": -1, "tells": -1}

Row = dict[str, int]


def go(place: int) -> int:
    return place


def work(job: int) -> int:
    return 6 + job


def opens(channel: int) -> int:
    return 41 + channel


def reply(value: int) -> int:
    return 47 + value


def job(**fields: int) -> Row:
    """An errand of one slot, known, anywhere and at any time, but for the fields given."""
    return {**ERRAND, "points": 100, "known": 1, **fields}


def meeting(start: int, length: int, points: int, **fields: int) -> Row:
    """Online and promised, but for the fields given."""
    return {"start": start, "length": length, "points": points, "place": -1, "promised": 1, **fields}


def post(time: int, kind: int = 0, ref: int = 0, until: int = 0, points: int = 0) -> Row:
    return {"time": time, "kind": kind, "ref": ref, "until": until, "points": points}


def table(names: str, rows: list[Row], size: int, **absent: int) -> dict[str, list[int]]:
    padded = rows + [absent] * (size - len(rows))
    return {name: [row.get(name, 0) for row in padded] for name in names.split()}


def week(
    jobs: list[Row] | None = None,
    events: list[Row] | None = None,
    facts: dict[int, tuple[int, int, int]] | None = None,
    posts: list[list[Row]] | None = None,
    **options: Any,
) -> Episode:
    """An episode of a blank week with these rows; every way takes two slots, and facts are 0 if not given."""
    values = [dict(zip(("first", "then", "flip"), (facts or {}).get(f, (0, 0, 0)), strict=True)) for f in range(FACTS)]
    channels = (posts or []) + [[]] * (CHANNELS - len(posts or []))
    columns = [table("time kind ref until points", rows, POSTS, time=NEVER) for rows in channels]
    names = "length place opens closes first due points group needs value tells known"
    scenario = {
        "travel": [[2 * (here != there) for there in range(PLACES)] for here in range(PLACES)],
        "jobs": table(names, jobs or [], JOBS),
        "events": table("start length place points promised", events or [], EVENTS),
        "facts": table("first then flip", values, FACTS),
        "posts": {name: [column[name] for column in columns] for name in columns[0]},
    }
    return Episode(scenario, **options)


def play(episode: Episode, *actions: int) -> dict[str, float]:
    """The parts of the last of these turns that are not zero; all must be legal."""
    parts: dict[str, float] = {}
    for action in actions:
        assert episode.mask()[action]
        step = episode.step(action)
        assert step.legal
        assert step.reward == pytest.approx(sum(step.parts.values()))
        parts = {part: amount for part, amount in step.parts.items() if amount}
    return parts


def rest(episode: Episode, until: int) -> dict[str, float]:
    return play(episode, *[REST] * (until - episode.t))


def legal(episode: Episode) -> list[int]:
    return [action for action, allowed in enumerate(episode.mask()) if allowed]
