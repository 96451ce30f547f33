"""The gauges of a crisis: clock, resources, metrics and milestones; and all metrics and events of an episode."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxenv.envs.lifestack.view import graph
from jaxenv.envs.lifestack.view.layout import Layout, spread
from jaxenv.envs.lifestack.view.snapshot import LOCKED, REACHED, RESOURCES, SIGNS, Crisis, domains, metric_name, stated
from jaxenv.envs.lifestack.view.text import COLLAPSE, UNITS
from jaxenv.rendering.canvas import SMALL, TINY, Canvas
from jaxenv.rendering.theme import ALARM, BLUE, GREEN, INK, MUTED, ORANGE, PURPLE, WASH

GAP = 14.0  # points between two columns
ROW, METRIC, DOMAIN = 11.0, 10.2, 12.0  # points, heights of lines
NAME, TREND, VALUE = 0.45, 0.24, 0.14  # shares of a metric's width; the rest is its bar
LOW = 30.0  # a metric below it is close to collapse

COLORS = (BLUE, ORANGE, GREEN, PURPLE)
CHARTS = 0.38  # share of the height
LABELS = 88.0  # points beside a chart
LINE = 7.6  # points between labels
HEADING, AXIS = 16.0, 8.0  # points above and below the charts
COLUMNS = 3


class History(NamedTuple):
    """Several states of an episode, in order.

    Attributes:
        metrics: [states, 23] float, higher is better.
        is_episode: whether they are all the states of an episode from its first step on.
        fired: (step, or None if unknown; slot of the event), in that order.
    """

    metrics: np.ndarray
    is_episode: bool
    fired: tuple[tuple[int | None, int], ...]

    @property
    def last_step(self) -> int:
        """The clock at the end, at least 1."""
        return max(len(self.metrics) - 1, 1)

    def fired_until(self, clock: int) -> tuple[tuple[int | None, int], ...]:
        """The events that have fired by a state."""
        return tuple((step, event) for step, event in self.fired if step is None or step <= clock)


def history_of(crises: Sequence[Crisis]) -> History:
    """The history of some states of one episode."""
    fired: dict[int, int | None] = {}
    is_episode = len(crises) > 1 and [crisis.clock for crisis in crises] == list(range(len(crises)))
    for crisis in crises:
        for event in crisis.events:
            fired.setdefault(event, crisis.clock if is_episode or crisis.clock == 0 else None)
    metrics = np.stack([crisis.metrics for crisis in crises])
    return History(metrics, is_episode, tuple((step, event) for event, step in fired.items()))


def draw(history: History, crisis: Crisis, canvas: Canvas) -> None:
    """Everything under one another."""
    _draw_clock(crisis, history, canvas)
    y = _draw_resources(crisis, canvas, 38)
    y = _draw_metrics(crisis, history, canvas, y + 6)
    _draw_milestones(crisis, canvas.part(0, y + 6, canvas.width, max(canvas.height - y - 6, 1.0)))


def _draw_clock(crisis: Crisis, history: History, canvas: Canvas) -> None:
    """The current step, the deadline and the horizon on one line, with the events that have fired."""
    canvas.text(0, 5, f"Step {crisis.clock}", bold=True)
    deadline = "" if crisis.deadline is None else f"deadline {crisis.deadline}, "
    canvas.text(canvas.width, 5, f"{deadline}horizon {crisis.horizon}", size=SMALL, color=MUTED, align="right")
    per_step, y = canvas.width / max(crisis.horizon, 1), 15.0
    canvas.bar(0, y, canvas.width, 5, min(crisis.clock / max(crisis.horizon, 1), 1.0), BLUE)
    if crisis.deadline is not None and crisis.deadline <= crisis.horizon:
        x = per_step * crisis.deadline
        canvas.line((x, x), (y - 2, y + 7), color=ALARM, line=1.6)
    words = []
    for step, event in history.fired_until(crisis.clock):
        if step is not None:
            x = per_step * step
            canvas.line((x, x), (y - 1, y + 6), color=ORANGE, line=1.6)
        words.append(crisis.names.events[event] + ("" if step is None else f" ({step})"))
    events = f"Events: {', '.join(words)}" if words else "No events so far."
    canvas.text(0, y + 13, events, size=SMALL, color=MUTED, width=canvas.width)


def _draw_resources(crisis: Crisis, canvas: Canvas, y: float) -> float:
    """Time, money and energy as bars; returns the height under them."""
    for name in RESOURCES:
        has, had = crisis.resources[name], crisis.initial[name]
        most = max(100.0 if name == "energy" else had, has)
        canvas.text(0, y + 5, name, size=SMALL)
        canvas.bar(36, y + 2, canvas.width - 120, 6, has / max(most, 1.0), ALARM if has < 0.15 * most else BLUE)
        words = f"{has:g} of {most:g}{UNITS[name]}"
        canvas.text(canvas.width, y + 5, words, size=SMALL, color=MUTED, align="right")
        y += ROW
    return y


def _draw_metrics(crisis: Crisis, history: History, canvas: Canvas, y: float) -> float:
    """All metrics by domain in two columns; returns the height under them."""
    canvas.text(0, y + 5, "Metrics", bold=True)
    words = "below 20 is collapse; ↓ lower is better, above 80"
    canvas.text(canvas.width, y + 5, words, size=TINY, color=MUTED, align="right")
    width, bottom, parts = (canvas.width - GAP) / 2, y, list(domains().items())
    for column in range(2):
        part, row = canvas.part(column * (width + GAP), y + 12, width, 1.0), 0.0
        for domain, numbers in parts[3 * column : 3 * column + 3]:
            part.text(0, row + 6, domain, size=TINY, color=MUTED, bold=True)
            row += DOMAIN
            for number in numbers:
                _draw_metric(crisis, history, part, row, number)
                row += METRIC
        bottom = max(bottom, y + 12 + row)
    return bottom


def _draw_metric(crisis: Crisis, history: History, canvas: Canvas, y: float, number: int) -> None:
    """A metric: its trend, a bar with the line of collapse, and its value."""
    value, middle = float(crisis.metrics[number]), y + METRIC / 2
    color = ALARM if value < COLLAPSE else ORANGE if value < LOW else GREEN
    left = NAME * canvas.width
    canvas.text(0, middle, metric_name(number), size=TINY, width=left - 2)
    if history.is_episode:
        width = TREND * canvas.width - 5
        canvas.box(left, y + 1, width, METRIC - 2, fill=WASH)
        trend = history.metrics[: crisis.clock + 1, number]
        x = [left + width * step / history.last_step for step in range(len(trend))]
        heights = [y + 1 + (METRIC - 2) * (1 - stated(number, value) / 100) for value in trend]
        canvas.line((*x, x[-1] + 1), (*heights, heights[-1]), color=color, line=1.0)
        left += TREND * canvas.width
    width = canvas.width * (1 - VALUE) - left
    canvas.bar(left, middle - 2.2, width, 4.4, stated(number, value) / 100, color)
    limit = left + width * stated(number, COLLAPSE) / 100
    canvas.line((limit, limit), (middle - 3.4, middle + 3.4), color=INK, line=0.7)
    ink = ALARM if value < COLLAPSE else INK
    canvas.text(canvas.width, middle, f"{stated(number, value):.0f}", size=TINY, align="right", color=ink)


def _draw_milestones(crisis: Crisis, canvas: Canvas) -> None:
    """The milestones with their rewards, in two columns if there is little room."""
    if not crisis.milestones:
        return
    canvas.text(0, 5, "Milestones", bold=True)
    columns = 2 if (canvas.height - 14) / ROW < len(crisis.milestones) else 1
    width = (canvas.width - GAP) / 2 if columns == 2 else canvas.width
    rows = -(-len(crisis.milestones) // columns)
    for number, milestone in enumerate(crisis.milestones):
        x, y = number // rows * (width + GAP), 16 + number % rows * ROW
        ink = {REACHED: GREEN, LOCKED: MUTED}.get(milestone.status, INK)
        canvas.text(x, y, SIGNS["milestone"] if milestone.status == REACHED else "⚐", size=SMALL, color=ink)
        words = f"{milestone.status} {milestone.reward:+g}"
        used = canvas.text(x + width, y, words, size=SMALL, color=ink, align="right")
        canvas.text(x + 11, y, milestone.name, size=SMALL, color=ink, width=width - used - 17)


def draw_whole(history: History, layout: Layout, crisis: Crisis, canvas: Canvas) -> None:
    """The graph at the end, and under it a chart for each domain."""
    top = canvas.height * (1 - CHARTS)
    graph.draw(layout, crisis, canvas.part(0, 0, canvas.width, top - 6))
    canvas.text(0, top + 5, "Metrics over time", bold=True)
    canvas.text(canvas.width - 8, top + 5, _caption(crisis, history), size=TINY, color=MUTED, align="right", width=400)
    top += HEADING
    parts = domains()
    width, height = canvas.width / COLUMNS, (canvas.height - top - AXIS) / -(-len(parts) // COLUMNS)
    for number, (domain, metrics) in enumerate(parts.items()):
        x, y = number % COLUMNS * width, top + number // COLUMNS * height
        _draw_domain(domain, metrics, crisis, history, canvas.part(x, y, width - 8, height - 5))


def _caption(crisis: Crisis, history: History) -> str:
    """The caption of the charts: the steps, the scale and the events so far."""
    events = ", ".join(f"{crisis.names.events[event]} ({step})" for step, event in history.fired_until(crisis.clock))
    caption = f"steps 0 to {history.last_step}; up is better, ↓ upside down; red: collapse"
    return f"{caption}; grey: {events}" if events else caption


def _draw_domain(domain: str, metrics: Sequence[int], crisis: Crisis, history: History, canvas: Canvas) -> None:
    """The metrics of a domain over time, with the line of collapse and the events."""
    canvas.text(0, 4, domain, size=SMALL, bold=True)
    paper = canvas.part(0, 11, canvas.width - LABELS, canvas.height - 12)
    steps = history.last_step

    def y_of(value: float) -> float:
        return paper.height * (1 - value / 100)

    for level in (0, 50, 100):
        paper.line((0, paper.width), (y_of(level), y_of(level)), line=0.5)
    paper.line((0, paper.width), (y_of(COLLAPSE), y_of(COLLAPSE)), color=ALARM, line=0.6, dashed=True)
    for step, _ in history.fired_until(crisis.clock):
        if step is not None:
            paper.line((paper.width * step / steps,) * 2, (0, paper.height), color=MUTED, line=0.7, dashed=True)
    for number, color in zip(metrics, COLORS, strict=False):
        y = [y_of(value) for value in history.metrics[:, number]]
        paper.line([paper.width * step / steps for step in range(len(y))], y, color=color, line=1.3)
    _draw_labels(metrics, history.metrics[-1], canvas, paper.height)


def _draw_labels(numbers: Sequence[int], values: Sequence[float], canvas: Canvas, height: float) -> None:
    """The name of each line beside its end, one under another."""
    order = sorted(range(len(numbers)), key=lambda n: -values[numbers[n]])
    ends = [height * (1 - values[numbers[n]] / 100) for n in order]
    x = canvas.width - LABELS
    for n, end, y in zip(order, ends, spread(ends, height, LINE), strict=True):
        value = values[numbers[n]]
        canvas.line((x + 1, x + 6), (11 + end, 11 + y), color=COLORS[n], line=0.6)
        words = f"{stated(numbers[n], value):.0f}"
        used = canvas.text(canvas.width, 11 + y, words, size=TINY, align="right", color=INK)
        ink, room = MUTED if value >= COLLAPSE else ALARM, LABELS - used - 11
        canvas.text(x + 8, 11 + y, metric_name(numbers[n]), size=TINY, width=room, color=ink)
