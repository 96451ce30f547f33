"""Text in the characters that the font has, and on lines that fit."""

import pytest

from jaxenv.rendering.theme import drawable, text_width, wrapped


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
    lines = wrapped(words, 120.0, 8.0, 5)
    assert " ".join(lines) == words
    assert len(lines) > 1
    assert all(text_width(line, 8.0) <= 120 for line in lines)
    assert wrapped(words, 120.0, 8.0, 2)[1].endswith("…")
    assert wrapped("short", 120.0, 8.0, 5) == ["short"]
    assert wrapped("", 120.0, 8.0, 5) == []
    assert wrapped("w" * 200, 60.0, 8.0, 3)[0].endswith("…")
