"""A canvas: a rectangle of a figure, measured in points, with the few shapes that every picture uses."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from jaxenv.rendering.theme import FAINT, INK, MUTED, fitting, text_width

PAGE = (720.0, 400.0)  # points, 10 x 5.6 inches
LARGE, TEXT, SMALL, TINY = 11.0, 8.0, 6.8, 6.2  # points


class Canvas:
    """Draws in points, x to the right and y down from the upper left corner; later shapes cover earlier ones.

    Attributes:
        width: points.
        height: points.
    """

    def __init__(self, figure: Any, left: float, top: float, width: float, height: float) -> None:
        """Places a canvas on a matplotlib figure, `left` and `top` points from its upper left corner."""
        page_width, page_height = 72.0 * figure.get_size_inches()
        bottom = page_height - top - height
        rectangle = (left / page_width, bottom / page_height, width / page_width, height / page_height)
        self._axes = figure.add_axes(rectangle)
        self._axes.set(xlim=(0, width), ylim=(height, 0))
        self._axes.axis("off")
        self._figure, self._left, self._top = figure, left, top
        self.width, self.height = width, height

    def part(self, left: float, top: float, width: float, height: float) -> "Canvas":
        """A canvas on top of this one."""
        return Canvas(self._figure, self._left + left, self._top + top, width, height)

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
        font = {"size": size, "color": color, "weight": "bold" if bold else "normal"}
        self._axes.text(x, y, words, ha=align, va="center_baseline", zorder=1, parse_math=False, **font)
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
        from matplotlib.patches import FancyBboxPatch, Rectangle

        radius = min(radius, width / 2, height / 2)
        style = f"round,pad=0,rounding_size={radius}"
        outline = FancyBboxPatch((x, y), width, height, style) if radius else Rectangle((x, y), width, height)
        outline.set(facecolor=fill or "none", edgecolor=edge or "none", linewidth=line if edge else 0.0)
        outline.set(linestyle=(0, (3, 2)) if dashed else "solid", clip_on=False, zorder=1)
        self._axes.add_patch(outline)
        if hatched:
            stripes = Rectangle((x, y), width, height, hatch="//////", facecolor="none")
            stripes.set(edgecolor=hatched, linewidth=0.0, clip_on=False, zorder=1)
            self._axes.add_patch(stripes)

    def bar(
        self, x: float, y: float, width: float, height: float, share: float, color: str, radius: float = 0.0
    ) -> None:
        """A faint bar of which a share in [0, 1] is filled in a color."""
        self.box(x, y, width, height, fill=FAINT, radius=radius)
        self.box(x, y, width * share, height, fill=color, radius=radius)

    def disc(self, x: float, y: float, radius: float, *, fill: str | None = None, edge: str | None = None) -> None:
        """A circle around (x, y), filled, outlined or both."""
        from matplotlib.patches import Circle

        circle = Circle((x, y), radius, facecolor=fill or "none", edgecolor=edge or "none")
        circle.set(linewidth=1.0 if edge else 0.0, clip_on=False, zorder=1)
        self._axes.add_patch(circle)

    def line(
        self, x: Sequence[float], y: Sequence[float], *, color: str = FAINT, line: float = 0.6, dashed: bool = False
    ) -> None:
        """A straight line from (x[0], y[0]) to (x[1], y[1]), and on to any further points."""
        style = (0, (3, 2)) if dashed else "solid"
        stroke = {"color": color, "linewidth": line, "linestyle": style, "solid_capstyle": "butt"}
        self._axes.plot(x, y, **stroke, clip_on=False, zorder=1)

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
        from matplotlib.patches import PathPatch, Polygon
        from matplotlib.path import Path

        tip = x[1] - arrow
        bend = (x[0] + tip) / 2
        path = Path([(x[0], y[0]), (bend, y[0]), (bend, y[1]), (tip, y[1])], [Path.MOVETO, *[Path.CURVE4] * 3])
        drawn = PathPatch(path, facecolor="none", edgecolor=color, linewidth=line, clip_on=False, zorder=1)
        drawn.set(linestyle=(0, (3, 2)) if dashed else "solid", capstyle="butt")
        self._axes.add_patch(drawn)
        if arrow:
            corners = [(tip, y[1] - arrow / 2), (x[1], y[1]), (tip, y[1] + arrow / 2)]
            self._axes.add_patch(Polygon(corners, facecolor=color, edgecolor="none", clip_on=False, zorder=1))


Mark = tuple[str, Callable[[Canvas, float, float], Any]]
"""An entry of a legend: a name, and what draws the mark itself around (x, y)."""


def swatch(width: float = 6.0, **style: Any) -> Callable[[Canvas, float, float], None]:
    """What draws a small box for a legend; see `Canvas.box`."""
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
