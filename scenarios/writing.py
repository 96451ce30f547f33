"""Documents as readable YAML, with a line for each row of a table."""

import re
from collections.abc import Iterable
from typing import Any

import yaml

from scenarios.text.nodes import add_plain_words
from scenarios.text.records import Record

LINE_BREAKS = frozenset("\n\r\x85\u2028\u2029")
CLOCK_LIKE = re.compile(r"[0-9]+(:[0-9]{1,2})+")  # such as 14:10, to YAML 1.1 a number to base 60, and 0:30, to it text
MAX_WIDTH = 10**6  # characters per line, so that rows are not folded


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
        is_table = isinstance(value, list | dict) and not _is_row(value)
        rows = _mark_rows(value)
        text += "\n" if is_table else ""
        text += yaml.dump({field: rows}, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=MAX_WIDTH)
    return text


def _is_row(value: list | dict) -> bool:
    """Whether a list or mapping has nothing nested in it."""
    items = value.values() if isinstance(value, dict) else value
    return not any(isinstance(item, list | dict) for item in items)


def _mark_rows(value: Any) -> Any:
    """The value with its innermost lists and mappings marked as rows."""
    if isinstance(value, dict):
        inner = {key: _mark_rows(item) for key, item in value.items()}
        return _RowMapping(inner) if _is_row(value) else inner
    if isinstance(value, list):
        return _RowList(value) if _is_row(value) else [_mark_rows(item) for item in value]
    return value


class _RowMapping(dict):
    """A mapping on one line."""


class _RowList(list):
    """A list on one line."""


class _Dumper(yaml.SafeDumper):
    """Indents the items of a list; writes rows on one line."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, indentless=False)

    def ignore_aliases(self, data: Any) -> bool:
        """Writes equal rows in full, without anchors."""
        return True


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    """Text; with escapes if it contains a line break, so that it stays on its line; times all in the same quotes."""
    style = '"' if LINE_BREAKS & set(text) or CLOCK_LIKE.fullmatch(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


add_plain_words(_Dumper)
_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(
    _RowMapping, lambda dumper, row: dumper.represent_mapping("tag:yaml.org,2002:map", row, flow_style=True)
)
_Dumper.add_representer(
    _RowList, lambda dumper, row: dumper.represent_sequence("tag:yaml.org,2002:seq", row, flow_style=True)
)
