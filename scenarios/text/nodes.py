"""YAML and JSON as nodes: the values that a parser found, each with its line, before aliases are resolved.

Plain words of YAML mean the same as in YAML 1.2 and JSON: `true`, `null`, decimal numbers; everything else is text, so
that `No`, `0540`, `9:30` and `2020-01-01` do not silently turn into something else. Tags are refused.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import yaml
from yaml.scanner import ScannerError

from scenarios.text.errors import Path, named, quote
from scenarios.text.input_budget import MAX_DEPTH, TOO_DEEP, Budget, RefusedInput, number, scalar


class Node(NamedTuple):
    """A text, number, truth value or null, or a list of nodes, or a table of keys and nodes."""

    value: "Any | list[Node] | Table"
    line: int  # from 1


class Table(list[tuple[Node, Node]]):
    """The keys, which may be repeated, and the nodes of a mapping in their order."""


def value_of(node: Node, budget: Budget) -> tuple[Any, Mapping[Path, int]]:
    """The value of a document, and the lines of its parts.

    Raises:
        RefusedInput: where a key is repeated or not text, and where the budget is spent.
    """
    lines: dict[Path, int] = {}
    return _value(node, (), lines, budget), lines


def _value(node: Node, path: Path, lines: dict[Path, int], budget: Budget) -> Any:
    """The value of the node at a path; notes the lines of its keys and items."""
    budget.line = node.line
    lines.setdefault(path, node.line)
    value = node.value
    budget.spend(len(path), value)
    if isinstance(value, Table):
        return _mapping(value, path, lines, budget)
    if isinstance(value, list):
        return [_value(item, (*path, number), lines, budget) for number, item in enumerate(value)]
    return value


def _mapping(table: Table, path: Path, lines: dict[Path, int], budget: Budget) -> dict[str, Any]:
    """A mapping whose keys are text and unique."""
    mapping: dict[str, Any] = {}
    for key, node in table:
        name, budget.line = key
        if not isinstance(name, str):
            found = "a list or mapping" if isinstance(name, list) else quote(name)
            raise RefusedInput(f"found {found} as a key, expected text: put it in quotes.")
        if name in mapping:
            before = lines[(*path, name)]
            raise RefusedInput(f"the key {named(name)} is repeated, first in line {before}.")
        lines[(*path, name)] = budget.line
        mapping[name] = _value(node, (*path, name), lines, budget)
    return mapping


TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]|[^ \t\n\r,:\[\]{}"]++', re.DOTALL)
"""A string, a bracket or a word; a string without an end reaches to the end of the text."""


class _Number(str):
    """A number as it is written, or NaN or Infinity."""


class _Pairs(list[tuple[str, Any]]):
    """The keys and values of a mapping, in which a key may be repeated."""


def json_nodes(text: str, budget: Budget) -> Iterator[Node]:
    """The node of the document, or nothing for an empty text.

    Raises:
        RefusedInput: if the text is not JSON, or the budget is spent.
    """
    if not text.strip(" \t\n\r"):
        return
    lines = iter(_lines(text, budget))
    kinds: Any = {"parse_int": _Number, "parse_float": _Number, "parse_constant": _Number}
    try:
        value = json.loads(text, object_pairs_hook=_Pairs, **kinds)
    except json.JSONDecodeError as error:
        budget.line = error.lineno
        raise RefusedInput(f"not JSON: {error.msg} (column {error.colno}).") from None
    yield _node(value, lines, budget, 0)


def _lines(text: str, budget: Budget) -> list[int]:
    """The line of each token, once the levels are bounded: Python's reader recurses on the stack of C."""
    lines, place, depth = [], 0, 0
    budget.line = 1
    for found in TOKEN.finditer(text):
        start, sign = found.start(), found[0]
        budget.line += text.count("\n", place, start)
        depth += (sign in "[{") - (sign in "]}")
        if depth > MAX_DEPTH + 2:  # a list of documents is one more, and the contents of the last level another
            raise RefusedInput(TOO_DEEP)
        lines.append(budget.line)
        place = start
    return lines


def _node(value: Any, lines: Iterator[int], budget: Budget, depth: int) -> Node:
    """A value as a node, whose tokens are the next ones."""
    budget.line = line = next(lines)
    budget.descend(depth)
    if isinstance(value, _Pairs):
        table = Table()
        for name, item in value:
            budget.line = next(lines)
            table.append((Node(scalar(name), budget.line), _node(item, lines, budget, depth + 1)))
        next(lines)  # of the bracket that ends it
        return Node(table, line)
    if isinstance(value, list):
        items = [_node(item, lines, budget, depth + 1) for item in value]
        next(lines)
        return Node(items, line)
    return Node(number(str(value)) if isinstance(value, _Number) else scalar(value), line)


DIGITS = "-+0123456789"
FLOAT = re.compile(r"[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$")
PLAIN_WORDS: dict[str, tuple[re.Pattern[str], list[str], Callable[[str], Any]]] = {
    "null": (re.compile(r"(null|~|)$"), [*"n~", ""], lambda word: None),
    "bool": (re.compile(r"(true|false)$"), [*"tf"], lambda word: word == "true"),
    "int": (re.compile(r"[-+]?(0|[1-9][0-9]*)$"), [*DIGITS], number),
    "float": (FLOAT, [*DIGITS, "."], number),
}
"""Kind -> its form, its first characters, and what a word of it means."""

YAML_TAGS = "tag:yaml.org,2002:"


def add_plain_words(resolver: Any) -> None:
    """Makes a dumper quote text that looks like one of `PLAIN_WORDS`."""
    for kind, (pattern, first, _) in PLAIN_WORDS.items():
        resolver.add_implicit_resolver(YAML_TAGS + kind, pattern, first)


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
        """The node that begins with an event; an alias in a list or a table may stand for it."""
        self._budget.descend(depth)
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                raise RefusedInput(f"not YAML: found undefined alias {named(event.anchor)}.")
            return self.anchors[event.anchor]
        if event.tag is not None:
            tag = event.tag.replace(YAML_TAGS, "!!", 1)
            raise RefusedInput(f"not YAML as scenarios use it: found the tag {named(tag)}, expected none.")
        if isinstance(event, yaml.ScalarEvent):
            return self._anchored(event, Node(_scalar(event), self._budget.line))
        filled: Any = [] if isinstance(event, yaml.SequenceStartEvent) else Table()
        node = self._anchored(event, Node(filled, self._budget.line))
        while not isinstance(inner := self.next(), yaml.SequenceEndEvent | yaml.MappingEndEvent):
            line = self._budget.line
            item = self.node(inner, depth + 1)
            is_key = isinstance(filled, Table)
            filled.append((Node(item.value, line), self.node(self.next(), depth + 1)) if is_key else item)
        return node

    def _anchored(self, event: Any, node: Node) -> Node:
        """The node, which an anchor may name."""
        if event.anchor in self.anchors:
            raise RefusedInput(f"not YAML: found duplicate anchor {named(event.anchor)}.")
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return node


def _scalar(event: yaml.ScalarEvent) -> Any:
    """The value of a plain word, or text."""
    word = event.value
    if event.implicit[0]:
        for pattern, first, meaning in PLAIN_WORDS.values():
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
