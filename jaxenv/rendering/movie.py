"""Pictures one after the other in a file: an animated GIF, or MP4 where ffmpeg is present."""

import importlib.util
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jaxenv.host.companions import optional
from jaxenv.rendering.picture import Picture, blank_figure

DOTS_PER_INCH = 100
SMOOTH = "24"  # frames a second of an MP4, where pictures are repeated: players stumble over fewer than one


def gif(path: Path, pictures: Sequence[Picture], fps: float) -> None:
    """Writes an animated GIF that starts again at its end."""
    animation = optional("matplotlib.animation", "a picture", extra="viz")
    _write(animation.PillowWriter(fps=fps), path, pictures)


def mp4(path: Path, pictures: Sequence[Picture], fps: float) -> None:
    """Writes an MP4 with ffmpeg.

    Raises:
        FileNotFoundError: if there is no ffmpeg; the message says how to install it.
    """
    program = ffmpeg()
    animation = optional("matplotlib.animation", "a picture", extra="viz")
    import matplotlib

    with matplotlib.rc_context({"animation.ffmpeg_path": program}):
        options = {"codec": "h264", "extra_args": ["-r", SMOOTH, "-pix_fmt", "yuv420p"]}
        _write(animation.FFMpegWriter(fps=fps, **options), path, pictures)


def ffmpeg() -> str:
    """The program: the one on the path, or that of the package imageio-ffmpeg.

    Raises:
        FileNotFoundError: if there is none.
    """
    found = shutil.which("ffmpeg")
    if found is None and importlib.util.find_spec("imageio_ffmpeg") is not None:
        found = optional("imageio_ffmpeg", "an MP4").get_ffmpeg_exe()
    if found is None:
        raise FileNotFoundError("an MP4 needs ffmpeg: pip install imageio-ffmpeg, or save as .gif or .html")
    return found


def _write(writer: Any, path: Path, pictures: Sequence[Picture]) -> None:
    """Draws the pictures on one figure, each a frame."""
    figure = blank_figure(pictures[0].size)
    with writer.saving(figure, str(path), DOTS_PER_INCH):
        for picture in pictures:
            picture.draw_on(figure)
            writer.grab_frame()
