"""A canvas: a rectangle of a page, measured in points, with the few shapes that every picture uses."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from jaxenv.rendering.theme import FAINT, INK, MUTED, fitting, text_width

PAGE = (720.0, 400.0)  # points, 10 x 5.6 inches
LARGE, TEXT, SMALL, TINY = 11.0, 8.0, 6.8, 6.2  # points

Point = tuple[float, float]


class Text(NamedTuple):
    """One line of text that begins, ends or has its middle (`align`) at x, centred at height y."""

    x: float
    y: float
    words: str
    size: float
    color: str
    bold: bool
    align: str


class Box(NamedTuple):
    """A rectangle, filled, outlined or both; `radius` rounds its corners."""

    x: float
    y: float
    width: float
    height: float
    fill: str | None
    edge: str | None
    line: float
    dashed: bool
    radius: float


class Stripes(NamedTuple):
    """The hatching of a rectangle."""

    x: float
    y: float
    width: float
    height: float
    color: str


class Disc(NamedTuple):
    """A circle around (x, y), filled, outlined or both."""

    x: float
    y: float
    radius: float
    fill: str | None
    edge: str | None


class Line(NamedTuple):
    """Straight lines from each point to the next; if curved, a Bézier curve from the first of four to the last."""

    points: Sequence[Point]
    color: str
    line: float
    dashed: bool
    is_curved: bool


class Head(NamedTuple):
    """The head of an arrow, a filled triangle."""

    points: Sequence[Point]
    color: str


Shape = Text | Box | Stripes | Disc | Line | Head
"""A shape in points from the upper left corner of its canvas, x to the right and y down."""


class Canvas:
    """Draws in points from its own upper left corner; later shapes cover earlier ones.

    It keeps the shapes, which `figure` draws with matplotlib and `svg` writes as SVG.

    Attributes:
        width: points.
        height: points.
        left: points, from the left of the page.
        top: points, from the top of the page.
        shapes: those drawn so far on this canvas.
        layers: all canvases of the page, the lowest first.

    Examples:
        >>> page = Canvas(720.0, 400.0)
        >>> page.part(20, 10, 50, 50).disc(1, 2, 3, fill="#dde2e6")
        >>> [layer.shapes for layer in page.layers]
        [[], [Disc(x=1, y=2, radius=3, fill='#dde2e6', edge=None)]]
    """

    def __init__(
        self, width: float, height: float, left: float = 0.0, top: float = 0.0, layers: list["Canvas"] | None = None
    ) -> None:
        """Places a canvas on a page, `left` and `top` points from its upper left corner, above the canvases so far."""
        self.width, self.height, self.left, self.top = width, height, left, top
        self.shapes: list[Shape] = []
        self.layers = [] if layers is None else layers
        self.layers.append(self)

    def part(self, left: float, top: float, width: float, height: float) -> "Canvas":
        """A canvas on top of this one."""
        return Canvas(width, height, self.left + left, self.top + top, self.layers)

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
        words = fitting(words, width, size, bold)
        if words:
            self.shapes.append(Text(x, y, words, size, color, bold, align))
        return text_width(words, size, bold)

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
        radius = min(radius, width / 2, height / 2)
        self.shapes.append(Box(x, y, width, height, fill, edge, line, dashed, radius))
        if hatched:
            self.shapes.append(Stripes(x, y, width, height, hatched))

    def disc(self, x: float, y: float, radius: float, *, fill: str | None = None, edge: str | None = None) -> None:
        """A circle around (x, y), filled, outlined or both."""
        self.shapes.append(Disc(x, y, radius, fill, edge))

    def line(
        self, x: Sequence[float], y: Sequence[float], *, color: str = FAINT, line: float = 0.6, dashed: bool = False
    ) -> None:
        """A straight line from (x[0], y[0]) to (x[1], y[1]), and on to any further points."""
        self.shapes.append(Line(tuple(zip(x, y, strict=True)), color, line, dashed, False))

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
        tip = x[1] - arrow
        bend = (x[0] + tip) / 2
        points = ((x[0], y[0]), (bend, y[0]), (bend, y[1]), (tip, y[1]))
        self.shapes.append(Line(points, color, line, dashed, True))
        if arrow:
            corners = ((tip, y[1] - arrow / 2), (x[1], y[1]), (tip, y[1] + arrow / 2))
            self.shapes.append(Head(corners, color))

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
