"""Where documents come from: files and folders of YAML and JSON, with the line of every key and item."""

import dataclasses
import os
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

import yaml

from scenarios.text.errors import Path, Problem, ScenarioError, as_line, named, part_in_words
from scenarios.text.input_budget import Budget, RefusedInput, text_of
from scenarios.text.nodes import Node, json_nodes, syntax_problem, value_of, yaml_nodes

SUFFIXES = (".yaml", ".yml", ".json")
SCHEMA_SUFFIX = ".schema.json"  # of the schema files for editors, which are not documents


@dataclasses.dataclass(frozen=True)
class Source:
    """One document as it was read, and the lines of its parts."""

    value: Any
    name: str  # of the file, or a description
    default_id: str  # of a document without an id
    lines: Mapping[Path, int] = dataclasses.field(default_factory=dict)  # from 1; of files

    def paragraph(self, problem: Problem) -> str:
        """`file:line: scenario 'x', record: problem.`"""
        known = (problem.path[:n] for n in range(len(problem.path), -1, -1))
        line = next((self.lines[path] for path in known if path in self.lines), None)
        where = self.name if line is None else f"{self.name}:{line}"
        id = _id_of(self.value)
        labels = [f"scenario {named(id)}" if id else "", self._record(problem.path[:-1])]
        label = ", ".join(filter(None, labels))
        return as_line(f"{where}: {label}{': ' if label else ''}{problem.text}")

    def _record(self, path: Path) -> str:
        """A part of the document in words, as far as the document has it: `calendar item 3 ('e3')`."""
        words, value = [], self.value
        for part in path:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                break
            id = _id_of(value) if isinstance(part, int) else ""
            words.append(part_in_words(part, is_first=not words) + (f" ({named(id)})" if id else ""))
        return " ".join(words)


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
        The documents, and the problems of files and folders that cannot be read, a line each.

    Raises:
        ScenarioError: if there is nothing to read.
    """
    path = FilePath(path)
    if not exists(path):
        raise ScenarioError(f"{path}: there is no such file or folder.")
    files, problems = _files_in(path) if path.is_dir() else ([path], [])
    if not files and not problems:
        raise ScenarioError(f"{path}: the folder holds no scenarios ({', '.join(SUFFIXES)}).")
    sources = []
    for file in files:
        try:
            sources += _read_file(file)
        except ScenarioError as error:
            problems += error.problems
    return sources, problems


def exists(path: FilePath) -> bool:
    """Whether there is a file or folder.

    Raises:
        ScenarioError: if it cannot be the name of one, such as a name that is too long.
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        raise ScenarioError(f"{named(str(path))}: {_reason(error)}.") from None
    return True


def _files_in(folder: FilePath) -> tuple[list[FilePath], list[str]]:
    """The files that hold documents, by name, and the folders that cannot be read, a line each.

    A name that begins with a dot is passed over, such as `.git` and `.ipynb_checkpoints`.
    """
    unreadable: list[OSError] = []
    files = []
    for place, folders, names in os.walk(folder, onerror=unreadable.append):
        folders[:] = [name for name in folders if not name.startswith(".")]
        of_documents = (name for name in names if name.lower().endswith(SUFFIXES) and not name.startswith("."))
        files += [FilePath(place, name) for name in of_documents if not name.lower().endswith(SCHEMA_SUFFIX)]
    return sorted(files), [f"{error.filename}: {_reason(error)}." for error in unreadable]


def _read_file(path: FilePath) -> list[Source]:
    """The documents of one file: a mapping, a list of mappings, or several YAML documents.

    Raises:
        ScenarioError: with the file and line of whatever a parser raises.
    """
    budget, text = Budget(), ""
    try:
        text = text_of(path)
        parse = json_nodes if path.suffix.lower() == ".json" else yaml_nodes
        sources = list(_sources([*parse(text, budget)], path, budget))
    except yaml.YAMLError as error:
        line, message = syntax_problem(text, error)
        raise ScenarioError(f"{path}:{line}: {message}") from None
    except RefusedInput as error:
        raise ScenarioError(f"{path}:{budget.line}: {error}" if text else f"{path}: {error}") from None
    except OSError as error:
        raise ScenarioError(f"{path}: {_reason(error)}.") from None
    except Exception as error:
        raise ScenarioError(f"{path}:{budget.line}: cannot be read: {type(error).__name__}: {error}.") from None
    if not sources:
        raise ScenarioError(f"{path}: the file is empty, expected a scenario (a mapping).")
    return sources


def _sources(nodes: list[Node], path: FilePath, budget: Budget) -> Iterator[Source]:
    """The documents of a file, each with its own lines."""
    # The items of a list are documents; a table is a list of another class.
    documents = [each for node in nodes for each in (node.value if type(node.value) is list else [node])]
    for number, node in enumerate(documents, 1):
        value, lines = value_of(node, budget)
        default_id = as_line(path.stem if len(documents) == 1 else f"{path.stem}_{number}")
        yield Source(value, str(path), default_id, lines)


def _reason(error: Exception) -> str:
    """Why the system refuses a file."""
    return str(getattr(error, "strerror", None) or error)


def _id_of(value: Any) -> str:
    """The first `id` or `…_id` of a record, or nothing."""
    keys = value.keys() if hasattr(value, "keys") else ()
    ids = (value[key] for key in keys if key == "id" or str(key).endswith("_id"))
    return next((id for id in ids if isinstance(id, str)), "")
