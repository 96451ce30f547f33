"""Documents as readable YAML, with a line for each row of a table."""

import re
from collections.abc import Iterable
from typing import Any

import yaml

from scenarios.text.nodes import add_plain_words
from scenarios.text.records import Record

LINE_BREAKS = frozenset("\n\r\x85\u2028\u2029")
CLOCK_LIKE = re.compile(r"[0-9]+(:[0-9]{1,2})+")  # such as 14:10, to YAML 1.1 a number to base 60, and 0:30, to it text
LAYOUT: Any = {"sort_keys": False, "allow_unicode": True, "width": 10**6}  # so wide that no row is folded


def dump(documents: Record | Iterable[Record]) -> str:
    """YAML of one document, or of several with `---` between them; reading it gives equal documents.

    Fields that are empty by default are left out.

    >>> import scenarios
    >>> (day,) = scenarios.load("lifeops/easy_2").documents
    >>> print(scenarios.dump(day).splitlines()[1])
    scenario_id: easy_2
    """
    several = [documents] if isinstance(documents, Record) else documents
    return "---\n".join(_document(document) for document in several)


def _document(document: Record) -> str:
    """One document, with an empty line before each table."""
    text = ""
    for field, value in document.plain().items():
        is_nested = isinstance(value, list | dict)
        text += "\n" if is_nested and not _is_row(value) else ""
        style = None if is_nested else False  # None: the innermost lists and mappings are rows, each on one line
        text += yaml.dump({field: value}, Dumper=_Dumper, default_flow_style=style, **LAYOUT)
    return text


def _is_row(value: list | dict) -> bool:
    """Whether a list or mapping has nothing nested in it."""
    items = value.values() if isinstance(value, dict) else value
    return not any(isinstance(item, list | dict) for item in items)


class _Dumper(yaml.SafeDumper):
    """Indents the items of a list, and knows the words that would not be read as text."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, indentless=False)

    def ignore_aliases(self, data: Any) -> bool:
        """Writes equal rows in full, without anchors."""
        return True

    def choose_scalar_style(self) -> str:
        """Text with a line break gets escapes, so that it stays on its line; times are all in the same quotes."""
        scalar: Any = self.event
        text = scalar.value
        return '"' if LINE_BREAKS & set(text) or CLOCK_LIKE.fullmatch(text) else super().choose_scalar_style()


add_plain_words(_Dumper)
