"""YAML as nodes.

Plain words mean the same as in YAML 1.2 and JSON: `true`, `null`, decimal numbers; everything else is text, so that
`No`, `0540`, `9:30` and `2020-01-01` do not silently turn into something else. Tags are refused.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml
from yaml.scanner import ScannerError

from scenarios.text.errors import named
from scenarios.text.input_budget import Budget, RefusedInput, number, scalar
from scenarios.text.nodes import Key, Node, Table

PLAIN_WORDS = {  # kind -> its form, and its first characters
    "null": (r"(null|~|)$", [*"n~", ""]),
    "bool": (r"(true|false)$", [*"tf"]),
    "int": (r"[-+]?(0|[1-9][0-9]*)$", [*"-+0123456789"]),
    "float": (
        r"[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$",
        [*"-+.0123456789"],
    ),
}
MEANINGS: dict[str, Callable[[str], Any]] = {
    "null": lambda word: None,
    "bool": lambda word: word == "true",
    "int": number,
    "float": number,
}
YAML_TAGS = "tag:yaml.org,2002:"


def add_plain_words(resolver: Any) -> None:
    """Makes a dumper quote text that looks like one of `PLAIN_WORDS`."""
    for kind, (pattern, first) in PLAIN_WORDS.items():
        resolver.add_implicit_resolver(YAML_TAGS + kind, re.compile(pattern), first)


_WORDS = [(re.compile(pattern), MEANINGS[kind], "".join(first)) for kind, (pattern, first) in PLAIN_WORDS.items()]


def yaml_nodes(text: str, budget: Budget) -> Iterator[Node]:
    """The node of each YAML document that is not empty.

    Raises:
        yaml.YAMLError: if the text is not YAML.
        RefusedInput: for tags, and where the budget is spent.
    """
    composer = _Composer(text, budget)
    while (event := composer.next()) is not None:
        if isinstance(event, yaml.DocumentStartEvent):
            composer.anchors, first = {}, composer.next()
            node = composer.node(first, 0)
            if not (isinstance(first, yaml.ScalarEvent) and first.value == ""):
                yield node


class _Parser(yaml.SafeLoader):
    """The parser of events, with a sentence also for the numbers that it computes without a bound."""

    def scan_flow_scalar_non_spaces(self, double: bool, start_mark: Any) -> Any:
        """A part of a text in quotes, whose escapes are characters."""
        try:
            return super().scan_flow_scalar_non_spaces(double, start_mark)
        except (ValueError, OverflowError):  # of chr, after the two characters that begin an escape
            problem = f"found \\U{self.prefix(8)}, expected a character, of which the last is \\U0010FFFF"
            raise ScannerError(None, start_mark, problem, self.get_mark()) from None

    def scan_yaml_directive_number(self, start_mark: Any) -> Any:
        """A number of a version, as in `%YAML 1.2`."""
        try:
            return super().scan_yaml_directive_number(start_mark)
        except ValueError:  # of int
            problem = "found a version of thousands of digits, expected one such as 1.2"
            raise ScannerError(None, start_mark, problem, self.get_mark()) from None


class _Composer:
    """Puts the events of a parser together; the parser keeps no stack, so that depth is counted here."""

    def __init__(self, text: str, budget: Budget) -> None:
        self._events = _Parser(text)
        self._budget = budget
        self.anchors: dict[str, Node] = {}

    def next(self) -> Any:
        """The next event, None at the end."""
        event: Any = self._events.get_event() if self._events.check_event() else None
        if event is not None:
            self._budget.line = event.start_mark.line + 1
        return event

    def node(self, event: Any, depth: int) -> Node:
        """The node that begins with an event."""
        self._budget.descend(depth)
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                raise RefusedInput(f"not YAML: found undefined alias {named(event.anchor)}.")
            return self.anchors[event.anchor]
        if event.tag is not None:
            tag = event.tag.replace(YAML_TAGS, "!!", 1)
            raise RefusedInput(
                f"not YAML as scenarios use it: found the tag {named(tag)}, expected none: leave it out."
            )
        if isinstance(event, yaml.ScalarEvent):
            return self._anchored(event, Node(_scalar(event), self._budget.line))
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Node] = []
            node = self._anchored(event, Node(items, self._budget.line))
            self._fill_list(items, depth)
            return node
        table = Table()
        node = self._anchored(event, Node(table, self._budget.line))
        self._fill_table(table, depth)
        return node

    def _anchored(self, event: Any, node: Node) -> Node:
        """The node, which an anchor may name."""
        if event.anchor in self.anchors:
            raise RefusedInput(f"not YAML: found duplicate anchor {named(event.anchor)}.")
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node

    def _fill_list(self, items: list[Node], depth: int) -> None:
        """Reads the items of a list, which an alias among them may stand for."""
        while not isinstance(event := self.next(), yaml.SequenceEndEvent):
            items.append(self.node(event, depth + 1))

    def _fill_table(self, table: Table, depth: int) -> None:
        """Reads the keys and nodes of a mapping, which an alias among them may stand for."""
        while not isinstance(event := self.next(), yaml.MappingEndEvent):
            line = self._budget.line
            key = Key(self.node(event, depth + 1).value, line)
            table.append((key, self.node(self.next(), depth + 1)))


def _scalar(event: yaml.ScalarEvent) -> Any:
    """The value of a plain word, or text."""
    word = event.value
    if event.implicit[0]:
        for pattern, meaning, first in _WORDS:
            if word[:1] in first and pattern.match(word):
                return meaning(word)
    if word.isascii():
        return word
    try:  # two escapes, as JSON has them, may be the halves of one character
        return word.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return scalar(word)


def syntax_problem(text: str, error: yaml.YAMLError) -> tuple[int, str]:
    """The line and the message of YAML about a text that it cannot read; it points out a tab that indents."""
    line, message = 1, str(error)
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        line, message = error.problem_mark.line + 1, str(error.problem)
    elif isinstance(error, yaml.reader.ReaderError):
        position = error.position if isinstance(error.position, int) else 0
        line, message = text.count("\n", 0, position) + 1, f"{error.reason} ({error.character!r})"
    for place, content in enumerate(text.splitlines()[:line], 1):
        if "\t" in content[: len(content) - len(content.lstrip())]:
            return place, "not YAML: a tab indents the line, expected spaces."
    return line, f"not YAML: {' '.join(message.split())}."
