"""A self-contained web page of an episode: play, pause, step and scrub; nothing is loaded from elsewhere."""

import html
import json
import re
from collections.abc import Sequence
from pathlib import Path

from jaxenv.rendering import svg
from jaxenv.rendering.page import ENDS
from jaxenv.rendering.picture import COVERING, WIDTH, Picture, over_png
from jaxenv.rendering.text import signed
from jaxenv.rendering.view import Step

TEMPLATE = Path(__file__).with_name("player.html")
CONTROLS = 75  # pixels, the height of the controls under the picture
NO_STEP = Step(action=None, description="", reward=0.0, parts={}, total=0.0)  # before the first picture


def document(title: str, pictures: Sequence[Picture], steps: Sequence[tuple[int, Step | None]], fps: float) -> str:
    """An HTML page that plays pictures.

    Most elements of a picture are those of the one before, so each is stored once and a picture is a list of numbers.

    Args:
        title: of the page.
        pictures: of one size.
        steps: for each its number and the step that led to it, None for the first state of an episode.
        fps: pictures a second.
    """
    numbers: dict[str, int] = {}
    frames = []
    for picture, (number, step) in zip(pictures, steps, strict=True):
        drawn = [numbers.setdefault(element, len(numbers)) for element in svg.elements(picture.drawn())]
        frames.append({"drawn": drawn, "step": number, **_in_words(step or NO_STEP)})
    episode = json.dumps({"elements": list(numbers), "frames": frames, "fps": fps}, separators=(",", ":"))
    values = {
        "title": html.escape(title),
        "root": svg.root(pictures[0].size),
        "episode": episode.replace("</", "<\\/").replace("<!--", "\\u003c!--"),  # nothing in it ends the script
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda name: values[name[1]], TEMPLATE.read_text("utf-8"))


def inline(page: str, title: str, overview: Picture) -> str:
    """A page inside another one, such as a notebook, which its scripts and styles cannot touch.

    Args:
        page: an HTML document.
        title: for readers who do not see it.
        overview: the fallback where frames are dropped, of the size of its pictures.
    """
    content = page.replace("&", "&amp;").replace('"', "&quot;")
    width, height = overview.size
    return over_png(
        overview,
        f'<iframe srcdoc="{content}" title="{html.escape(title)}" sandbox="allow-scripts" '
        f'style="{COVERING};height:100%;border:1px solid #dde2e6;border-radius:6px;box-sizing:border-box"></iframe>',
        style=f"aspect-ratio:{WIDTH}/{round(WIDTH * height / width) + CONTROLS}",
    )


def _in_words(step: Step) -> dict[str, str | float]:
    """The player's description of a step."""
    reward, total = signed(step.reward), signed(step.total)
    words = {"action": step.description, "says": reward, "total": total, "end": ENDS[step.end]}
    return {**words, "reward": round(step.reward, 4)}
