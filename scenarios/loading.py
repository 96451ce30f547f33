"""Where libraries come from: files, folders, the shipped library, documents at hand, and banks of arrays."""

import contextlib
import dataclasses
import importlib
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

import jax
import numpy as np

from jaxenv.core import ScenarioBank
from jaxenv.envs import FAMILIES
from jaxenv.host.names import did_you_mean_one_of, require_one_of
from scenarios.document_format import DocumentFormat
from scenarios.libraries import Library, build, shipped
from scenarios.text.errors import ScenarioError, class_of
from scenarios.text.input_budget import MAX_DOCUMENTS, RefusedInput, builtin, plain
from scenarios.text.records import Record
from scenarios.text.source import Source, exists, read_what_can_be
from scenarios.words import USUAL, require_wording

ENVIRONMENTS: dict[str, DocumentFormat] = {
    family.name: importlib.import_module(f"scenarios.{family.name}").FORMAT for family in FAMILIES
}
"""Name -> format. `library/` holds a folder of its documents, `NAME.example.yaml`, and `NAME.schema.json`, which
`make library` writes."""


def format_of(name: str) -> DocumentFormat:
    """The document format of an environment.

    Raises:
        ScenarioError: if there is no environment of that name.
    """
    if not issubclass(type(name), str):
        raise ScenarioError(f"the name of an environment is text, found {class_of(name)}.")
    name = builtin(name)
    require_one_of(name, ENVIRONMENTS, f"no environment {name!r} has documents", ScenarioError)
    return ENVIRONMENTS[name]


def recognize(document: Any) -> str:
    """The environment of a document: the one that it names, otherwise the one that it shares most fields with."""
    fields = set(document.keys()) if hasattr(document, "keys") else set()
    named = document["environment"] if "environment" in fields else None
    if isinstance(named, str) and named in ENVIRONMENTS:
        return named
    return max(ENVIRONMENTS, key=lambda name: len(fields & set(ENVIRONMENTS[name].document.model_fields)))


def load(name_or_path: str | FilePath, limits: Any = None, environment: str | None = None) -> Library:
    """Reads a library: a shipped one, a file, or all files of a folder.

    >>> import scenarios
    >>> scenarios.load("lifeops").environment
    'lifeops'
    >>> scenarios.load("lifeops/s1_basic_conflict").ids
    ('s1_basic_conflict',)

    Args:
        name_or_path: `"lifeops"`, `"lifeops/s1_basic_conflict"`, or the path of a YAML or JSON file or of a folder.
        limits: capacities of the arrays, the environment's defaults if None.
        environment: whose documents they are. If None, the documents name it (`environment: lifeops`) or are
            recognized by their fields.

    Raises:
        ScenarioError: for whatever cannot be read or is not a scenario.
    """
    if not isinstance(name_or_path, str | FilePath):
        raise ScenarioError(f"load takes a name or a path, found {type(name_or_path).__name__}.")
    name, _, id = str(name_or_path).partition("/")
    path = FilePath(os.path.expanduser(name_or_path))
    is_there = exists(path)
    if isinstance(name_or_path, str) and name in ENVIRONMENTS and not (is_there and path.is_file()):
        if environment not in (None, name):
            raise ScenarioError(f"{name_or_path}: a library of {name}, expected documents of {environment}.")
        return shipped(ENVIRONMENTS[name], id, limits)
    if not is_there:
        hint = did_you_mean_one_of(name, ENVIRONMENTS)
        raise ScenarioError(f"{name_or_path}: there is no such file, folder or library.{hint}")
    sources, problems = read_what_can_be(path)
    found = sorted({recognize(source.value) for source in sources})
    if len(found) > 1 if environment is None else found and environment not in found:
        expected = f"documents of {environment}" if environment else "one environment"
        raise ScenarioError(f"{name_or_path}: found documents of {' and '.join(found)}, expected {expected}.")
    if not sources:
        raise ScenarioError(*problems)
    return build(format_of(environment or found[0]), sources, limits, problems)


