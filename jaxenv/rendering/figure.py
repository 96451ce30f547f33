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
        style: Any = {"transform": to_inches + figure.dpi_scale_trans, "zorder": number}
        for shape in layer.shapes:
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
        case Box():
            return _box(shape)
        case Stripes(x, y, width, height, color):
            stripes = Rectangle((x, y), width, height, hatch="//////", facecolor="none")
            stripes.set(edgecolor=color, linewidth=0.0)
            return stripes
        case Disc(x, y, radius, fill, edge):
            circle = Circle((x, y), radius, facecolor=fill or "none", edgecolor=edge or "none")
            circle.set(linewidth=1.0 if edge else 0.0)
            return circle
        case Line(points, color, line, dashed, is_curved):
            if is_curved:
                curve = PathPatch(Path(points, CURVE), facecolor="none", edgecolor=color, linewidth=line)
                curve.set(linestyle=_dashes(dashed), capstyle="butt")
                return curve
            stroke: Any = {"color": color, "linewidth": line, "linestyle": _dashes(dashed), "solid_capstyle": "butt"}
            return Line2D(*zip(*points, strict=True), **stroke)
        case Head(points, color):
            return Polygon(points, facecolor=color, edgecolor="none")


def _box(box: Box) -> Artist:
    place = (box.x, box.y), box.width, box.height
    style = f"round,pad=0,rounding_size={box.radius}"
    outline = FancyBboxPatch(*place, style) if box.radius else Rectangle(*place)
    outline.set(facecolor=box.fill or "none", edgecolor=box.edge or "none", linewidth=box.line if box.edge else 0.0)
    outline.set(linestyle=_dashes(box.dashed))
    return outline


def _dashes(dashed: bool) -> Any:
    """A line style."""
    return (0, (3, 2)) if dashed else "solid"
