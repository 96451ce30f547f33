"""Libraries: documents of one environment and the bank of arrays that they compile to."""

import dataclasses
import functools
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import jax
from pydantic import ValidationError

from jaxenv.core import ScenarioBank
from jaxenv.host.names import require_one_of
from jaxenv.rendering import views
from scenarios.document_format import DocumentFormat
from scenarios.text.errors import OverCapacity, Problem, ScenarioError, class_of, named, told
from scenarios.text.records import problems_of
from scenarios.text.source import Source, read
from scenarios.writing import dump

SHIPPED = FilePath(__file__).with_name("library")
RETURNS = SHIPPED / "returns.json"


@dataclasses.dataclass(frozen=True, eq=False)
class Library:
    """Documents of one environment and the bank that they compile to, in the same order.

    >>> import scenarios
    >>> library = scenarios.load("lifeops")
    >>> len(library), library.ids[0], library.bank.size
    (12, 'easy_1', 12)
    >>> library.documents[library.index("easy_2")].day_of_week
    'Tuesday'
    >>> library.returns("LifeOps-v0")["easy_2"]["best"]
    0

    Attributes:
        format: how documents of this environment are read and written.
        bank: for `params.replace(bank=library.bank)`.
        documents: records of `scenarios.<environment>`, which can also be read like mappings; those of files have ids.
        ids: the id of each scenario, each unique.
        limits: the capacities of the bank's arrays.
        warnings: remarks on allowed but rarely intended contents of the documents, a line each.
        is_shipped: whether the documents are those of jaxenv's own library.
    """

    format: DocumentFormat
    bank: ScenarioBank
    documents: tuple[Any, ...]
    ids: tuple[str, ...]
    limits: Any
    warnings: tuple[str, ...] = ()
    is_shipped: bool = False

    @property
    def environment(self) -> str:
        """The name of the environment, such as `lifeops`."""
        return self.format.name

    def __len__(self) -> int:
        """How many scenarios there are."""
        return len(self.ids)

    def index(self, id: str) -> int:
        """The place of a scenario in the bank, for `env.reset(key, params, scenario=index)`."""
        require_one_of(id, self.ids, f"no scenario {named(id)} in the library", ScenarioError)
        return self.ids.index(id)

    def page(self, id: str) -> str:
        """A scenario as a page of text: its first state as the agent sees it, and the whole document as YAML."""
        index = self.index(id)
        kind: Any = self.format.environment
        env = kind(limits=self.limits)
        params = env.params_for(self.bank.replace(scenarios=self.bank[index : index + 1]))
        _, state = env.reset(jax.random.key(0), params, 0)
        begin = views.render(env, state, params, names=self.names(index))
        return f"{id}\n{'=' * len(id)}\n{begin}\n\n{dump(self.documents[index])}".rstrip()

    def names(self, index: int) -> Mapping[str, Any]:
        """Names of the parts of the scenario at an index of the bank, for pictures and text.

        Returns:
            Values for the fields of `jaxenv.envs.<environment>.view.Names`.
        """
        return self.format.names(self.documents[int(index)], self.documents)

    def returns(self, env_name: str) -> dict[str, dict[str, float]]:
        """Known returns of whole episodes under an environment's id.

        Returns:
            id -> `random`, `best` and others; empty for a library that jaxenv does not ship.
        """
        if not self.is_shipped:
            return {}
        known = json.loads(RETURNS.read_text("utf-8")).get(env_name, {})
        return {id: known[id] for id in self.ids if id in known}


def shipped(format: DocumentFormat, id: str = "", limits: Any = None) -> Library:
    """The library that jaxenv ships for an environment, or the one scenario of it that has an id."""
    files = {file.stem: file for file in sorted((SHIPPED / format.name).glob("*.yaml"))}
    if id:
        require_one_of(id, files, f"no scenario {named(id)} in the library {format.name!r}", ScenarioError)
    sources = [source for stem in ([id] if id else files) for source in read(files[stem])]
    return dataclasses.replace(build(format, sources, limits), is_shipped=True)


def build(format: DocumentFormat, sources: Sequence[Source], limits: Any, unread: Sequence[str] = ()) -> Library:
    """Checks all documents, reports the problems of all of them together, and compiles them.

    Args:
        format: of the documents.
        sources: the documents.
        limits: capacities of the arrays, or None.
        unread: problems of what could not be read beside them, a line each.

    Raises:
        ScenarioError: for whatever is not a scenario, and for limits of another class.
    """
    limits = format.limits() if limits is None else limits
    if type(limits) is not format.limits:
        package = format.limits.__module__.rpartition(".")[0]
        found = f"limits: found {class_of(limits)}, expected the capacities of {package}.Limits."
        raise ScenarioError(*unread, found)
    if not sources:
        raise ScenarioError("found no documents, expected at least one.")
    checked = [_checked(source, format, limits) for source in sources]
    problems: list[str] = []
    for name, of_file in itertools.groupby(checked, key=lambda each: each.source.name):
        found = (functools.partial(each.source.paragraph, problem) for each in of_file for problem in each.problems)
        problems += told(found, name)
    field, ids = "id" if "id" in format.document.model_fields else "scenario_id", []
    if not problems:
        ids = [each.document[field] or each.source.default_id for each in checked]
        problems = _repeated_ids(ids, sources, field)
    warnings = tuple(line for each in checked for line in _warnings(each, format))
    if unread or problems:
        raise ScenarioError(*unread, *problems, warnings=warnings)
    pairs = zip(checked, ids, strict=True)  # a document of a file that has no id gets its name
    documents = tuple(one.document.model_copy(update={field: id} if one.source.lines else {}) for one, id in pairs)
    bank = format.bank(documents, limits)
    return Library(format=format, bank=bank, documents=documents, ids=tuple(ids), limits=limits, warnings=warnings)


class _Checked(NamedTuple):
    """A document, and why it cannot be compiled."""

    source: Source
    document: Any  # None where it has not the form of one
    problems: Sequence[Problem]


def _checked(source: Source, format: DocumentFormat, limits: Any) -> _Checked:
    """A document with its problems."""
    try:
        document = format.document.model_validate(source.value)
    except ValidationError as error:
        return _Checked(source, None, problems_of(error, format.document))
    return _Checked(source, document, format.problems(document, limits))


def _warnings(checked: _Checked, format: DocumentFormat) -> Iterable[str]:
    """Remarks on allowed but rarely intended contents of a document, a line each."""
    is_too_long = any(isinstance(problem, OverCapacity) for problem in checked.problems)  # a search could take long
    is_silent = checked.problems and not format.warns_beside_problems
    if checked.document is None or is_too_long or is_silent:
        return ()
    found = (functools.partial(checked.source.paragraph, warning) for warning in format.warnings(checked.document))
    return told(found, checked.source.name)


def _repeated_ids(ids: Sequence[str], sources: Sequence[Source], field: str) -> list[str]:
    """Scenarios are found by their ids, so each id is unique."""
    first = dict(zip(reversed(ids), reversed(sources), strict=True))  # of each id
    return [
        source.paragraph(Problem((field,), f"{field} {named(id)} is repeated, first in {first[id].name}."))
        for id, source in zip(ids, sources, strict=True)
        if source is not first[id]
    ]
