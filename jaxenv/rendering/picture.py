"""A picture: one moment, or several side by side, as text, as a matplotlib figure, as SVG and as PNG."""

import contextlib
import dataclasses
import html
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxenv.rendering.canvas import PAGE, Canvas
from jaxenv.rendering.glyphs import FONT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOTS_PER_INCH = 144
STYLE: Any = {
    "font.family": FONT,
    "hatch.linewidth": 0.7,
    "svg.fonttype": "path",
    "svg.hashsalt": "jaxenv",  # the same picture is the same bytes
}


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Picture:
    """A value that shows itself: `print` writes its text, a notebook its drawing.

    Drawing needs matplotlib (`pip install 'jaxenv[viz]'`) and no display; the text needs nothing.

    Attributes:
        text: the same facts as lines of plain text.
        draw: puts the drawing on a canvas of `size`.
        size: width and height in points, 72 to the inch.
    """

    text: str
    draw: Callable[[Canvas], None]
    size: tuple[float, float] = PAGE

    def figure(self) -> "Figure":
        """A new figure that belongs to no window and to no `pyplot`."""
        figure = blank_figure(self.size)
        self.draw_on(figure)
        return figure

    def draw_on(self, figure: "Figure") -> None:
        """Replaces what is on a figure."""
        with _style():
            figure.clear()
            self.draw(Canvas(figure, 0.0, 0.0, *self.size))

    def svg(self) -> bytes:
        """The drawing as an SVG document; text is drawn as outlines."""
        return self._encoded("svg", metadata={"Date": None})

    def png(self, dpi: int = DOTS_PER_INCH) -> bytes:
        """The drawing as a PNG file of `dpi` dots per inch."""
        return self._encoded("png", dpi=dpi)

    def save(self, path: str | Path) -> None:
        """Writes the drawing as the suffix says, or the text for `.txt`.

        Raises:
            ValueError: for another suffix.
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
        """For notebooks: the drawing, or the text where matplotlib is not installed."""
        try:
            document = self.svg().decode()
        except ImportError:
            return f"<pre>{html.escape(self.text)}</pre>"
        return document[document.index("<svg") :]

    def _encoded(self, format: str, **options: Any) -> bytes:
        figure, buffer = self.figure(), io.BytesIO()
        with _style():
            figure.savefig(buffer, format=format, **options)
        return buffer.getvalue()


def blank_figure(size: tuple[float, float]) -> "Figure":
    """A white figure of a size in points, drawn by Agg.

    Raises:
        ImportError: where matplotlib is missing; the message says how to get it.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("pictures are drawn by matplotlib: pip install 'jaxenv[viz]'") from error
    figure = Figure(figsize=(size[0] / 72, size[1] / 72), dpi=DOTS_PER_INCH, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


@contextlib.contextmanager
def _style() -> Iterator[None]:
    """Matplotlib's settings for our pictures, whatever the caller's are, and the caller's again afterwards."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield
