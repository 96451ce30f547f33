"""YAML and JSON with the line of every key and item.

Plain words mean the same as in YAML 1.2 and JSON: `true`, `null`, decimal numbers; everything else is text, so that
`No`, `0540` and `9:30` do not silently turn into something else.
"""

import dataclasses
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any, ClassVar

import yaml

from scenarios.errors import Path, Problem, ScenarioError

SUFFIXES = (".yaml", ".yml", ".json")
SCHEMA_SUFFIX = ".schema.json"  # of the schema files for editors, which are not documents
MAX_DEPTH = 20  # levels of nesting; a YAML anchor that contains itself is endless
PLAIN_WORDS = {  # kind -> what it looks like, and its first characters
    "null": (r"(null|~|)$", [*"n~", ""]),
    "bool": (r"(true|false)$", [*"tf"]),
    "int": (r"[-+]?(0|[1-9][0-9]*)$", [*"-+0123456789"]),
    "float": (
        r"[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$",
        [*"-+.0123456789"],
    ),
}


@dataclasses.dataclass(frozen=True)
class Source:
    """One document as it was read, and the lines of its parts."""

    value: Any
    name: str  # of the file, or a description
    default_id: str  # of a document without an id
    lines: Mapping[Path, int] = dataclasses.field(default_factory=dict)  # from 1

    def paragraph(self, problem: Problem) -> str:
        """`file:line: scenario 'x', record: what is wrong.`"""
        known = (problem.path[:n] for n in range(len(problem.path), -1, -1))
        line = next((self.lines[path] for path in known if path in self.lines), None)
        where = self.name if line is None else f"{self.name}:{line}"
        id = _id_of(self.value)
        labels = [f"scenario {id!r}" if id else "", self._record(problem.path[:-1])]
        label = ", ".join(filter(None, labels))
        return f"{where}: {label}{': ' if label else ''}{problem.text}"

    def _record(self, path: Path) -> str:
        """A part of the document in words: `calendar item 3 ('e3')`."""
        words, value = "", self.value
        for part in path:
            value = value[part]
            if isinstance(part, int):
                words += f" item {part + 1}" + (f" ({_id_of(value)!r})" if _id_of(value) else "")
            else:
                words += f" {part!r}" if words else part
        return words


def read(path: str | FilePath) -> list[Source]:
    """The same as `read_what_can_be`, where all of it can be read.

    Raises:
        ScenarioError: it reports the problems of all files together.
    """
    sources, problems = read_what_can_be(path)
    if problems:
        raise ScenarioError(*problems)
    return sources


def read_what_can_be(path: str | FilePath) -> tuple[list[Source], list[str]]:
    """All documents of a file, or of every YAML and JSON file under a folder, in the order of their names.

    In a folder, files named `*.schema.json` are skipped.

    Returns:
        The documents, and what is wrong with the files that cannot be read, a line each.

    Raises:
        ScenarioError: where there is nothing to read.
    """
    path = FilePath(path)
    if not path.exists():
        raise ScenarioError(f"{path}: there is no such file or folder.")
    files = [path] if not path.is_dir() else _files_in(path)
    if not files:
        raise ScenarioError(f"{path}: the folder holds no scenarios ({', '.join(SUFFIXES)}).")
    sources, problems = [], []
    for file in files:
        try:
            sources += _read_file(file)
        except ScenarioError as error:
            problems += error.problems
    return sources, problems


def _files_in(folder: FilePath) -> list[FilePath]:
    """The files that hold documents, by name."""
    return sorted(
        file
        for file in folder.rglob("*")
        if file.suffix.lower() in SUFFIXES and not file.name.lower().endswith(SCHEMA_SUFFIX)
    )


def _read_file(path: FilePath) -> list[Source]:
    """The documents of one file: a mapping, a list of mappings, or several YAML documents."""
    text = _decode(path)
    try:
        if path.suffix.lower() == ".json":
            text = _check_json(path, text)
        sources = list(_sources(_Reader(text, str(path)), path))
    except yaml.YAMLError as error:
        raise ScenarioError(_syntax_problem(path, text, error)) from None
    except RecursionError:
        raise ScenarioError(f"{path}: more than {MAX_DEPTH} levels of nesting.") from None
    if not sources:
        raise ScenarioError(f"{path}: the file is empty, expected a scenario (a mapping).")
    return sources


def _sources(reader: "_Reader", path: FilePath) -> Iterator[Source]:
    """The documents of a text, each with its own lines."""
    nodes = list(reader.documents())
    for number, node in enumerate(nodes, 1):
        reader.lines = {}
        value = reader.value(node, ())
        default_id = path.stem if len(nodes) == 1 else f"{path.stem}_{number}"
        yield Source(value, str(path), default_id, reader.lines)


