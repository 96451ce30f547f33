"""Text in the characters that the font has, and on lines that fit."""

import xml.etree.ElementTree

import pytest

from jaxenv.rendering import theme
from jaxenv.rendering.picture import Picture
from jaxenv.rendering.theme import drawable, fitting, text_width, wrap


@pytest.mark.parametrize(
    ("words", "drawn"),
    [
        ("plain", "plain"),
        ("Inês · “ja” → ✓", "Inês · “ja” → ✓"),
        ("👍 ❤️ 🎉", ":+1: :heart: :tada:"),
        ("🐘!", ":elephant:!"),
        ("👍🏽", ":+1:"),
        ("机", "\ufffd"),
    ],
)
def test_an_emoji_is_drawn_as_its_name(words, drawn):
    assert drawable(words) == drawn


def test_words_are_wrapped():
    words = "Does anybody remember why this button is orange and not green?"
    lines = wrap(words, 120.0, 8.0, 5)
    assert " ".join(lines) == words
    assert len(lines) > 1
    assert all(text_width(line, 8.0) <= 120 for line in lines)
    assert wrap(words, 120.0, 8.0, 2)[1].endswith("…")
    assert wrap("short", 120.0, 8.0, 5) == ["short"]
    assert wrap("", 120.0, 8.0, 5) == []
    assert wrap("w" * 200, 60.0, 8.0, 3)[0].endswith("…")


WORDS = ["Escalation with the customer", "w" * 90, "i l " * 40, "a, b · c, d " * 20, "AVAVA Ty Ta 111 " * 9, ""]


@pytest.mark.parametrize("width", [0.0, 5.0, 31.5, 120.0, 300.0])
@pytest.mark.parametrize("words", WORDS)
def test_a_cut_line_is_as_long_as_fits(words, width):
    words = " ".join(words.split())
    found = fitting(words, width, 8.0)
    cuts = [words[:length].rstrip(" ·,") + "…" for length in range(len(words) - 1, 1, -1)]
    lines = [words, *cuts]
    assert found == next((line for line in lines if text_width(line, 8.0) <= width), "")


def test_a_long_line_is_cut_without_measuring_all_of_it(monkeypatch):
    measured = []
    monkeypatch.setattr(theme, "text_width", lambda words, *_: measured.append(len(words)) or text_width(words, 8.0))
    assert fitting("a title of many words " * 10_000, 300.0, 8.0).endswith("…")
    assert len(wrap("w " * 100_000, 300.0, 8.0, 3)) == 3
    assert sum(measured) < 20_000


@pytest.mark.parametrize("sign", ["\0", "\x1b", "\x7f", "\ufffe", "\ud800"])
def test_what_no_document_of_xml_holds_is_replaced(sign):
    assert drawable(f"lunch{sign}") == drawable(f"lunch{sign}é")[:-1] == "lunch\ufffd"
    svg = Picture("", draw=lambda canvas: canvas.text(10, 10, f"a{sign}b -->")).svg()
    assert "a\ufffdb" in svg.decode()
    xml.etree.ElementTree.fromstring(svg)


def test_what_is_drawn_later_covers_what_lies_under_it():
    def draw(canvas):
        canvas.text(5, 10, "words")
        canvas.box(0, 0, 60, 20, fill="#336699")

    pixels = Picture("", draw, (60, 20)).pixels()
    assert {tuple(pixel) for pixel in pixels[5:-5, 5:-5].reshape(-1, 3)} == {(0x33, 0x66, 0x99)}
