"""JSON as nodes: the values of Python's own reader, and the lines of its tokens."""

import json
import re
from collections.abc import Iterator
from typing import Any

from scenarios.text.input_budget import MAX_DEPTH, TOO_DEEP, Budget, RefusedInput, number, scalar
from scenarios.text.nodes import Key, Node, Table

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
        table = Table(_pair(name, item, lines, budget, depth + 1) for name, item in value)
        next(lines)  # of the bracket that ends it
        return Node(table, line)
    if isinstance(value, list):
        items = [_node(item, lines, budget, depth + 1) for item in value]
        next(lines)
        return Node(items, line)
    return Node(number(str(value)) if isinstance(value, _Number) else scalar(value), line)


def _pair(name: str, item: Any, lines: Iterator[int], budget: Budget, depth: int) -> tuple[Key, Node]:
    """A key and its node."""
    budget.line = next(lines)
    return Key(scalar(name), budget.line), _node(item, lines, budget, depth)
