"""The environments that have documents: one row each."""

from types import ModuleType
from typing import Any

from scenarios import lifeops
from scenarios.errors import ScenarioError, did_you_mean

ENVIRONMENTS: dict[str, ModuleType] = {"lifeops": lifeops}
"""Name -> package. A package has:

`Document`, the class of its documents; `Environment` and `Limits` of `jaxenv`; `ARRAYS`, the file of the shipped bank;
`problems(document, limits)` and `warnings(document)`; `compile(document, limits)` and `decompile(scenario, id)`;
`page(document)`; and for `Codec` `moves(env, state, params)`, `actions(document, state, moves)`,
`observation(document, state)` and `is_over(scenario, state)`.
"""


def named(name: str) -> ModuleType:
    """The package of an environment."""
    if name not in ENVIRONMENTS:
        hint = did_you_mean(name, ENVIRONMENTS)
        raise ScenarioError(f"no environment {name!r} has documents.{hint} There is {', '.join(ENVIRONMENTS)}.")
    return ENVIRONMENTS[name]


def recognise(document: Any) -> str:
    """The environment of a document: what it says, else the one whose fields it shares most of."""
    fields = set(document.keys()) if hasattr(document, "keys") else set()
    said = document["environment"] if "environment" in fields else None
    if isinstance(said, str) and said in ENVIRONMENTS:
        return said
    return max(ENVIRONMENTS, key=lambda name: len(fields & set(ENVIRONMENTS[name].Document.model_fields)))
