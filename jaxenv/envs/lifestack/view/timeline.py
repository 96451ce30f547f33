"""An episode of a crisis at a glance: the graph at the end, and all metrics and events over time."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxenv.envs.lifestack.view import main_panel
from jaxenv.envs.lifestack.view.layout import Layout, spread
from jaxenv.envs.lifestack.view.names import domains, metric_name
from jaxenv.envs.lifestack.view.snapshot import Crisis
from jaxenv.envs.lifestack.view.text import COLLAPSE
from jaxenv.rendering.canvas import SMALL, TINY, Canvas
from jaxenv.rendering.theme import ALARM, BLUE, GREEN, INK, MUTED, ORANGE, PURPLE

COLORS = (BLUE, ORANGE, GREEN, PURPLE)
CHARTS = 0.38  # share of the height
LABELS = 88.0  # points beside a chart
LINE = 7.6  # points between labels
HEADING, AXIS = 16.0, 8.0  # points above and below the charts
COLUMNS = 3


@dataclasses.dataclass(frozen=True)
class History:
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


def draw(history: History, layout: Layout, crisis: Crisis, canvas: Canvas) -> None:
    """The graph at the end, and under it a chart for each domain."""
    top = canvas.height * (1 - CHARTS)
    main_panel.draw(layout, crisis, canvas.part(0, 0, canvas.width, top - 6))
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
    caption = f"steps 0 to {history.last_step}; higher is better; red: 20, collapse"
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
        used = canvas.text(canvas.width, 11 + y, f"{value:.0f}", size=TINY, align="right", color=INK)
        ink, room = MUTED if value >= COLLAPSE else ALARM, LABELS - used - 11
        canvas.text(x + 8, 11 + y, metric_name(numbers[n]), size=TINY, width=room, color=ink)