class _Loader(yaml.SafeLoader):
    """A loader that knows only the plain words of `PLAIN_WORDS`, and limits nesting."""

    yaml_implicit_resolvers: ClassVar[dict] = {}

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.level = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """The next node; the parser is recursive, so that depth is counted here and not left to the stack."""
        if self.level > MAX_DEPTH + 1:  # a list of documents is one more
            raise RecursionError
        self.level += 1
        node = super().compose_node(parent, index)
        self.level -= 1
        return node


def add_plain_words(resolver: Any) -> None:
    """Makes a loader read, or a dumper quote, what looks like one of `PLAIN_WORDS`."""
    for kind, (pattern, first) in PLAIN_WORDS.items():
        resolver.add_implicit_resolver(f"tag:yaml.org,2002:{kind}", re.compile(pattern), first)


add_plain_words(_Loader)


class _Reader:
    """Turns the nodes of a text into values and notes the line of each key and item."""

    def __init__(self, text: str, name: str) -> None:
        self.loader = _Loader(text)
        self.name = name
        self.lines: dict[Path, int] = {}

    def documents(self) -> Iterator[yaml.Node]:
        """The node of each scenario; empty YAML documents are skipped."""
        while self.loader.check_node():
            node = self.loader.get_node()
            if isinstance(node, yaml.SequenceNode):
                yield from node.value
            elif node is not None and node.value != "":
                yield node

    def value(self, node: yaml.Node, path: Path) -> Any:
        """The value of a node at a path."""
        line = node.start_mark.line + 1
        self.lines.setdefault(path, line)
        if len(path) > MAX_DEPTH:
            raise ScenarioError(f"{self.name}:{line}: more than {MAX_DEPTH} levels of nesting.")
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, n)) for n, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        try:
            value = self.loader.construct_object(node)
        except ValueError as error:  # a tag such as !!int before something else
            raise yaml.MarkedYAMLError(problem=str(error), problem_mark=node.start_mark) from None
        if isinstance(value, str):  # JSON escapes characters beyond 16 bits as two halves
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return value

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        """A mapping whose keys are text and unique."""
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key, line = key_node.value, key_node.start_mark.line + 1
            if not (isinstance(key_node, yaml.ScalarNode) and key_node.tag.endswith(":str")):
                found = key if isinstance(key, str) else "a list or mapping"
                raise ScenarioError(f"{self.name}:{line}: found {found} as a key, expected text: put it in quotes.")
            if key in mapping:
                before = self.lines[(*path, key)]
                raise ScenarioError(f"{self.name}:{line}: the key {key!r} is repeated, first in line {before}.")
            self.lines[(*path, key)] = line
            mapping[key] = self.value(value_node, (*path, key))
        return mapping


def _decode(path: FilePath) -> str:
    """The text of a file."""
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: not UTF-8 text, at byte {error.start}.") from None
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror}.") from None


def _check_json(path: FilePath, text: str) -> str:
    """JSON as YAML with its keys and items on the same lines."""
    brackets = re.findall(r"[\[\]{}]", re.sub(r'"(\\.|[^"\\])*"', "", text))
    if max(itertools.accumulate(1 if bracket in "[{" else -1 for bracket in brackets), default=0) > MAX_DEPTH + 1:
        raise RecursionError  # before the parser, which is recursive, runs out of stack
    try:
        json.loads(text or "null", parse_int=str)
    except json.JSONDecodeError as error:
        raise ScenarioError(f"{path}:{error.lineno}: not JSON: {error.msg}.") from None
    return text.replace("\t", " ")  # outside of strings; inside JSON allows none


def _syntax_problem(path: FilePath, text: str, error: yaml.YAMLError) -> str:
    """The message of YAML about a text that it cannot read, in a line; it points out a tab that indents."""
    line, message = 1, str(error)
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        line, message = error.problem_mark.line + 1, str(error.problem)
    elif isinstance(error, yaml.reader.ReaderError):
        position = error.position if isinstance(error.position, int) else 0
        line, message = text.count("\n", 0, position) + 1, f"{error.reason} ({error.character!r})"
    for number, content in enumerate(text.splitlines()[:line], 1):
        if "\t" in content[: len(content) - len(content.lstrip())]:
            return f"{path}:{number}: not YAML: a tab indents the line, expected spaces."
    return f"{path}:{line}: not YAML: {' '.join(message.split())}."


def _id_of(value: Any) -> str:
    """The first `id` or `…_id` of a record, or nothing."""
    keys = value.keys() if hasattr(value, "keys") else ()
    ids = (value[key] for key in keys if key == "id" or str(key).endswith("_id"))
    return next((id for id in ids if isinstance(id, str)), "")
