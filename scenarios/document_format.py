"""The document format of one environment, a frozen record of types and functions, and what all formats share."""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxenv.core import ScenarioBank, fields
from jaxenv.core.contents import MAX_CAPACITY, Capacities
from jaxenv.core.environment import LibraryEnvironment
from jaxenv.host.names import did_you_mean, listed
from scenarios.text.errors import OverCapacity, Path, Problem, ScenarioError, named
from scenarios.text.records import Record


class Moment(NamedTuple):
    """A state of a running episode, with everything that describes it.

    Attributes:
        env: unwrapped.
        params: hold the bank of the documents.
        document: of the scenario that is played.
        names: `DocumentFormat.names` of this document.
        state: on the host.
        agent: whose eyes these are, if there are several.
    """

    env: Any
    params: Any
    document: Any
    names: Mapping[str, Any]
    state: Any
    agent: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class DocumentFormat:
    """The documents of one environment: how they are checked, compiled, read back, printed and used by `Codec`.

    Each package `scenarios.<name>` defines one, `FORMAT`.

    Attributes:
        name: of the package, and of the folder and files in `library/`.
        document: the class of a document; every field has a description, and there is an `id` or a `scenario_id`.
        action: the class of an action.
        environment: the class in `jaxenv` that plays the documents; its `is_over(state, params)` is [] bool.
        limits: the class of the capacities; calling it gives the defaults.
        problems: (document, limits) -> why the document cannot be compiled; empty where it can.
        warnings: document -> remarks on allowed but rarely intended contents; none by default.
        bank: (documents, limits) -> their arrays, as a bank; `stacked` makes one where documents share nothing.
        decompile: (scenario, id, wording) -> a document that compiles to these arrays.
        other_sizes: scenarios -> the sizes of the limits that are no axis of their arrays; none by default.
        names: (document, all documents of its bank) -> the fields of `jaxenv.envs.<name>.view.Names`.
        actions: moment -> each entry of the catalogue as an action; fields that it does not use are null.
        normalize_action: (action, moment) -> the action as the catalogue writes it; by default, as it is.
        observation: moment -> the agent's observation.
        warns_beside_problems: whether warnings hold beside a mistake elsewhere in the document; conclusions from all of
            it do not.
    """

    name: str
    document: type[Record]
    action: type[Record]
    environment: type[LibraryEnvironment]
    limits: type[Capacities]
    problems: Callable[[Any, Any], Sequence[Problem]]
    bank: Callable[[Sequence[Any], Any], ScenarioBank]
    decompile: Callable[[Any, str, str], Any]
    names: Callable[[Any, Sequence[Any]], Mapping[str, Any]]
    actions: Callable[[Moment], list[dict[str, Any]]]
    observation: Callable[[Moment], dict[str, Any]]
    other_sizes: Callable[[Any], Mapping[str, int]] = lambda scenarios: {}
    warnings: Callable[[Any], Sequence[Problem]] = lambda document: ()
    normalize_action: Callable[[Any, Moment], dict[str, Any]] = lambda action, moment: action.model_dump()
    warns_beside_problems: bool = True

    def limits_of(self, scenarios: Any) -> Capacities:
        """The capacities that the arrays of scenarios have."""
        sizes = {**fields.lengths(scenarios), **self.other_sizes(scenarios)}
        return self.limits(*(sizes[axis] for axis in self.limits.axes.split()))


def stacked(compile: Callable[[Any, Any], Any]) -> Callable[[Sequence[Any], Any], ScenarioBank]:
    """The bank of documents that share nothing: the arrays of each, one above the other."""
    return lambda documents, limits: ScenarioBank.stack([compile(document, limits) for document in documents])


def refuse(problems: Iterable[Problem]) -> None:
    """Refuses a document that has problems.

    Raises:
        ScenarioError: with all of them.
    """
    if texts := [problem.text for problem in problems]:
        raise ScenarioError(*texts)


def repeated(ids: Iterable[tuple[Path, str]], field: str = "id") -> Iterator[Problem]:
    """Ids that occur more than once.

    Args:
        ids: the path of each record, and its id.
        field: of the records, which holds the id.
    """
    first: dict[str, Path] = {}
    for path, id in ids:
        if id in first:
            pairs = zip(first[id][::2], first[id][1::2], strict=True)
            where = " ".join(f"{part} item {int(number) + 1}" for part, number in pairs)
            yield Problem((*path, field), f"{field} {named(id)} is repeated, first in {where}.")
        first.setdefault(id, path)


def unknown(what: str, names: Iterable[tuple[Path, str]], known: Sequence[str]) -> Iterator[Problem]:
    """Names that refer to nothing.

    Args:
        what: kind of thing that they should name.
        names: the path of each name, and the name.
        known: the names that exist.
    """
    exists = set(known)
    for path, name in names:
        if name not in exists:
            yield Problem(path, functools.partial(_no_such, what, name, known))


def _no_such(what: str, name: str, known: Sequence[str]) -> str:
    """Names the nearest one, and all."""
    available = f"Available: {listed(known)}." if known else "There are none."
    return f"no {what} {named(name)}.{did_you_mean(name, known)} {available}"


def over_capacity(path: Path, capacity: str, needed: int, limits: Any, counts: str = "") -> Iterator[OverCapacity]:
    """An excess over a capacity, with the way to raise it.

    Args:
        path: of the table.
        capacity: field of the limits.
        needed: the capacity that the document needs.
        limits: capacities of the arrays.
        counts: what needs it, in words; by default so many of the capacity.
    """
    room = getattr(limits, capacity)
    if needed > room:
        way = "It cannot be raised that far."
        if needed <= limits.greatest.get(capacity, MAX_CAPACITY):
            package = type(limits).__module__.rpartition(".")[0]
            way = f"To raise it, pass limits={package}.Limits({capacity}={needed}) here and to jaxenv.make."
        counts = counts or f"{needed} {capacity}"
        yield OverCapacity(path, f"{counts} need {needed}, the capacity is {room} {capacity}. {way}")


def put(padding: Any, /, **values: Any) -> Any:
    """A record with values in its fields: in their dtypes, tables followed by padding, inner records as they are."""
    return padding.replace(**{name: _padded(getattr(padding, name), value) for name, value in values.items()})


def columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows of a table by the names of its fields, for `put`; none without rows."""
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def _padded(padding: Any, value: Any) -> Any:
    """A number, or a table and along each of its axes padding; a record as it is."""
    if not isinstance(padding, np.ndarray):
        return value
    filled = np.array(padding)
    if np.size(value):  # an empty list has no columns
        filled[tuple(map(slice, np.shape(value)))] = value
    return filled


def shortest(number: Any) -> float:
    """The float with the fewest digits that is the same float32."""
    return float(str(np.float32(number)))
