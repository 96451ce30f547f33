"""JSON as nodes."""

import json
import re
from collections.abc import Iterator
from typing import Any

from scenarios.errors import quote
from scenarios.input_budget import Budget, RefusedInput, number, scalar
from scenarios.nodes import Key, Node, Table

SPACE = re.compile(r"[ \t\n\r]*+")
STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
WORD = re.compile(r"[^ \t\n\r,:\[\]{}\"]++")
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
WORDS = {"null": None, "true": True, "false": False}
END = ""


def json_nodes(text: str, budget: Budget) -> Iterator[Node]:
    """The node of the document, or nothing for an empty text.

    Raises:
        RefusedInput: for what is not JSON, and where the budget is spent.
    """
    scanner = _Scanner(text, budget)
    if scanner.next != END:
        yield scanner.node(0)
        scanner.expect(END)


class _Scanner:
    """Reads a text once, from its beginning to its end.

    Attributes:
        next: the next token: a bracket, comma, colon, string or word, or END.
    """

    def __init__(self, text: str, budget: Budget) -> None:
        self._text, self._budget, self._place = text, budget, 0
        self.next = self._token()

    def node(self, depth: int) -> Node:
        """The node that begins with the next token."""
        self._budget.descend(depth)
        line = self._budget.line
        if self.next == "[":
            return Node(list(self._items("]", depth)), line)
        if self.next == "{":
            return Node(Table(self._items("}", depth)), line)
        value = _scalar(self.next)
        self._take()
        return Node(value, line)

    def expect(self, token: str) -> None:
        """Goes past a token."""
        if self.next != token:
            raise RefusedInput(f"not JSON: found {_shown(self.next)}, expected {_shown(token)}.")
        self._take()

    def _items(self, end: str, depth: int) -> Iterator[Any]:
        """What a list or a table holds."""
        self._take()
        while self.next != end:
            yield self._pair(depth) if end == "}" else self.node(depth + 1)
            if self.next != end:
                self.expect(",")
                if self.next == end:
                    raise RefusedInput(f"not JSON: found '{end}' after a comma, expected a value.")
        self._take()

    def _pair(self, depth: int) -> tuple[Key, Node]:
        """A key and its node."""
        if not self.next.startswith('"'):
            raise RefusedInput(f"not JSON: found {_shown(self.next)}, expected a key in quotes.")
        key = Key(_scalar(self.next), self._budget.line)
        self._take()
        self.expect(":")
        return key, self.node(depth + 1)

    def _take(self) -> None:
        """Goes past the next token."""
        self.next = self._token()

    def _token(self) -> str:
        """The token at the place, and goes past it."""
        space = SPACE.match(self._text, self._place)
        start = space.end() if space else self._place
        self._budget.line += self._text.count("\n", self._place, start)
        sign = self._text[start : start + 1]
        pattern = STRING if sign == '"' else WORD
        found = None if sign in "[]{},:" else pattern.match(self._text, start)
        if sign == '"' and found is None:
            raise RefusedInput("not JSON: a string has no end.")
        self._place = found.end() if found else start + len(sign)
        return self._text[start : self._place]


def _scalar(token: str) -> Any:
    """The text, number, truth value or null of a token."""
    if token in WORDS:
        return WORDS[token]
    if NUMBER.fullmatch(token):
        return number(token)
    if not token.startswith('"'):
        raise RefusedInput(f"not JSON: found {_shown(token)}, expected a value.")
    try:
        return scalar(json.loads(token))
    except json.JSONDecodeError as error:
        raise RefusedInput(f"not JSON: {error.msg} in {quote(token)}.") from None


def _shown(token: str) -> str:
    """A token in a message."""
    return quote(token) if token else "the end"
