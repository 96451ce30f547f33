"""A canvas: a rectangle of a figure in points, with the few marks and colours that every picture is made of."""

import functools
from collections.abc import Sequence
from typing import Any

from jaxenv.rendering.glyphs import drawable

INK, MUTED, FAINT, WASH, PAPER = "#1f2933", "#6b7780", "#dde2e6", "#f3f5f6", "#ffffff"
ALARM = "#c1121f"
# Told apart by colour-blind people too: Wong, "Points of view: Color blindness", Nature Methods 8, 441 (2011).
BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#e69f00", "#009e73", "#aa5a8c"

PAGE = (720.0, 400.0)  # points, 10 x 5.6 inches
LARGE, TEXT, SMALL, TINY = 11.0, 8.0, 6.8, 6.2  # points


class Canvas:
    """Draws in points, x to the right and y down from the upper left corner; what is drawn later lies above.

    Attributes:
        width: points.
        height: points.
    """

    def __init__(self, figure: Any, left: float, top: float, width: float, height: float) -> None:
        """Lays a canvas on a matplotlib figure, `left` and `top` points from its upper left corner."""
        page_width, page_height = 72.0 * figure.get_size_inches()
        bottom = page_height - top - height
        rectangle = (left / page_width, bottom / page_height, width / page_width, height / page_height)
        self._axes = figure.add_axes(rectangle)
        self._axes.set(xlim=(0, width), ylim=(height, 0))
        self._axes.axis("off")
        self._figure, self._left, self._top = figure, left, top
        self.width, self.height = width, height

    def part(self, left: float, top: float, width: float, height: float) -> "Canvas":
        """A canvas that lies on this one."""
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
        """Writes one line, its middle at height y, and cuts what is longer than `width` points.

        Returns:
            the width of what was written, points.
        """
        words = fitting(words, width, size, bold)
        weight = "bold" if bold else "normal"
        style = {"size": size, "color": color, "weight": weight, "ha": align, "va": "center_baseline", "zorder": 1}
        self._axes.text(x, y, words, parse_math=False, **style)
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
        """A rectangle, filled, outlined, hatched in a colour, or all of these; `radius` rounds its corners."""
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

    def disc(
        self,
        x: float,
        y: float,
        radius: float,
        *,
        fill: str | None = None,
        edge: str | None = None,
        line: float = 1.0,
    ) -> None:
        """A circle around (x, y), filled, outlined or both."""
        from matplotlib.patches import Circle

        circle = Circle((x, y), radius, facecolor=fill or "none", edgecolor=edge or "none")
        circle.set(linewidth=line if edge else 0.0, clip_on=False, zorder=1)
        self._axes.add_patch(circle)

    def line(
        self,
        x: Sequence[float],
        y: Sequence[float],
        *,
        color: str = FAINT,
        line: float = 0.6,
        dashed: bool = False,
    ) -> None:
        """A straight line from (x[0], y[0]) to (x[1], y[1]), and on to any further points."""
        style = (0, (3, 2)) if dashed else "solid"
        look = {"color": color, "linewidth": line, "linestyle": style, "solid_capstyle": "butt"}
        self._axes.plot(x, y, **look, clip_on=False, zorder=1)

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
        """A curve that leaves (x[0], y[0]) and comes to (x[1], y[1]) level, with a head `arrow` points long."""
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


def tint(color: str, share: float) -> str:
    """A colour `#rrggbb` of which only a share in [0, 1] is left on white."""
    mixed = (round(255 + share * (int(color[n : n + 2], 16) - 255)) for n in (1, 3, 5))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def fitting(words: str, width: float | None, size: float, bold: bool = False) -> str:
    """The words on one line, cut with an ellipsis where they are longer than `width` points."""
    words = drawable(" ".join(words.split()))
    if width is None or text_width(words, size, bold) <= width:
        return words
    for length in range(len(words) - 1, 1, -1):
        cut = words[:length].rstrip(" ·,") + "…"
        if text_width(cut, size, bold) <= width:
            return cut
    return ""


def wrapped(words: str, width: float, size: float, most: int) -> list[str]:
    """The words on as many lines as they need, `most` at most, each at most `width` points wide."""
    rest, lines = drawable(" ".join(words.split())).split(), []
    while rest and len(lines) < most - 1:
        number = next((n for n in range(len(rest), 1, -1) if text_width(" ".join(rest[:n]), size) <= width), 1)
        lines.append(fitting(" ".join(rest[:number]), width, size))
        rest = rest[number:]
    return [*lines, fitting(" ".join(rest), width, size)] if rest else lines


@functools.lru_cache(maxsize=4096)
def text_width(words: str, size: float, bold: bool = False) -> float:
    """How wide a line of text is, points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size, weight="bold" if bold else "normal")
    return text_to_path.get_text_width_height_descent(drawable(words), font, False)[0]
