"""The shapes of a canvas on a matplotlib figure; importing it needs matplotlib."""

from typing import Any

from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, FancyBboxPatch, PathPatch, Polygon, Rectangle
from matplotlib.path import Path
from matplotlib.transforms import Affine2D

from jaxenv.rendering.canvas import Box, Canvas, Disc, Head, Line, Stripes, Text

CURVE = (Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4)


def draw_on(figure: Figure, canvas: Canvas) -> None:
    """Draws straight on the figure: axes would take as long as everything on them."""
    height = 72.0 * figure.get_figheight()
    for number, layer in enumerate(canvas.layers, 1):
        to_inches = Affine2D().translate(layer.left, layer.top - height).scale(1 / 72, -1 / 72)
        for index, shape in enumerate(layer.shapes):  # by its order, or matplotlib draws a layer's texts last
            style: Any = {"transform": to_inches + figure.dpi_scale_trans, "zorder": number + index / len(layer.shapes)}
            if isinstance(shape, Text):
                font = {"size": shape.size, "color": shape.color, "weight": "bold" if shape.bold else "normal"}
                place: Any = {"ha": shape.align, "va": "center_baseline", "parse_math": False}
                figure.text(shape.x, shape.y, shape.words, **place, **font, **style)
            else:
                artist = _artist(shape)
                artist.set(**style)
                figure.add_artist(artist)


def _artist(shape: Box | Stripes | Disc | Line | Head) -> Artist:
    """A shape other than text."""
    match shape:
        case Box(x, y, width, height, fill, edge, line, dashed, radius):
            style = _style(fill, edge, line, dashed)
            if radius:
                return FancyBboxPatch((x, y), width, height, f"round,pad=0,rounding_size={radius}", **style)
            return Rectangle((x, y), width, height, **style)
        case Stripes(x, y, width, height, color):
            return Rectangle((x, y), width, height, hatch="//////", facecolor="none", edgecolor=color, linewidth=0.0)
        case Disc(x, y, radius, fill, edge):
            return Circle((x, y), radius, **_style(fill, edge, 1.0))
        case Line(points, color, line, dashed, is_curved):
            if is_curved:
                return PathPatch(Path(points, CURVE), capstyle="butt", **_style(None, color, line, dashed))
            stroke: Any = {"color": color, "linewidth": line, "linestyle": _dashes(dashed), "solid_capstyle": "butt"}
            return Line2D(*zip(*points, strict=True), **stroke)
        case Head(points, color):
            return Polygon(points, facecolor=color, edgecolor="none")


def _style(fill: str | None, edge: str | None, line: float, dashed: bool = False) -> dict[str, Any]:
    """How a patch is filled and outlined."""
    outline = {"edgecolor": edge or "none", "linewidth": line if edge else 0.0, "linestyle": _dashes(dashed)}
    return {"facecolor": fill or "none", **outline}


def _dashes(dashed: bool) -> Any:
    """A line style."""
    return (0, (3, 2)) if dashed else "solid"
