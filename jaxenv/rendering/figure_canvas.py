"""A canvas on a matplotlib figure."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from jaxenv.rendering.canvas import TEXT, Canvas
from jaxenv.rendering.theme import FAINT, INK, MUTED, fitting, text_width


class FigureCanvas(Canvas):
    """Draws with matplotlib, straight on a figure: axes would take as long as everything on them."""

    def __init__(
        self, figure: Any, left: float, top: float, width: float, height: float, layers: Iterator[int] | None = None
    ) -> None:
        """Places a canvas on a matplotlib figure, `left` and `top` points from its upper left corner.

        `layers` counts the canvases of a figure, each of which covers those before it.
        """
        from matplotlib.transforms import Affine2D

        page_height = 72.0 * figure.get_figheight()
        to_inches = Affine2D().translate(left, top - page_height).scale(1 / 72, -1 / 72)
        self._layers = itertools.count(1) if layers is None else layers
        self._style: Any = {"transform": to_inches + figure.dpi_scale_trans, "zorder": next(self._layers)}
        self._figure, self._left, self._top = figure, left, top
        self.width, self.height = width, height

    def part(self, left: float, top: float, width: float, height: float) -> "FigureCanvas":
        """See `Canvas`."""
        return FigureCanvas(self._figure, self._left + left, self._top + top, width, height, self._layers)

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
        """See `Canvas`."""
        words = fitting(words, width, size, bold)
        font = {"size": size, "color": color, "weight": "bold" if bold else "normal"}
        self._figure.text(x, y, words, ha=align, va="center_baseline", parse_math=False, **font, **self._style)
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
        """See `Canvas`."""
        from matplotlib.patches import FancyBboxPatch, Rectangle

        radius = min(radius, width / 2, height / 2)
        style = f"round,pad=0,rounding_size={radius}"
        outline = FancyBboxPatch((x, y), width, height, style) if radius else Rectangle((x, y), width, height)
        outline.set(facecolor=fill or "none", edgecolor=edge or "none", linewidth=line if edge else 0.0)
        outline.set(linestyle=(0, (3, 2)) if dashed else "solid")
        self._add(outline)
        if hatched:
            stripes = Rectangle((x, y), width, height, hatch="//////", facecolor="none")
            stripes.set(edgecolor=hatched, linewidth=0.0)
            self._add(stripes)

    def disc(self, x: float, y: float, radius: float, *, fill: str | None = None, edge: str | None = None) -> None:
        """See `Canvas`."""
        from matplotlib.patches import Circle

        circle = Circle((x, y), radius, facecolor=fill or "none", edgecolor=edge or "none")
        circle.set(linewidth=1.0 if edge else 0.0)
        self._add(circle)

    def line(
        self, x: Sequence[float], y: Sequence[float], *, color: str = FAINT, line: float = 0.6, dashed: bool = False
    ) -> None:
        """See `Canvas`."""
        from matplotlib.lines import Line2D

        style = (0, (3, 2)) if dashed else "solid"
        stroke: Any = {"color": color, "linewidth": line, "linestyle": style, "solid_capstyle": "butt"}
        self._add(Line2D(x, y, **stroke))

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
        """See `Canvas`."""
        from matplotlib.patches import PathPatch, Polygon
        from matplotlib.path import Path

        tip = x[1] - arrow
        bend = (x[0] + tip) / 2
        path = Path([(x[0], y[0]), (bend, y[0]), (bend, y[1]), (tip, y[1])], [Path.MOVETO, *[Path.CURVE4] * 3])
        drawn = PathPatch(path, facecolor="none", edgecolor=color, linewidth=line)
        drawn.set(linestyle=(0, (3, 2)) if dashed else "solid", capstyle="butt")
        self._add(drawn)
        if arrow:
            corners = [(tip, y[1] - arrow / 2), (x[1], y[1]), (tip, y[1] + arrow / 2)]
            self._add(Polygon(corners, facecolor=color, edgecolor="none"))

    def _add(self, artist: Any) -> None:
        """Puts a shape on top of those of this canvas."""
        artist.set(**self._style)
        self._figure.add_artist(artist)
