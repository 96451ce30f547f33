"""Libraries: documents, the bank of arrays that they compile to, and where they come from."""

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path as FilePath
from types import ModuleType
from typing import Any

import jax
import numpy as np
from pydantic import ValidationError

from jaxenv.core import ScenarioBank
from scenarios import environments
from scenarios.environments import ENVIRONMENTS
from scenarios.errors import Problem, ScenarioError, did_you_mean
from scenarios.records import Record, problems_of
from scenarios.source import Source, read

SHIPPED = FilePath(__file__).with_name("library")
RETURNS = SHIPPED / "returns.json"


@dataclasses.dataclass(frozen=True, eq=False)
class Library:
    """Documents of one environment and the bank that they compile to, in the same order.

    Attributes:
        environment: its name, such as `lifeops`.
        bank: for `params.replace(bank=library.bank)`.
        documents: records of `scenarios.<environment>`, which can also be read like mappings.
        ids: what each scenario is called; no two are equal.
        limits: the capacities of the bank's arrays.
        warnings: what is allowed in the documents but seldom meant, a line each.
        is_shipped: whether the documents are those of jaxenv's own library.
    """

    environment: str
    bank: ScenarioBank
    documents: tuple[Any, ...]
    ids: tuple[str, ...]
    limits: Any
    warnings: tuple[str, ...] = ()
    is_shipped: bool = False

    def __len__(self) -> int:
        """How many scenarios there are."""
        return len(self.ids)

    def index(self, id: str) -> int:
        """Where a scenario stands in the bank, for `env.reset(key, params, scenario=index)`."""
        if id not in self.ids:
            raise ScenarioError(_unknown_scenario(id, self.ids))
        return self.ids.index(id)

    def page(self, id: str) -> str:
        """A scenario as a page of text."""
        return environments.named(self.environment).page(self.documents[self.index(id)], id)

    def returns(self, env_name: str) -> dict[str, dict[str, float]]:
        """Known returns of whole episodes under an environment's id, where there are any.

        Returns:
            id -> `random`, `heuristic`, `best` and `worst`; empty for a library that jaxenv does not ship.
        """
        if not self.is_shipped:
            return {}
        known = json.loads(RETURNS.read_text("utf-8")).get(env_name, {})
        return {id: known[id] for id in self.ids if id in known}


def load(name_or_path: str | FilePath, limits: Any = None, environment: str | None = None) -> Library:
    """Reads a library: one that is shipped, a file, or all files of a folder.

    Args:
        name_or_path: `"lifeops"`, `"lifeops/s1_basic_conflict"`, or the path of a YAML or JSON file or of a folder.
        limits: capacities of the arrays, the environment's defaults if None.
        environment: whose documents they are. If None, the documents say it (`environment: lifeops`) or are
            recognised by their fields.

    Raises:
        ScenarioError: for whatever cannot be read or is no scenario.
    """
    name, _, id = str(name_or_path).partition("/")
    if isinstance(name_or_path, str) and name in ENVIRONMENTS and not FilePath(name_or_path).is_file():
        shipped = _shipped_sources(name, id)
        return dataclasses.replace(_build(name, shipped, limits), is_shipped=True)
    if not FilePath(name_or_path).exists():
        hint = did_you_mean(name, ENVIRONMENTS)
        raise ScenarioError(
            f"{name_or_path}: there is no such file or folder, and no library of this name.{hint} "
            f"There is {', '.join(ENVIRONMENTS)}."
        )
    sources = read(name_or_path)
    found = sorted({environments.recognise(source.value) for source in sources})
    if environment is None and len(found) > 1:
        raise ScenarioError(f"{name_or_path}: found documents of {' and '.join(found)}, expected one.")
    return _build(environment or found[0], sources, limits)


