"""A canvas of SVG elements: small and quickly drawn, for notebooks and web pages."""

import html
from collections.abc import Callable, Mapping, Sequence

from jaxenv.host.companions import optional
from jaxenv.rendering.canvas import TEXT, Canvas
from jaxenv.rendering.theme import FAINT, FONT, INK, MUTED, fitting, text_width

FONTS = f"{FONT}, Verdana, sans-serif"  # the second is as wide, and where the first is not
ASCENT = 0.76  # of the font, of its size: the height of an l
STRIPE, STRIPES = 0.7, 4.0  # points: width of a stripe of a hatching, and from one to the next

Attributes = Mapping[str, str | float | None]
"""Of an element: name -> value; those that are None are left out."""


class SvgCanvas(Canvas):
    """Draws SVG elements, with text as text, stretched to the width that the font of every picture would have.

    Examples:
        >>> layers = []
        >>> SvgCanvas(layers, 0.0, 0.0, 720.0, 400.0).part(20, 10, 50, 50).box(1, 2, 30, 4, fill="#dde2e6")
        >>> layers
        [[], ["<rect x='21' y='12' width='30' height='4' fill='#dde2e6'/>"]]
    """

    def __init__(self, layers: list[list[str]], left: float, top: float, width: float, height: float) -> None:
        """Places a canvas on a page: a new layer, `left` and `top` points from the page's upper left corner."""
        self._layers, self._elements = layers, list[str]()
        layers.append(self._elements)
        self._left, self._top = left, top
        self.width, self.height = width, height

    def part(self, left: float, top: float, width: float, height: float) -> "SvgCanvas":
        """See `Canvas`."""
        return SvgCanvas(self._layers, self._left + left, self._top + top, width, height)

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
        length = text_width(words, size, bold)
        place = {"x": self._left + x, "y": self._top + y + size * ASCENT / 2}
        anchor = {"left": None, "center": "middle", "right": "end"}[align]
        font = {"font-size": size, "fill": color, "font-weight": "bold" if bold else None, "text-anchor": anchor}
        stretch = {"textLength": length, "lengthAdjust": "spacingAndGlyphs"} if len(words) > 1 else {}
        if words:
            self._add("text", {**place, **font, **stretch}, html.escape(words))
        return length

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
        place = {"x": self._left + x, "y": self._top + y, "width": width, "height": height}
        rounded = min(radius, width / 2, height / 2) or None
        self._add("rect", {**place, "rx": rounded, "fill": fill or "none", **_stroke(edge, line, dashed)})
        if hatched:
            starts = (STRIPES * number - height for number in range(int((width + height) / STRIPES) + 1))
            path = "".join(f"M{_short(start)} {_short(height)}l{_short(height)} {_short(-height)}" for start in starts)
            self._add("svg", place, _element("path", {"d": path, **_stroke(hatched, STRIPE)}))  # clips the stripes

    def disc(self, x: float, y: float, radius: float, *, fill: str | None = None, edge: str | None = None) -> None:
        """See `Canvas`."""
        place = {"cx": self._left + x, "cy": self._top + y, "r": radius}
        self._add("circle", {**place, "fill": fill or "none", **_stroke(edge, 1.0)})

    def line(
        self, x: Sequence[float], y: Sequence[float], *, color: str = FAINT, line: float = 0.6, dashed: bool = False
    ) -> None:
        """See `Canvas`."""
        points = "L".join(self._point(*point) for point in zip(x, y, strict=True))
        self._add("path", {"d": f"M{points}", "fill": "none", **_stroke(color, line, dashed)})

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
        tip = x[1] - arrow
        bend = (x[0] + tip) / 2
        points = [self._point(*point) for point in ((bend, y[0]), (bend, y[1]), (tip, y[1]))]
        path = f"M{self._point(x[0], y[0])}C{' '.join(points)}"
        self._add("path", {"d": path, "fill": "none", **_stroke(color, line, dashed)})
        if arrow:
            corners = ((tip, y[1] - arrow / 2), (x[1], y[1]), (tip, y[1] + arrow / 2))
            self._add("path", {"d": f"M{'L'.join(self._point(*corner) for corner in corners)}Z", "fill": color})

    def _point(self, x: float, y: float) -> str:
        """A point of this canvas on the page."""
        return f"{_short(self._left + x)} {_short(self._top + y)}"

    def _add(self, tag: str, attributes: Attributes, content: str = "") -> None:
        """One more element on top."""
        self._elements.append(_element(tag, attributes, content))


def elements(draw: Callable[[Canvas], None], size: tuple[float, float]) -> list[str]:
    """A function that draws a picture of a size in points as SVG elements, the lowest first.

    Raises:
        ImportError: if matplotlib is missing, which measures the width of texts.
    """
    optional("matplotlib", "a picture", extra="viz")
    layers: list[list[str]] = []
    draw(SvgCanvas(layers, 0.0, 0.0, *size))
    return [element for layer in layers for element in layer]


def root(size: tuple[float, float]) -> str:
    """The attributes of the `<svg>` around the elements of a picture of a size in points."""
    width, height = map(_short, size)
    return f"xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' font-family='{FONTS}'"


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
