"""What lies under the lanes of a timeline: the steps, who was there, and the returns of the agents."""

import itertools
from collections.abc import Callable, Sequence

from jaxenv.envs.teamsclone.types import PRESENCE
from jaxenv.rendering.canvas import FAINT, MUTED, SMALL, TINY, Canvas, tint
from jaxenv.rendering.teamsclone.history import History
from jaxenv.rendering.teamsclone.names import Names
from jaxenv.rendering.teamsclone.signs import PRESENT, agent_color

AXIS, HEADING, PERSON, GAP = 14.0, 15.0, 10.0, 10.0  # points, heights
RETURNS, MOST_RETURNS = 66.0, 140.0  # points, least and greatest height
MOST_TICKS, TICK = 10, 8.0  # numbers of steps, and points between two of returns
Scale = Callable[[float], float]


def least_height(names: Names) -> float:
    """Points that it takes at least."""
    return AXIS + HEADING + PERSON * len(names.users) + GAP + RETURNS


def draw(history: History, names: Names, agent: int, canvas: Canvas, left: float, x_of: Scale) -> None:
    """The axis of steps, a band for each teammate, and a line for each agent."""
    _draw_axis(canvas, x_of, int(history.clocks[-1]))
    canvas.text(0, AXIS + 6, "Teammates", size=SMALL, bold=True)
    y = AXIS + HEADING
    for number, name in enumerate(names.users):
        canvas.text(8, y + PERSON / 2, name, size=TINY, color=MUTED, width=left - 14)
        _draw_band(history.clocks.tolist(), history.presence[:, number].tolist(), canvas, y, x_of)
        y += PERSON
    _draw_returns(history, names, agent, canvas, y + GAP, left, x_of)


def _draw_axis(canvas: Canvas, x_of: Scale, last: int) -> None:
    """Numbers of steps."""
    every = next(n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000) if last / n <= MOST_TICKS)
    for step in range(0, last + 1, every):
        canvas.text(x_of(step - 1), 3, str(step), size=TINY, color=MUTED, align="center")


def _draw_band(clocks: Sequence[int], presence: Sequence[int], canvas: Canvas, y: float, x_of: Scale) -> None:
    """A teammate's presence over time."""
    for status, run in itertools.groupby(zip(clocks, presence, strict=True), key=lambda pair: pair[1]):
        steps = [clock for clock, _ in run]
        start, end = x_of(steps[0] - 1), x_of(min(steps[-1], clocks[-1] - 1))
        color = tint(PRESENT[PRESENCE[status]], 0.75)
        canvas.box(start, y + 2.5, max(end - start, 0.5), PERSON - 5, fill=color)


def _draw_returns(
    history: History, names: Names, agent: int, canvas: Canvas, top: float, left: float, x_of: Scale
) -> None:
    """The return of each agent so far, that of the one who looks above the others."""
    low, high = min(0.0, float(history.returns.min())), max(1.0, float(history.returns.max()))
    room = min(canvas.height - top - 10, MOST_RETURNS)

    def y_of(value: float) -> float:
        return top + 5 + room * (high - value) / (high - low)

    canvas.text(0, top + 6, "Return", size=SMALL, bold=True)
    for value in [0.0, *(value for value in (low, high) if abs(y_of(value) - y_of(0.0)) > TICK)]:
        canvas.line((left, canvas.width), (y_of(value), y_of(value)), line=0.5, color=FAINT)
        said = f"{value:.1f}".replace("-", "−")
        canvas.text(left - 6, y_of(value), said, size=TINY, color=MUTED, align="right")
    x = [x_of(clock - 1) for clock in history.clocks.tolist()]
    for number in sorted(range(len(names.agents)), key=lambda number: number == agent):
        values, is_me = [y_of(value) for value in history.returns[:, number].tolist()], number == agent
        canvas.line(x, values, color=agent_color(number, is_me), line=1.6 if is_me else 1.0)
