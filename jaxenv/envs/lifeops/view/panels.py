"""A day drawn: the calendar as an agenda, and beside it the open requests and the work that is left.

The hours of the agenda go downwards; overlapping events lie side by side, travel at the right.
"""

import math
from collections.abc import Callable, Iterable, Sequence

from jaxenv.envs.lifeops.view.snapshot import Leg, ShownDay, ShownEvent, Task
from jaxenv.envs.lifeops.view.text import due, hidden, times
from jaxenv.rendering.canvas import SMALL, TEXT, TINY, Canvas, legend, swatch
from jaxenv.rendering.text import clock, joined
from jaxenv.rendering.theme import ALARM, BLUE, FAINT, GREEN, INK, MUTED, ORANGE, PAPER, PURPLE, WASH, text_width, tint

COLORS = {"meeting": BLUE, "obligation": ORANGE, "focus": GREEN, "personal": PURPLE}
USUAL_DAY = (8 * 60, 18 * 60)  # minutes after midnight, always shown
HOURS, TRAVEL, LEGEND = 28.0, 78.0, 22.0  # points: widths of the hours and of the travel, height of the legend
STRIPES = 7.0  # points, the width of the hatching
THIN = 1.8  # points, the minimum height of a drawn event
LINE = 9.0  # points, the minimum height that an event takes up beside another
REQUEST, TASK = 24.0, 22.0  # points, heights of the rows

Span = tuple[int, int]  # minutes after midnight, whole hours
Scale = Callable[[float], float]  # minutes after midnight -> points


