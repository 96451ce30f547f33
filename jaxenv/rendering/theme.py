"""The colors and the font of every picture: its characters, and the width, cutting and wrapping of lines."""

import bisect
import functools
import unicodedata

INK, MUTED, FAINT, WASH, PAPER = "#1f2933", "#6b7780", "#dde2e6", "#f3f5f6", "#ffffff"
ALARM = "#c1121f"
# Distinct for color-blind readers too: Wong, "Points of view: Color blindness", Nature Methods 8, 441 (2011).
BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#e69f00", "#009e73", "#aa5a8c"

SHORT_NAMES = ("+1", "heart", "joy", "open_mouth", "cry", "tada", "pray", "eyes", "robot")
SHORT = dict(zip("👍❤😂😮😢🎉🙏👀🤖", SHORT_NAMES, strict=True))
"""Emoji -> its usual short name, drawn as `:tada:`; other emoji are drawn as the Unicode names of their characters."""

FONT = "DejaVu Sans"  # comes with matplotlib, so a picture looks the same everywhere
JOINERS = "\ufe0e\ufe0f\u200d"  # ask for an emoji in color, or make one of several
MISSING = "\ufffd"
WEIGHTS = ("normal", "bold")


def tint(color: str, share: float) -> str:
    """A color `#rrggbb` mixed with white; `share`, in [0, 1], is how much of the color is left."""
    mixed = (round(255 + share * (int(color[n : n + 2], 16) - 255)) for n in (1, 3, 5))
    return "#" + "".join(f"{part:02x}" for part in mixed)


CONTROLS = dict.fromkeys((*range(32), 127), MISSING)
"""Characters that neither a font nor an XML document has, such as NUL."""


@functools.lru_cache(maxsize=4096)
def drawable(words: str) -> str:
    """The words in characters that the font has; an emoji that it lacks becomes its name.

    >>> drawable("lunch 🐘")
    'lunch :elephant:'
    """
    words = words.translate(CONTROLS)
    return words if words.isascii() else "".join(map(_drawable, words))


def _drawable(sign: str) -> str:
    """One character, its name, or nothing for one that only modifies its neighbors."""
    if sign in SHORT:
        return f":{SHORT[sign]}:"
    if sign in JOINERS:
        return ""
    if sign == MISSING or all(_has(sign, weight) for weight in WEIGHTS):
        return sign
    kind = unicodedata.category(sign)
    if kind in ("Cf", "Mn", "Sk"):
        return ""
    return f":{unicodedata.name(sign).lower().replace(' ', '_')}:" if kind == "So" else MISSING


@functools.cache
def _has(sign: str, weight: str) -> bool:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    font = get_font(findfont(FontProperties(family=FONT, weight=weight)))
    return font.get_char_index(ord(sign)) != 0


def fitting(words: str, width: float | None, size: float, bold: bool = False) -> str:
    """The words on one line, cut with an ellipsis if they are wider than `width` points."""
    words = drawable(" ".join(words.split()))
    if width is None or _fits(words, width, size, bold):
        return words
    lengths = range(2, min(len(words), _most_characters(width, size)))
    number = bisect.bisect_left(lengths, True, key=lambda length: not _fits(_cut(words, length), width, size, bold))
    return _cut(words, lengths[number - 1]) if number else ""


def wrap(words: str, width: float, size: float, most: int) -> list[str]:
    """The words on at most `most` lines, each at most `width` points wide."""
    rest, lines = drawable(" ".join(words.split())).split(), []
    while rest and len(lines) < most - 1:
        numbers = range(2, min(len(rest), _most_characters(width, size)) + 1)
        number = 1 + bisect.bisect_left(
            numbers, True, key=lambda number, rest=rest: not _fits(" ".join(rest[:number]), width, size)
        )
        lines.append(fitting(" ".join(rest[:number]), width, size))
        rest = rest[number:]
    return [*lines, fitting(" ".join(rest), width, size)] if rest else lines


def _cut(words: str, length: int) -> str:
    """The first characters and an ellipsis."""
    return words[:length].rstrip(" ·,") + "…"


def _fits(words: str, width: float, size: float, bold: bool = False) -> bool:
    """Whether a line is at most `width` points wide; one of too many characters is not measured."""
    return len(words) <= _most_characters(width, size) and text_width(words, size, bold) <= width


def _most_characters(width: float, size: float) -> int:
    """More characters than fit into a width: none of letters is narrower than an eighth of the size."""
    return 2 + int(8 * max(width, 0.0) / size)


@functools.lru_cache(maxsize=4096)
def text_width(words: str, size: float, bold: bool = False) -> float:
    """The width of a line of text, points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size, weight="bold" if bold else "normal")
    return text_to_path.get_text_width_height_descent(drawable(words), font, False)[0]
