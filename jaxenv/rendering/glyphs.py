"""What the font of the pictures can draw; an emoji that it lacks is written as its name, such as `:tada:`."""

import functools
import unicodedata

SHORT = {
    "👍": "+1",
    "❤": "heart",
    "😂": "joy",
    "😮": "open_mouth",
    "😢": "cry",
    "🎉": "tada",
    "🙏": "pray",
    "👀": "eyes",
    "🤖": "robot",
}
"""Emoji -> the name that chats know it by; of others it is the name of the character."""

FONT = "DejaVu Sans"  # comes with matplotlib, so a picture looks the same everywhere
JOINERS = "\ufe0e\ufe0f\u200d"  # ask for an emoji in colour, or make one of several
UNKNOWN = "\ufffd"
WEIGHTS = ("normal", "bold")


@functools.lru_cache(maxsize=4096)
def drawable(words: str) -> str:
    """The words in characters that the font has."""
    return words if words.isascii() else "".join(map(_drawable, words))


def _drawable(sign: str) -> str:
    """One character, its name, or nothing for one that only changes the look of its neighbours."""
    if sign in SHORT:
        return f":{SHORT[sign]}:"
    if sign in JOINERS:
        return ""
    if all(_has(sign, weight) for weight in WEIGHTS):
        return sign
    kind = unicodedata.category(sign)
    if kind in ("Cf", "Mn", "Sk"):
        return ""
    return f":{unicodedata.name(sign).lower().replace(' ', '_')}:" if kind == "So" else UNKNOWN


@functools.cache
def _has(sign: str, weight: str) -> bool:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    font = get_font(findfont(FontProperties(family=FONT, weight=weight)))
    return font.get_char_index(ord(sign)) != 0
