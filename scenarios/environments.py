"""The environments that have documents: one row each."""

import importlib
from typing import Any

from jaxenv.envs import FAMILIES
from jaxenv.host.names import did_you_mean_one_of
from scenarios.document_format import DocumentFormat
from scenarios.text.errors import ScenarioError, class_of
from scenarios.text.input_budget import builtin

ENVIRONMENTS: dict[str, DocumentFormat] = {
    family.name: importlib.import_module(f"scenarios.{family.name}").FORMAT for family in FAMILIES
}
"""Name -> format. `library/` holds a folder of its documents, `NAME.example.yaml`, and `NAME.schema.json`, which
`jaxenv scenarios compile` writes."""


def format_of(name: str) -> DocumentFormat:
    """The document format of an environment.

    Raises:
        ScenarioError: if there is no environment of that name.
    """
    if not issubclass(type(name), str):
        raise ScenarioError(f"the name of an environment is text, found {class_of(name)}.")
    name = builtin(name)
    if name not in ENVIRONMENTS:
        raise ScenarioError(f"no environment {name!r} has documents.{did_you_mean_one_of(name, ENVIRONMENTS)}")
    return ENVIRONMENTS[name]


def recognize(document: Any) -> str:
    """The environment of a document: the one that it names, otherwise the one that it shares most fields with."""
    fields = set(document.keys()) if hasattr(document, "keys") else set()
    named = document["environment"] if "environment" in fields else None
    if isinstance(named, str) and named in ENVIRONMENTS:
        return named
    return max(ENVIRONMENTS, key=lambda name: len(fields & set(ENVIRONMENTS[name].document.model_fields)))
