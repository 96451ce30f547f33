"""The calendar as an agenda: hours downwards, what overlaps side by side, the ways between places at the right."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from jaxenv.rendering.canvas import (
    ALARM,
    BLUE,
    FAINT,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PAPER,
    PURPLE,
    SMALL,
    TEXT,
    TINY,
    WASH,
    Canvas,
    text_width,
    tint,
)
from jaxenv.rendering.lifeops.day import Day, Entry, Leg, clock
from jaxenv.rendering.lifeops.text import times

COLORS = {"meeting": BLUE, "obligation": ORANGE, "focus": GREEN, "personal": PURPLE}
USUAL_DAY = (8 * 60, 18 * 60)  # minutes after midnight, shown at least
HOURS, WAYS, LEGEND = 28.0, 78.0, 22.0  # points: the columns of hours and ways, the row of the legend
STRIPES = 7.0  # points, the width of the hatching
THIN = 1.8  # points, the least height that an event is drawn with
LINE = 9.0  # points, the least height that an event takes up beside another

Span = tuple[int, int]  # minutes after midnight, whole hours


def span_of(days: Sequence[Day]) -> Span:
    """The hours that hold everything in some days, so that their pictures can be compared."""
    entries = [entry for day in days for entry in (*day.calendar, *day.queue)]
    departures = [max(0, leg.arrives - leg.needed) for day in days for leg in day.legs]
    first = min([USUAL_DAY[0], *departures, *(entry.start for entry in entries)])
    last = max([USUAL_DAY[1], *(entry.end for entry in entries)])
    return 60 * (first // 60), 60 * math.ceil(last / 60)


def draw(day: Day, span: Span, canvas: Canvas) -> None:
    """The agenda of a day, with the visible requests where they ask to be."""
    paper = canvas.part(HOURS, 4, canvas.width - HOURS - WAYS, canvas.height - LEGEND - 10)
    scale = paper.height / (span[1] - span[0])  # points a minute

    def height_of(minutes: float) -> float:
        return scale * (min(max(minutes, span[0]), span[1]) - span[0])

    _draw_hours(day, span, paper, height_of)
    meets: dict[int, list[Entry]] = {id(entry): [] for entry in (*day.calendar, *day.queue)}
    for a, b in day.conflicts:
        meets[id(a)].append(b)
        meets[id(b)].append(a)
    rank = {id(request): number for number, request in enumerate(day.queue)}
    for entry, left, width in _lanes((*day.calendar, *day.queue), paper.width, LINE / scale):
        _draw_entry(paper, entry, left, width, height_of, meets[id(entry)], rank.get(id(entry)))
    _draw_ways(day.legs, paper, height_of)
    _draw_legend(canvas.part(HOURS, canvas.height - LEGEND, canvas.width - HOURS, LEGEND))


def _draw_hours(day: Day, span: Span, paper: Canvas, height_of: Callable[[float], float]) -> None:
    """The hours, white where the person likes to meet, and their limits."""
    paper.box(0, 0, paper.width, paper.height, fill=WASH)
    top, bottom = map(height_of, day.window)
    if bottom > top:
        paper.box(0, top, paper.width, bottom - top, fill=PAPER)
    every = 60 if paper.height * 60 / (span[1] - span[0]) > 14 else 120
    for minutes in range(span[0], span[1] + 1, 60):
        y = height_of(minutes)
        paper.line((0, paper.width), (y, y), line=0.5)
        if (minutes - span[0]) % every == 0:
            paper.text(-5, y, clock(minutes), size=SMALL, color=MUTED, align="right")
    for limit, word in ((day.avoid_before, "before"), (day.avoid_after, "after")):
        if limit is not None and span[0] < limit < span[1]:
            y = height_of(limit)
            paper.line((0, paper.width), (y, y), color=MUTED, line=0.8, dashed=True)
            inwards = -4.5 if word == "before" else 4.5
            words = f"none {word} {clock(limit)}"
            paper.text(paper.width - 2, y + inwards, words, size=TINY, color=MUTED, align="right")


def _lanes(entries: Iterable[Entry], width: float, least: float) -> list[tuple[Entry, float, float]]:
    """(entry, left, width) in points: entries that share time, each at least `least` minutes, share the width."""
    placed: list[tuple[Entry, float, float]] = []
    group: list[tuple[Entry, int]] = []
    ends: list[float] = []  # of the lanes of this group

    def close() -> None:
        lane_width = width / max(len(ends), 1)
        placed.extend((entry, lane * lane_width, lane_width) for entry, lane in group)
        group.clear()
        ends.clear()

    for entry in sorted(entries, key=lambda entry: (entry.start, entry.end)):
        if ends and entry.start >= max(ends):
            close()
        free = [lane for lane, end in enumerate(ends) if end <= entry.start]
        lane = free[0] if free else len(ends)
        ends[lane : lane + 1] = [max(entry.end, entry.start + least)]
        group.append((entry, lane))
    close()
    return placed


def _draw_entry(
    paper: Canvas,
    entry: Entry,
    left: float,
    width: float,
    height_of: Callable[[float], float],
    conflicts: Sequence[Entry],
    rank: int | None,
) -> None:
    """An event as a box, hatched where another one takes its time; a request, by its rank in the queue, as an empty
    dashed one, in grey behind the first.
    """
    color, asked = COLORS[entry.kind], rank is not None
    top, bottom = height_of(entry.start), height_of(entry.end)
    x, y, w, h = left + 1.5, top + 0.6, width - 3, max(bottom - top - 1.2, THIN)
    paper.box(x, y, w, h, fill=PAPER if asked else tint(color, 0.16), radius=2.5)
    for other in conflicts:
        low = max(y, height_of(max(entry.start, other.start)))
        height = max(min(y + h, height_of(min(entry.end, other.end))) - low, THIN)
        paper.box(x, low, w, height, fill=tint(ALARM, 0.18))
        paper.box(x + w - STRIPES, low, STRIPES, height, hatched=ALARM)
    if asked or entry.added:
        paper.box(x, y, w, h, edge=MUTED if rank else color, line=1.1, dashed=asked, radius=2.5)
    if not asked:
        paper.box(x, y, 2.5, h, fill=color)
    room = w - 8 - (STRIPES if conflicts else 2)
    _label(paper, entry, x + 6, y, room, h, MUTED if rank else INK)


def _label(paper: Canvas, entry: Entry, x: float, y: float, width: float, height: float, color: str) -> None:
    """Name, and time and place under it or behind it, as much as there is room for."""
    below = height > 20
    size = TEXT if height > 10 else SMALL if height > 7 else TINY
    middle = y + (7 if below else height / 2 if height > 4 else 1 + LINE / 2)  # under what is but a line
    used = paper.text(x, middle, entry.name, size=size, color=color, width=width)
    left = 0 if below else used + 5
    for words in (f"{times(entry)} · {entry.place}", times(entry), clock(entry.start)):
        if left + text_width(words, TINY) <= width:
            paper.text(x + left, y + 16 if below else middle, words, size=TINY, color=MUTED)
            return


def _draw_ways(legs: Sequence[Leg], paper: Canvas, height_of: Callable[[float], float]) -> None:
    """Each way as a line from when one must leave to when one must be there, dashed where that cannot be done."""
    x, free = paper.width + 6, 0.0
    for leg in legs:
        y = (height_of(leg.arrives - leg.needed), height_of(leg.arrives))
        color = ALARM if leg.tight else MUTED
        paper.line((x, x), y, color=color, line=1.6 if leg.tight else 1.2, dashed=leg.tight)
        paper.line((x - 3, x + 3), (y[1], y[1]), color=color, line=1.2)
        middle = max((y[0] + y[1]) / 2, free)
        paper.text(x + 6, middle, f"{leg.needed} min to {leg.target}", size=TINY, color=color, width=WAYS - 12)
        if leg.tight:
            paper.text(x + 6, middle + 8, f"{leg.available} min available", size=TINY, color=color, bold=True)
        free = middle + (17 if leg.tight else 9)


def _draw_legend(canvas: Canvas) -> None:
    """What colours and outlines mean, in rows that fit."""
    marks: dict[str, dict[str, Any]] = {name: {"fill": color} for name, color in COLORS.items()}
    marks["booked"] = {"edge": INK}
    marks["asked for"] = {"edge": INK, "dashed": True}
    marks["conflict"] = {"fill": tint(ALARM, 0.18), "hatched": ALARM}
    marks["not preferred"] = {"fill": WASH, "edge": FAINT, "line": 0.5}
    x, y = 0.0, 5.0
    for name, look in marks.items():
        width = 10 + text_width(name, TINY)
        if x + width > canvas.width:
            x, y = 0.0, y + 10
        canvas.box(x, y - 3, 6, 6, **look)
        canvas.text(x + 9, y, name, size=TINY, color=MUTED)
        x += width + 8
