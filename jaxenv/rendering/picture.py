"""A picture: one moment, or several side by side, as text, as a matplotlib figure, as SVG and as PNG."""

import base64
import dataclasses
import html
import io
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxenv.host.companions import optional
from jaxenv.rendering import svg
from jaxenv.rendering.canvas import PAGE, Canvas
from jaxenv.rendering.theme import FONT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOTS_PER_INCH = 144
WIDTH = 960  # pixels of a screen, of a picture in a notebook at most
COVERING = "position:absolute;left:0;top:0;width:100%;background:#fff"  # CSS: over the PNG of `over_png`
STYLE: Any = {
    "font.family": FONT,
    "hatch.linewidth": 0.7,
    "svg.fonttype": "path",
    "svg.hashsalt": "jaxenv",  # the same picture is the same bytes
}


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Picture:
    """A state or an episode, ready to be shown: `print` writes its text, a notebook shows the drawing.

    Drawing needs matplotlib (the extra `viz`) but no display; the text needs neither.

    Attributes:
        text: the same facts as lines of plain text.
        draw: draws on a canvas of `size`.
        size: width and height in points, 72 to the inch.

    Examples:
        >>> print(Picture("a text", draw=lambda canvas: canvas.text(10, 10, "a text")))
        a text
    """

    text: str
    draw: Callable[[Canvas], None]
    size: tuple[float, float] = PAGE

    def figure(self) -> "Figure":
        """A new figure, independent of windows and of `pyplot`."""
        figure = blank_figure(self.size)
        self.draw_on(figure)
        return figure

    def draw_on(self, figure: "Figure") -> None:
        """Replaces the content of a figure."""
        shapes = optional("jaxenv.rendering.figure", "a picture", extra="viz")
        with _style():
            figure.clear()
            shapes.draw_on(figure, self.drawn())

    def drawn(self) -> Canvas:
        """A new canvas with the drawing.

        Raises:
            ImportError: if matplotlib is missing, which measures the width of texts.
        """
        optional("matplotlib", "a picture", extra="viz")
        canvas = Canvas(*self.size)
        self.draw(canvas)
        return canvas

    def svg(self) -> bytes:
        """The drawing as an SVG document, with text as outlines."""
        return self._encoded("svg", metadata={"Date": None})

    def png(self, dpi: int = DOTS_PER_INCH) -> bytes:
        """The drawing as a PNG file of `dpi` dots per inch."""
        return self._encoded("png", dpi=dpi)

    def pixels(self, dpi: int = DOTS_PER_INCH) -> np.ndarray:
        """The drawing as [height, width, 3] uint8, red, green and blue."""
        figure: Any = self.figure()
        figure.set_dpi(dpi)
        with _style():
            figure.canvas.draw()
        return np.array(figure.canvas.buffer_rgba())[..., :3]

    def save(self, path: str | Path) -> None:
        """Writes the drawing to a `.svg` or `.png` file, or the text to a `.txt` file.

        Raises:
            ValueError: for any other suffix.
        """
        path = Path(path)
        writers = {".svg": self.svg, ".png": self.png, ".txt": lambda: f"{self.text}\n".encode()}
        if path.suffix not in writers:
            raise ValueError(f"{path}: a picture is saved as {', '.join(writers)}, got the suffix {path.suffix!r}")
        path.write_bytes(writers[path.suffix]())

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Picture: {self.text.partition(chr(10))[0]}>"

    def _repr_html_(self) -> str:
        """For notebooks: the drawing with text as text, or the text alone if matplotlib is not installed."""
        try:
            drawn = "".join(svg.elements(self.drawn()))
            return over_png(self, f"<svg {svg.root(self.size)} style='{COVERING}'>{drawn}</svg>")
        except ImportError:
            return f"<pre>{html.escape(self.text)}</pre>"

    def _encoded(self, format: str, **options: Any) -> bytes:
        figure, buffer = self.figure(), io.BytesIO()
        with _style():
            figure.savefig(buffer, format=format, **options)
        return buffer.getvalue()


def over_png(picture: Picture, shown: str, style: str = "") -> str:
    """HTML that covers a PNG of the picture, which is left where SVG, frames and styles are dropped, as on GitHub."""
    png = base64.b64encode(_png_of_256_colors(picture, dpi=round(72 * WIDTH / picture.size[0]))).decode()
    words = html.escape(repr(picture))
    image = f"<img src='data:image/png;base64,{png}' alt='{words}' style='display:block;width:100%'/>"
    return f"<div style='position:relative;width:100%;max-width:{WIDTH}px;{style}'>{image}{shown}</div>"


def _png_of_256_colors(picture: Picture, dpi: int) -> bytes:
    """A quarter of the bytes that `Picture.png` takes, so that notebooks stay small."""
    pixels, buffer = picture.pixels(dpi), io.BytesIO()
    from PIL import Image  # matplotlib needs it too

    Image.fromarray(pixels).quantize().save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def blank_figure(size: tuple[float, float]) -> "Figure":
    """A white figure of a size in points, drawn by Agg.

    Raises:
        ImportError: if matplotlib is missing; the message says how to install it.
    """
    optional("matplotlib", "a picture", extra="viz")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(size[0] / 72, size[1] / 72), dpi=DOTS_PER_INCH, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def _style() -> AbstractContextManager[None]:
    """Matplotlib's settings for the pictures; the caller's are restored afterwards."""
    import matplotlib.style

    return matplotlib.style.context(STYLE, after_reset=True)
