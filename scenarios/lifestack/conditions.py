"""The conditions of a LifeStack document, in preconditions, milestones, success and failure."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import WrapValidator

from scenarios.lifestack.fields import Operator, Value
from scenarios.text.records import ListOf, Name, NotEmpty, Record


class Comparison(Record):
    """What a precondition asks of its key, where it is not to equal a value."""

    op: Operator
    """eq, ne, gt, lt, ge or le; the last four hold between numbers alone."""
    value: Value
    """What the key is compared with; null for absent."""


class Condition(Record):
    """One condition on a fact or a metric."""

    key: Name
    """A fact, or a metric path such as mental_wellbeing.stress_level."""
    value: Value
    """What it is compared with; null for absent, a number for a metric."""
    op: Operator = "eq"
    """eq, ne, gt, lt, ge or le; the last four between numbers, and for metrics alone."""

    @property
    def alternatives(self) -> "tuple[Condition, ...]":
        """The conditions of which one must hold: this one."""
        return (self,)


class AnyOf(Record):
    """Several conditions of which one is enough."""

    any: NotEmpty[Condition]
    """True as soon as one of them holds."""

    @property
    def alternatives(self) -> tuple[Condition, ...]:
        """The conditions of which one must hold."""
        return self.any


def _member(member: Any, validate: Any) -> Condition | AnyOf:
    """A condition, or several under `any`."""
    if isinstance(member, Condition | AnyOf):
        return member
    record = AnyOf if isinstance(member, Mapping) and "any" in member else Condition
    return record.model_validate(member)


def _precondition(wanted: Any, validate: Any) -> Any:
    """A comparison if a mapping has `op`; anything else is a value to equal."""
    if isinstance(wanted, Mapping) and "op" in wanted:
        return Comparison.model_validate(wanted)
    return validate(wanted)


class _OrValue:
    """Tells editors that a mapping with `op` is a comparison, and anything else a value."""

    def __get_pydantic_json_schema__(self, core_schema: Any, inner: Any) -> dict[str, Any]:
        comparison, _ = inner(core_schema)["anyOf"]
        return {"anyOf": [comparison, {"not": {"type": "object", "required": ["op"]}}]}


Members = ListOf[Annotated[Condition | AnyOf, WrapValidator(_member)]]
Preconditions = dict[str, Annotated[Comparison | Value, WrapValidator(_precondition), _OrValue()]]
