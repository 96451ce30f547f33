"""The environments that have documents: one row each."""

from types import ModuleType
from typing import Any

from scenarios import lifeops, lifestack, teamsclone
from scenarios.errors import ScenarioError, did_you_mean

ENVIRONMENTS: dict[str, ModuleType] = {"lifeops": lifeops, "lifestack": lifestack, "teamsclone": teamsclone}
"""Name -> package. A package has:

`Document`, the class of its documents, every field with a description, and with a `scenario_id`; `Action`, that of its
actions; `Environment` and `Limits` of `jaxenv`;
`problems(document, limits)` and `warnings(document)`; `compile(document, limits)`, `decompile(scenario, id)` and
`limits_of(scenario)`; `page(document, name)`; and for `Codec` `choices(env, state, params)`,
`canonical(action, document, state)`, `document_actions(document, state, moves)`, `observation(document, state)` and
`has_ended(document, state)`. Where there is a planner, `winnable_by_search(scenario)` answers `"yes"`, `"no"` or
`"unknown"`: `check` asks it, loading does not. Where the arrays of several documents refer to something that they
share, `bank(documents, limits)` makes the bank of them; else it is the stack of what `compile` gives for each. Where
telling takes more, such as whose eyes these are, `standpoint(env, params, documents, agent)` makes it, and the five
functions for `Codec` take it as a last argument.

In `library/` stand a folder of its documents, `NAME.example.yaml`, and `NAME.schema.json`, which `compile` writes.
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
