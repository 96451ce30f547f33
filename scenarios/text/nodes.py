"""Nodes: the values that a parser found, each with its line, before aliases are resolved."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from scenarios.text.errors import Path, named, quote
from scenarios.text.input_budget import Budget, RefusedInput


class Node(NamedTuple):
    """A text, number, truth value or null, or a list of nodes, or a table of keys and nodes."""

    value: "Any | list[Node] | Table"
    line: int  # from 1


class Key(NamedTuple):
    """A key of a table, which may be repeated."""

    name: Any  # text, in a table that is accepted
    line: int


class Table(list[tuple[Key, Node]]):
    """The keys and nodes of a mapping in their order."""


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
            raise RefusedInput(f"found {_shown(name)} as a key, expected text: put it in quotes.")
        if name in mapping:
            before = lines[(*path, name)]
            raise RefusedInput(f"the key {named(name)} is repeated, first in line {before}.")
        lines[(*path, name)] = budget.line
        mapping[name] = _value(node, (*path, name), lines, budget)
    return mapping


def _shown(key: Any) -> str:
    """A key that is not text."""
    return "a list or mapping" if isinstance(key, list) else quote(key)