def span_of(days: Sequence[ShownDay]) -> Span:
    """The hours that hold everything in some days, so that their pictures can be compared."""
    events = [event for day in days for event in (*day.calendar, *day.queue)]
    departures = [max(0, leg.arrives - leg.needed) for day in days for leg in day.legs]
    first = min([USUAL_DAY[0], *departures, *(event.start for event in events)])
    last = max([USUAL_DAY[1], *(event.end for event in events)])
    return 60 * (first // 60), 60 * math.ceil(last / 60)


def draw_agenda(span: Span, day: ShownDay, canvas: Canvas) -> None:
    """The agenda of a day, with the visible requests at the times that they ask for."""
    paper = canvas.part(HOURS, 4, canvas.width - HOURS - TRAVEL, canvas.height - LEGEND - 10)
    scale = paper.height / (span[1] - span[0])  # points a minute

    def y_of(minutes: float) -> float:
        return scale * (min(max(minutes, span[0]), span[1]) - span[0])

    _draw_hours(day, span, paper, y_of)
    rank = {id(request): number for number, request in enumerate(day.queue)}
    for event, left, width in _lanes((*day.calendar, *day.queue), paper.width, LINE / scale):
        others = [b if a is event else a for a, b in day.conflicts if event is a or event is b]
        _draw_event(paper, event, left, width, y_of, others, rank.get(id(event)))
    _draw_travel(day.legs, paper, y_of)
    _draw_legend(canvas.part(HOURS, canvas.height - LEGEND, canvas.width - HOURS, LEGEND))


def _draw_hours(day: ShownDay, span: Span, paper: Canvas, y_of: Scale) -> None:
    """The hours, white in the preferred window, and the limits of meetings."""
    paper.box(0, 0, paper.width, paper.height, fill=WASH)
    top, bottom = map(y_of, day.window)
    if bottom > top:
        paper.box(0, top, paper.width, bottom - top, fill=PAPER)
    every = 60 if paper.height * 60 / (span[1] - span[0]) > 14 else 120
    for minutes in range(span[0], span[1] + 1, 60):
        y = y_of(minutes)
        paper.line((0, paper.width), (y, y), line=0.5)
        if (minutes - span[0]) % every == 0:
            paper.text(-5, y, clock(minutes), size=SMALL, color=MUTED, align="right")
    for word, limit in day.limits.items():
        if span[0] < limit < span[1]:
            y = y_of(limit)
            paper.line((0, paper.width), (y, y), color=MUTED, line=0.8, dashed=True)
            y += -4.5 if word == "before" else 4.5
            paper.text(paper.width - 2, y, f"none {word} {clock(limit)}", size=TINY, color=MUTED, align="right")


def _lanes(events: Iterable[ShownEvent], width: float, shortest: float) -> list[tuple[ShownEvent, float, float]]:
    """(event, left, width) in points: overlapping events, each at least `shortest` minutes, share the width."""
    placed: list[tuple[ShownEvent, int, list[float]]] = []  # with its lane, and the ends of all lanes of its group
    ends: list[float] = []
    for event in sorted(events, key=lambda event: (event.start, event.end)):
        if event.start >= max(ends, default=0.0):
            ends = []
        lane = next((lane for lane, end in enumerate(ends) if end <= event.start), len(ends))
        ends[lane : lane + 1] = [max(event.end, event.start + shortest)]
        placed.append((event, lane, ends))
    return [(event, lane * (width / len(ends)), width / len(ends)) for event, lane, ends in placed]


def _draw_event(
    paper: Canvas, event: ShownEvent, left: float, width: float, y_of: Scale, others: list[ShownEvent], rank: int | None
) -> None:
    """An event as a box, hatched where it overlaps `others`. A request (`rank` is its place in the queue) is an empty
    dashed box, grey if it is not the current one.
    """
    color, is_request = COLORS[event.kind], rank is not None
    top, bottom = y_of(event.start), y_of(event.end)
    x, y, w, h = left + 1.5, top + 0.6, width - 3, max(bottom - top - 1.2, THIN)
    paper.box(x, y, w, h, fill=PAPER if is_request else tint(color, 0.16), radius=2.5)
    for other in others:
        low = max(y, y_of(max(event.start, other.start)))
        height = max(min(y + h, y_of(min(event.end, other.end))) - low, THIN)
        paper.box(x, low, w, height, fill=tint(ALARM, 0.18))
        paper.box(x + w - STRIPES, low, STRIPES, height, hatched=ALARM)
    if is_request or event.added:
        paper.box(x, y, w, h, edge=MUTED if rank else color, line=1.1, dashed=is_request, radius=2.5)
    if not is_request:
        paper.box(x, y, 2.5, h, fill=color)
    _draw_label(paper, event, x + 6, y, w - 8 - (STRIPES if others else 2), h, MUTED if rank else INK)


def _draw_label(paper: Canvas, event: ShownEvent, x: float, y: float, width: float, height: float, color: str) -> None:
    """The name, and under or beside it as much of the time and place as fits."""
    below = height > 20
    size = TEXT if height > 10 else SMALL if height > 7 else TINY
    middle = y + (7 if below else height / 2 if height > 4 else 1 + LINE / 2)  # under a box that is only a line
    used = paper.text(x, middle, event.name, size=size, color=color, width=width)
    left = 0 if below else used + 5
    for words in (f"{times(event)} · {event.place}", times(event), clock(event.start)):
        if left + text_width(words, TINY) <= width:
            paper.text(x + left, y + 16 if below else middle, words, size=TINY, color=MUTED)
            return


def _draw_travel(legs: Sequence[Leg], paper: Canvas, y_of: Scale) -> None:
    """Each leg as a line from the latest departure to the arrival, dashed if there is too little time."""
    x, free = paper.width + 6, 0.0
    for leg in legs:
        y = (y_of(leg.arrives - leg.needed), y_of(leg.arrives))
        color = ALARM if leg.tight else MUTED
        paper.line((x, x), y, color=color, line=1.6 if leg.tight else 1.2, dashed=leg.tight)
        paper.line((x - 3, x + 3), (y[1], y[1]), color=color, line=1.2)
        middle = max((y[0] + y[1]) / 2, free)
        paper.text(x + 6, middle, f"{leg.needed} min to {leg.target}", size=TINY, color=color, width=TRAVEL - 12)
        if leg.tight:
            paper.text(x + 6, middle + 8, f"{leg.available} min available", size=TINY, color=color, bold=True)
        free = middle + (17 if leg.tight else 9)


def _draw_legend(canvas: Canvas) -> None:
    """The legend of colors and outlines."""
    marks = [
        *((kind, swatch(fill=color)) for kind, color in COLORS.items()),
        ("booked", swatch(edge=INK)),
        ("asked for", swatch(edge=INK, dashed=True)),
        ("conflict", swatch(fill=tint(ALARM, 0.18), hatched=ALARM)),
        ("not preferred", swatch(fill=WASH, edge=FAINT, line=0.5)),
    ]
    legend(canvas, marks, indent=9, gap=8)


def draw_open(day: ShownDay, canvas: Canvas) -> None:
    """The requests in queue order, and under them the tasks with the remaining work of each as a bar."""
    y = _heading(canvas, 0.0, "Requests")
    for number, request in enumerate(day.queue):
        _draw_request(canvas, y, request, current=number == 0)
        y += REQUEST
    if rest := hidden(day) or ("" if day.queue else "none"):
        _note(canvas, y, rest)
        y += 14
    y = _heading(canvas, y + 8, "Work left")
    if not day.tasks:
        _note(canvas, y, "none")
    rows = int((canvas.height - y) // TASK)
    shown = day.tasks if len(day.tasks) <= rows else day.tasks[: max(rows - 1, 0)]
    for task in shown:
        _draw_task(canvas, y, task)
        y += TASK
    if others := day.tasks[len(shown) :]:
        _note(canvas, y, f"and {len(others)} more tasks with {sum(task.left for task in others)} min")


def _heading(canvas: Canvas, y: float, words: str) -> float:
    """A heading at height y; returns the height under it."""
    canvas.text(0, y + 5, words, bold=True)
    return y + 16


def _note(canvas: Canvas, y: float, words: str) -> None:
    """A line in grey."""
    canvas.text(8, y + 4, words, color=MUTED, size=SMALL)


def _draw_request(canvas: Canvas, y: float, request: ShownEvent, current: bool) -> None:
    """Two lines beside a bar in the color of the kind; the current request has a dashed outline."""
    color, ink = COLORS[request.kind], INK if current else MUTED
    if current:
        canvas.box(0, y, canvas.width, REQUEST - 3, edge=color, line=1.1, dashed=True, radius=2.5)
    canvas.box(0, y + 1, 2.5, REQUEST - 5, fill=color)
    stakes = f"importance {request.importance}" + ("" if request.flexible else ", inflexible")
    used = canvas.text(canvas.width - 5, y + 6, stakes, size=SMALL, color=ink, align="right")
    canvas.text(8, y + 6, request.name, width=canvas.width - used - 20, color=ink)
    where = joined(times(request), request.place, request.person)
    canvas.text(8, y + 15, where, size=SMALL, color=MUTED, width=canvas.width - 14)


def _draw_task(canvas: Canvas, y: float, task: Task) -> None:
    """Name, facts, and the remaining share of the work as a bar."""
    facts = joined(f"{task.left} of {task.total} min", f"priority {task.priority}", due(task))
    used = canvas.text(canvas.width, y + 4, facts, size=SMALL, color=MUTED, align="right")
    canvas.text(8, y + 4, task.name, width=canvas.width - used - 16, color=INK if task.left else MUTED, size=TEXT)
    canvas.bar(8, y + 11, canvas.width - 8, 3.5, task.left / max(task.total, 1), GREEN)
