"""The document format of one environment: a frozen record of types and functions."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jaxenv.core import ScenarioBank
from jaxenv.core.library import LibraryEnvironment
from scenarios.text.errors import Problem
from scenarios.text.records import Record


def _no_view(env: Any, params: Any, documents: Sequence[Any], agent: int) -> Any:
    """The view of an environment whose states read the same for everybody."""
    del env, params, documents, agent


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
        legal_and_moves: (env, state, params, view) -> (legal [A] bool, feasible [A] bool, the meaning of each entry).
        action_dicts: (document, state, moves, view) -> each entry of the catalogue as an action.
        normalize_action: (action, document, state, view) -> the action as the catalogue writes it.
        observation: (document, state, view) -> the agent's observation.
        has_ended: (document, state, view) -> whether the episode is over.
        view: (env, params, documents, agent) -> a further argument of the five functions above, such as whose
            eyes these are; None by default.
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
    legal_and_moves: Callable[[Any, Any, Any, Any], tuple[Any, Any, Any]]
    action_dicts: Callable[[Any, Any, Any, Any], list[dict[str, Any]]]
    normalize_action: Callable[[Any, Any, Any, Any], dict[str, Any]]
    observation: Callable[[Any, Any, Any], dict[str, Any]]
    has_ended: Callable[[Any, Any, Any], bool]
    warnings: Callable[[Any], Sequence[Problem]] = lambda document: ()
    view: Callable[[Any, Any, Sequence[Any], int], Any] = _no_view
    bank: Callable[[Sequence[Any], Any], ScenarioBank] | None = None
    warns_beside_problems: bool = True

    def bank_of(self, documents: Sequence[Any], limits: Any) -> ScenarioBank:
        """Several documents as arrays: together where they share something, otherwise each on its own."""
        if self.bank is not None:
            return self.bank(documents, limits)
        return ScenarioBank.stack([self.compile(document, limits) for document in documents])
