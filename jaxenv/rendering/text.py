"""Plain text: clocks, signed numbers, columns and sections, the same in every picture."""

from collections.abc import Iterable, Sequence


def clock(minutes: int) -> str:
    """Minutes after midnight as on a clock.

    >>> clock(545), clock(1440)
    ('9:05', '24:00')
    """
    return f"{minutes // 60}:{minutes % 60:02}"


def number(value: float, format: str = ".2f") -> str:
    """A number with a typographic minus: `−0.25`, and with format `+.1f` also `+1.5`."""
    return f"{value:{format}}".replace("-", "−")


def signed(value: float) -> str:
    """A reward with its sign: `+1.50`, `−2.00`, `0.00`."""
    return number(value, "+.2f") if round(value, 2) else "0.00"


def spaced(name: str) -> str:
    """A field's name for people: `overlap_penalty` as `overlap penalty`."""
    return name.replace("_", " ")


def joined(*parts: str) -> str:
    """The parts that are not empty, with dots between them."""
    return " · ".join(filter(None, parts))


def bar(part: int, whole: int, length: int) -> str:
    """A share as a bar of so many characters; rounded up, so a bar is empty for a share of 0 alone.

    >>> bar(1, 8, 5)
    '█░░░░'
    """
    full = -(-length * part // whole)
    return "█" * full + "░" * (length - full)


def table(rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows with aligned columns; a column of empty cells is left out."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True) if width) for row in rows)
    return [line.rstrip() for line in lines]


def sections(parts: dict[str, list[str]]) -> list[str]:
    """Headings with their lines indented under them."""
    return [line for heading, lines in parts.items() for line in (heading, *(f"  {line}" for line in lines))]
