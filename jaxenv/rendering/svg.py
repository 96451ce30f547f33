"""The shapes of a canvas as SVG: small and quickly drawn, for notebooks and web pages."""

import html
from collections.abc import Mapping, Sequence

from jaxenv.rendering.canvas import Box, Canvas, Disc, Head, Line, Point, Shape, Stripes, Text
from jaxenv.rendering.theme import FONT, text_width

FONTS = f"{FONT}, Verdana, sans-serif"  # the second is as wide, and where the first is not
ASCENT = 0.76  # of the font, of its size: the height of an l
STRIPE, STRIPES = 0.7, 4.0  # points: width of a stripe of a hatching, and from one to the next

Attributes = Mapping[str, str | float | None]
"""Of an element: name -> value; those that are None are left out."""


def elements(canvas: Canvas) -> list[str]:
    """The shapes as SVG elements, the lowest first.

    >>> from jaxenv.rendering.canvas import Canvas
    >>> page = Canvas(720.0, 400.0)
    >>> page.part(20, 10, 50, 50).box(1, 2, 30, 4, fill="#dde2e6")
    >>> elements(page)
    ["<rect x='21' y='12' width='30' height='4' fill='#dde2e6'/>"]
    """
    return [_drawn(_moved(shape, layer)) for layer in canvas.layers for shape in layer.shapes]


def root(size: tuple[float, float]) -> str:
    """The attributes of the `<svg>` around the elements of a picture of a size in points."""
    width, height = map(_short, size)
    return f"xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' font-family='{FONTS}'"


def _moved(shape: Shape, layer: Canvas) -> Shape:
    """A shape of a layer in points from the upper left corner of the page."""
    if isinstance(shape, Line | Head):
        return shape._replace(points=[(layer.left + x, layer.top + y) for x, y in shape.points])
    return shape._replace(x=layer.left + shape.x, y=layer.top + shape.y)


def _drawn(shape: Shape) -> str:
    """A shape as one element."""
    match shape:
        case Text():
            return _text(shape)
        case Box(x, y, width, height, fill, edge, line, dashed, radius):
            place = {"x": x, "y": y, "width": width, "height": height, "rx": radius or None}
            return _element("rect", {**place, "fill": fill or "none", **_stroke(edge, line, dashed)})
        case Stripes():
            return _stripes(shape)
        case Disc(x, y, radius, fill, edge):
            place = {"cx": x, "cy": y, "r": radius}
            return _element("circle", {**place, "fill": fill or "none", **_stroke(edge, 1.0)})
        case Line(points, color, line, dashed, is_curved):
            path = f"M{_path(points[:1])}C{_path(points[1:])}" if is_curved else f"M{_path(points, 'L')}"
            return _element("path", {"d": path, "fill": "none", **_stroke(color, line, dashed)})
        case Head(points, color):
            return _element("path", {"d": f"M{_path(points, 'L')}Z", "fill": color})


def _text(text: Text) -> str:
    """Text as text, stretched to the width that the font of every picture would have."""
    place = {"x": text.x, "y": text.y + text.size * ASCENT / 2}
    anchor = {"left": None, "center": "middle", "right": "end"}[text.align]
    weight = "bold" if text.bold else None
    font = {"font-size": text.size, "fill": text.color, "font-weight": weight, "text-anchor": anchor}
    length = text_width(text.words, text.size, text.bold)
    stretch = {"textLength": length, "lengthAdjust": "spacingAndGlyphs"} if len(text.words) > 1 else {}
    return _element("text", {**place, **font, **stretch}, html.escape(text.words))


def _stripes(shape: Stripes) -> str:
    """Slanting lines, clipped by an inner `<svg>`."""
    x, y, width, height, color = shape
    starts = (STRIPES * number - height for number in range(int((width + height) / STRIPES) + 1))
    path = "".join(f"M{_short(start)} {_short(height)}l{_short(height)} {_short(-height)}" for start in starts)
    lines = _element("path", {"d": path, **_stroke(color, STRIPE)})
    return _element("svg", {"x": x, "y": y, "width": width, "height": height}, lines)


def _path(points: Sequence[Point], between: str = " ") -> str:
    """Points of a path."""
    return between.join(f"{_short(x)} {_short(y)}" for x, y in points)


def _element(tag: str, attributes: Attributes, content: str = "") -> str:
    """An element; attributes that are None are left out, and `content` is markup."""
    given = ((name, _short(value)) for name, value in attributes.items() if value is not None)
    head = " ".join([tag, *(f"{name}='{value}'" for name, value in given)])
    return f"<{head}>{content}</{tag}>" if content else f"<{head}/>"


def _stroke(color: str | None, line: float, dashed: bool = False) -> Attributes:
    """The attributes of an outline; none if there is no color."""
    if color is None:
        return {}
    dashes = f"{_short(3 * line)} {_short(2 * line)}" if dashed else None
    return {"stroke": color, "stroke-width": line, "stroke-dasharray": dashes}


def _short(value: str | float) -> str:
    """A number in as few digits as a hundredth of a point needs; text stays."""
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")
