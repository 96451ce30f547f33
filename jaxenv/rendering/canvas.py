"""A canvas: a rectangle of a page, measured in points, with the few shapes that every picture uses."""

import abc
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from jaxenv.rendering.theme import FAINT, INK, MUTED, text_width

PAGE = (720.0, 400.0)  # points, 10 x 5.6 inches
LARGE, TEXT, SMALL, TINY = 11.0, 8.0, 6.8, 6.2  # points


class Canvas(abc.ABC):
    """Draws in points, x to the right and y down from the upper left corner; later shapes cover earlier ones.

    Attributes:
        width: points.
        height: points.
    """

    width: float
    height: float

    @abc.abstractmethod
    def part(self, left: float, top: float, width: float, height: float) -> "Canvas":
        """A canvas on top of this one."""

    @abc.abstractmethod
    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float = TEXT,
        color: str = INK,
        bold: bool = False,
        align: str = "left",
        width: float | None = None,
    ) -> float:
        """Writes one line, centred at height y and cut to `width` points.

        Returns:
            the width of the written line, points.
        """

    @abc.abstractmethod
    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str | None = None,
        edge: str | None = None,
        line: float = 1.0,
        dashed: bool = False,
        hatched: str | None = None,
        radius: float = 0.0,
    ) -> None:
        """A rectangle, filled, outlined, hatched in a color, or all of these; `radius` rounds its corners."""

    @abc.abstractmethod
    def disc(self, x: float, y: float, radius: float, *, fill: str | None = None, edge: str | None = None) -> None:
        """A circle around (x, y), filled, outlined or both."""

    @abc.abstractmethod
    def line(
        self, x: Sequence[float], y: Sequence[float], *, color: str = FAINT, line: float = 0.6, dashed: bool = False
    ) -> None:
        """A straight line from (x[0], y[0]) to (x[1], y[1]), and on to any further points."""

    @abc.abstractmethod
    def curve(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        color: str = MUTED,
        line: float = 0.9,
        dashed: bool = False,
        arrow: float = 0.0,
    ) -> None:
        """A curve from (x[0], y[0]) to (x[1], y[1]), level at both ends, with a head `arrow` points long."""

    def bar(
        self, x: float, y: float, width: float, height: float, share: float, color: str, radius: float = 0.0
    ) -> None:
        """A faint bar of which a share in [0, 1] is filled in a color."""
        self.box(x, y, width, height, fill=FAINT, radius=radius)
        self.box(x, y, width * share, height, fill=color, radius=radius)


Mark = tuple[str, Callable[[Canvas, float, float], Any]]
"""An entry of a legend: a name, and a function that draws the mark around (x, y)."""


def swatch(width: float = 6.0, **style: Any) -> Callable[[Canvas, float, float], None]:
    """A function that draws a small box for a legend; see `Canvas.box`."""
    return lambda canvas, x, y: canvas.box(x, y - 3, width, 6, **style)


def legend(
    canvas: Canvas, marks: Iterable[Mark], x: float = 0.0, y: float = 5.0, indent: float = 10.0, gap: float = 9.0
) -> None:
    """Marks with their names from (x, y) on, in rows that fit; `indent` points before each name, `gap` after it."""
    left = x
    for name, draw in marks:
        width = 10 + text_width(name, TINY)
        if x + width > canvas.width:
            x, y = left, y + 10
        draw(canvas, x, y)
        canvas.text(x + indent, y, name, size=TINY, color=MUTED)
        x += width + gap