def parse(environment: str, documents: Any, limits: Any = None) -> Library:
    """A library of documents at hand.

    Args:
        environment: its name, such as `"lifeops"`.
        documents: a mapping or record (a class of `scenarios.<environment>`), or a sequence of them.
        limits: capacities of the arrays, the environment's defaults if None.

    Raises:
        ScenarioError: for whatever is no scenario.
    """
    several = [documents] if isinstance(documents, Mapping | Record) else documents
    if isinstance(several, str | bytes | FilePath) or not isinstance(several, Iterable):
        raise ScenarioError(f"parse takes mappings, found {type(several).__name__}; scenarios.load reads files.")
    sources = [
        Source(document, f"document {number}", f"scenario_{number}") for number, document in enumerate(several, 1)
    ]
    return _build(environment, sources, limits)


def decompile(environment: str, bank: ScenarioBank) -> Library:
    """A library of a bank, such as one of generated scenarios, so that people can read them and `Codec` names them.

    Ids are `scenario_1` and so on; events, tasks, places and the like get names, since arrays have none. What the
    scenarios share stays as it is.
    """
    package = environments.named(environment)
    arrays = ScenarioBank(jax.tree.map(np.asarray, bank.scenarios))
    documents = [package.decompile(arrays[n], f"scenario_{n + 1}") for n in range(bank.size)]
    library = parse(environment, documents, package.limits_of(arrays.scenarios))
    return dataclasses.replace(library, bank=library.bank.replace(shared=bank.shared))


def _shipped_sources(name: str, id: str) -> list[Source]:
    """All documents of a shipped library, or the one with an id."""
    files = {file.stem: file for file in sorted((SHIPPED / name).glob("*.yaml"))}
    if id and id not in files:
        raise ScenarioError(_unknown_scenario(id, files, name))
    return [source for stem in ([id] if id else files) for source in read(files[stem])]


def _unknown_scenario(id: str, ids: Iterable[str], library: str = "") -> str:
    """Names the nearest scenario, and all."""
    where = f"the library {library!r}" if library else "the library"
    return f"no scenario {id!r} in {where}.{did_you_mean(id, ids)} There are {', '.join(ids)}."


def _build(environment: str, sources: Sequence[Source], limits: Any) -> Library:
    """Checks all documents, tells the problems of all of them together, and compiles them."""
    package = environments.named(environment)
    limits = package.Limits() if limits is None else limits
    if not isinstance(limits, package.Limits):
        raise TypeError(f"limits of {environment} are its Limits, got {limits!r}")
    if not sources:
        raise ScenarioError("found no documents, expected at least one.")
    documents, problems = [], []
    for source in sources:
        try:
            document = package.Document.model_validate(source.value)
        except ValidationError as error:
            found = problems_of(error, package.Document)
        else:
            documents.append(document)
            found = package.problems(document, limits)
        problems += [source.paragraph(problem) for problem in found]
    ids = [document.scenario_id for document in documents]
    if not problems:
        ids = [id or source.default_id for id, source in zip(ids, sources, strict=True)]
        problems = _repeated_ids(ids, sources, "id" if "id" in package.Document.model_fields else "scenario_id")
    if problems:
        raise ScenarioError(*problems)
    return Library(
        environment=environment,
        bank=_bank(package, documents, limits),
        documents=tuple(documents),
        ids=tuple(ids),
        limits=limits,
        warnings=tuple(
            source.paragraph(warning)
            for source, document in zip(sources, documents, strict=True)
            for warning in package.warnings(document)
        ),
    )


def _bank(package: ModuleType, documents: Sequence[Any], limits: Any) -> ScenarioBank:
    """Documents as arrays: together where they share something, else each for itself."""
    if hasattr(package, "bank"):
        return package.bank(documents, limits)
    return ScenarioBank.stack([package.compile(document, limits) for document in documents])


def _repeated_ids(ids: Sequence[str], sources: Sequence[Source], field: str) -> list[str]:
    """A scenario is found by its id, so it stands once."""
    first: dict[str, Source] = {}
    problems = []
    for id, source in zip(ids, sources, strict=True):
        if id in first:
            text = f"{field} {id!r} stands twice, first in {first[id].name}."
            problems.append(source.paragraph(Problem((field,), text)))
        first.setdefault(id, source)
    return problems
