"""The document format of one environment: a frozen record of types and functions."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from jaxenv.core import ScenarioBank
from jaxenv.core.environment import LibraryEnvironment
from scenarios.text.errors import Problem
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

    Each package `scenarios.<name>` defines one, `FORMAT`, and `scenarios.loading` lists them.

    Attributes:
        name: of the package, and of the folder and files in `library/`.
        document: the class of a document; every field has a description, and there is a `scenario_id`.
        action: the class of an action.
        environment: the class in `jaxenv` that plays the documents.
        limits: the class of the capacities; calling it gives the defaults.
        problems: (document, limits) -> why the document cannot be compiled; empty where it can.
        warnings: document -> remarks on allowed but rarely intended contents; none by default.
        compile: (document, limits) -> the arrays of the document.
        decompile: (scenario, id) -> a document that compiles to these arrays.
        limits_of: scenario -> the capacities that its arrays have.
        names: (document, all documents of its bank) -> the fields of `jaxenv.envs.<name>.view.Names`.
        actions: moment -> each entry of the catalogue as an action; fields that it does not use are null.
        normalize_action: (action, moment) -> the action as the catalogue writes it.
        observation: moment -> the agent's observation.
        has_ended: moment -> whether the episode is over.
        bank: (documents, limits) -> the bank of documents whose arrays refer to something shared; None where the bank
            is the stack of the compiled documents.
        warns_beside_problems: whether warnings hold beside a mistake elsewhere in the document; conclusions from all of
            it do not.
    """

    name: str
    document: type[Record]
    action: type[Record]
    environment: type[LibraryEnvironment]
    limits: type
    problems: Callable[[Any, Any], Sequence[Problem]]
    compile: Callable[[Any, Any], Any]
    decompile: Callable[[Any, str], Any]
    limits_of: Callable[[Any], Any]
    names: Callable[[Any, Sequence[Any]], Mapping[str, Any]]
    actions: Callable[[Moment], list[dict[str, Any]]]
    normalize_action: Callable[[Any, Moment], dict[str, Any]]
    observation: Callable[[Moment], dict[str, Any]]
    has_ended: Callable[[Moment], bool]
    warnings: Callable[[Any], Sequence[Problem]] = lambda document: ()
    bank: Callable[[Sequence[Any], Any], ScenarioBank] | None = None
    warns_beside_problems: bool = True

    def bank_of(self, documents: Sequence[Any], limits: Any) -> ScenarioBank:
        """Several documents as arrays: together where they share something, otherwise each on its own."""
        if self.bank is not None:
            return self.bank(documents, limits)
        return ScenarioBank.stack([self.compile(document, limits) for document in documents])
