"""Plain text in columns."""

from collections.abc import Iterable, Sequence


def table(rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows with their columns aligned; a column of nothing is left out."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True) if width) for row in rows)
    return [line.rstrip() for line in lines]


def sections(parts: dict[str, list[str]]) -> list[str]:
    """Headings with their lines indented under them."""
    return [line for heading, lines in parts.items() for line in (heading, *(f"  {line}" for line in lines))]
