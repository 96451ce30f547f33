"""The colors and the font of every picture: what the font can draw, and how wide, cut or wrapped a line is."""

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


@functools.lru_cache(maxsize=4096)
def drawable(words: str) -> str:
    """The words in characters that the font has; an emoji that it lacks becomes its name."""
    return words if words.isascii() else "".join(map(_drawable, words))


def _drawable(sign: str) -> str:
    """One character, its name, or nothing for one that only modifies its neighbors."""
    if sign in SHORT:
        return f":{SHORT[sign]}:"
    if sign in JOINERS:
        return ""
    if all(_has(sign, weight) for weight in WEIGHTS):
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
    if width is None or text_width(words, size, bold) <= width:
        return words
    for length in range(len(words) - 1, 1, -1):
        cut = words[:length].rstrip(" ·,") + "…"
        if text_width(cut, size, bold) <= width:
            return cut
    return ""


def wrapped(words: str, width: float, size: float, most: int) -> list[str]:
    """The words on at most `most` lines, each at most `width` points wide."""
    rest, lines = drawable(" ".join(words.split())).split(), []
    while rest and len(lines) < most - 1:
        number = next((n for n in range(len(rest), 1, -1) if text_width(" ".join(rest[:n]), size) <= width), 1)
        lines.append(fitting(" ".join(rest[:number]), width, size))
        rest = rest[number:]
    return [*lines, fitting(" ".join(rest), width, size)] if rest else lines


@functools.lru_cache(maxsize=4096)
def text_width(words: str, size: float, bold: bool = False) -> float:
    """The width of a line of text, points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size, weight="bold" if bold else "normal")
    return text_to_path.get_text_width_height_descent(drawable(words), font, False)[0]
