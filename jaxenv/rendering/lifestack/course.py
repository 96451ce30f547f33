"""An episode of a crisis at a glance: how it stands at the end, and all metrics over time."""

from collections.abc import Sequence

from jaxenv.rendering.canvas import ALARM, BLUE, GREEN, INK, MUTED, ORANGE, PURPLE, SMALL, TINY, Canvas
from jaxenv.rendering.lifestack import graph
from jaxenv.rendering.lifestack.crisis import Crisis
from jaxenv.rendering.lifestack.history import History
from jaxenv.rendering.lifestack.layout import Layout, heights
from jaxenv.rendering.lifestack.signs import COLLAPSE, domains, metric_name

COLORS = (BLUE, ORANGE, GREEN, PURPLE)
CHARTS = 0.38  # share of the height
LABELS = 88.0  # points beside a chart
LINE = 7.6  # points between labels
HEADING, AXIS = 16.0, 8.0  # points above and below the charts
COLUMNS = 3


def draw(crisis: Crisis, history: History, layout: Layout, canvas: Canvas) -> None:
    """The graph at the end, and under it a chart for each domain."""
    top = canvas.height * (1 - CHARTS)
    graph.draw(crisis, layout, canvas.part(0, 0, canvas.width, top - 6))
    canvas.text(0, top + 5, "Metrics over time", bold=True)
    canvas.text(canvas.width - 8, top + 5, _caption(crisis, history), size=TINY, color=MUTED, align="right", width=400)
    top += HEADING
    parts = domains()
    width, height = canvas.width / COLUMNS, (canvas.height - top - AXIS) / -(-len(parts) // COLUMNS)
    for number, (domain, metrics) in enumerate(parts.items()):
        x, y = number % COLUMNS * width, top + number // COLUMNS * height
        _draw_domain(domain, metrics, crisis, history, canvas.part(x, y, width - 8, height - 5))


def _caption(crisis: Crisis, history: History) -> str:
    """What the charts show beside the metrics."""
    events = ", ".join(f"{crisis.names.events[event]} ({step})" for step, event in history.fired_until(crisis.clock))
    said = f"steps 0 to {history.last_step}; turned so that more is better; red: 20, collapse"
    return f"{said}; grey: {events}" if events else said


def _draw_domain(domain: str, metrics: Sequence[int], crisis: Crisis, history: History, canvas: Canvas) -> None:
    """The metrics of a domain over time, with the line of collapse, the deadline and the events."""
    canvas.text(0, 4, domain, size=SMALL, bold=True)
    paper = canvas.part(0, 11, canvas.width - LABELS, canvas.height - 12)
    steps = history.last_step
    for level in (0, 50, 100):
        y = paper.height * (1 - level / 100)
        paper.line((0, paper.width), (y, y), line=0.5)
    y = paper.height * (1 - COLLAPSE / 100)
    paper.line((0, paper.width), (y, y), color=ALARM, line=0.6, dashed=True)
    for step, _ in history.fired_until(crisis.clock):
        if step is not None:
            paper.line((paper.width * step / steps,) * 2, (0, paper.height), color=MUTED, line=0.7, dashed=True)
    for number, color in zip(metrics, COLORS, strict=False):
        values = history.metrics[:, number]
        x = [paper.width * step / steps for step in range(len(values))]
        paper.line(x, [paper.height * (1 - value / 100) for value in values], color=color, line=1.3)
    _draw_labels(metrics, history.metrics[-1], canvas, paper.height)


def _draw_labels(numbers: Sequence[int], values: Sequence[float], canvas: Canvas, height: float) -> None:
    """The name of each line beside its end, one under another."""
    order = sorted(range(len(numbers)), key=lambda n: -values[numbers[n]])
    placed = heights([height * (1 - values[numbers[n]] / 100) for n in order], height, LINE)
    x = canvas.width - LABELS
    for n, y in zip(order, placed, strict=True):
        value = values[numbers[n]]
        end = 11 + height * (1 - value / 100)
        canvas.line((x + 1, x + 6), (end, 11 + y), color=COLORS[n], line=0.6)
        used = canvas.text(canvas.width, 11 + y, f"{value:.0f}", size=TINY, align="right", color=INK)
        name = metric_name(numbers[n])
        canvas.text(
            x + 8, 11 + y, name, size=TINY, width=LABELS - used - 11, color=MUTED if value >= COLLAPSE else ALARM
        )