def parse(environment: str, documents: Any, limits: Any = None) -> Library:
    """A library of documents at hand.

    >>> import scenarios
    >>> day = {"persona": "busy_parent", "tasks": [{"task_id": "t1", "remaining_minutes": 30}]}
    >>> library = scenarios.parse("lifeops", day)
    >>> library.ids, int(library.bank.scenarios.tasks.minutes[0, 0])
    (('scenario_1',), 30)

    Args:
        environment: its name, such as `"lifeops"`.
        documents: a mapping or record (a class of `scenarios.<environment>`), or a sequence of them. All are checked,
            records too.
        limits: capacities of the arrays, the environment's defaults if None.

    Raises:
        ScenarioError: for whatever is not a scenario, and instead of whatever reading the documents raises.
    """
    format = format_of(environment)
    sources = [_source(document, number) for number, document in enumerate(_listed(documents), 1)]
    return build(format, sources, limits)


def _listed(documents: Any) -> list[Any]:
    """The documents in memory, not read yet; an endless source stops at the greatest number.

    Raises:
        ScenarioError: if they are not documents or too many, and for any error raised while iterating over them.
    """
    with _reading("documents"):
        if isinstance(documents, Mapping | Record):
            return [documents]
        if isinstance(documents, str | bytes | FilePath) or not isinstance(documents, Iterable):
            raise ScenarioError(f"parse takes mappings, found {class_of(documents)}; scenarios.load reads files.")
        found = list(itertools.islice(documents, MAX_DOCUMENTS + 1))
    if len(found) > MAX_DOCUMENTS:
        raise ScenarioError(f"more than {MAX_DOCUMENTS} documents: parse them in several calls.")
    return found


def _source(document: Any, number: int) -> Source:
    """A document at hand, as a file would hold it.

    Raises:
        ScenarioError: for whatever reading it raises.
    """
    name = f"document {number}"
    with _reading(name):
        return Source(plain(document), name, f"scenario_{number}")


@contextlib.contextmanager
def _reading(name: str) -> Iterator[None]:
    """Turns any error of a user's objects into a ScenarioError."""
    try:
        yield
    except ScenarioError:
        raise
    except RefusedInput as error:
        raise ScenarioError(f"{name}: {error}") from None
    except Exception as error:
        raise ScenarioError(f"{name}: cannot be read: {class_of(error)}.") from error


def decompile(environment: str, bank: ScenarioBank, wording: str = USUAL) -> Library:
    """A library of a bank, such as one of generated scenarios, so that people can read them and `Codec` names them.

    >>> import jaxenv, scenarios
    >>> env, params = jaxenv.make("LifeOps-v0")
    >>> scenarios.decompile("lifeops", params.bank).documents[0].calendar[0].event_id
    'e1'

    Ids are `scenario_1` and so on; events, tasks, places and the like get names from banks of words, since arrays have
    none, and a scenario gets the same ones wherever it lies. What the scenarios share stays as it is.

    Args:
        environment: its name, such as `"lifeops"`.
        bank: the arrays.
        wording: `"usual"`, or `"held_out"` for names that no usual scenario has, to test an agent that has read those.

    Raises:
        ScenarioError: where no document compiles to the arrays, and for another wording.
    """
    require_wording(wording)
    format = format_of(environment)
    arrays = ScenarioBank(jax.tree.map(np.asarray, bank.scenarios))
    ids = [f"scenario_{number}" for number in range(1, bank.size + 1)]
    sources = [
        Source(format.decompile(arrays[index], id, wording), f"document {index + 1}", id)
        for index, id in enumerate(ids)
    ]
    library = build(format, sources, format.limits_of(arrays.scenarios))
    return dataclasses.replace(library, bank=library.bank.replace(shared=bank.shared))
