"""The field types of a LifeStack document: names, amounts, values of facts, operators, and conditions."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, WrapValidator
from pydantic_core import PydanticCustomError

from jaxenv.envs.lifestack import actions
from jaxenv.envs.lifestack.actions import INSPECT, VERBS
from jaxenv.envs.lifestack.metrics import HIGHEST, METRICS, UNIT
from jaxenv.envs.lifestack.types import CENTS, EVERY_STEP, MAX_AMOUNT, MAX_ENERGY, MAX_REWARD, NEVER
from scenarios.text.input_budget import RefusedInput, plain
from scenarios.text.records import ListOf, Name, NotEmpty, Record, expect, number_from, one_of

OPERATORS = ("eq", "ne", "gt", "lt", "ge", "le")
ORDERING = ("gt", "lt", "ge", "le")  # which hold between numbers alone
LAST_STEP = NEVER - 1


def is_number(value: Any) -> bool:
    """Whether a value compares as a number, which true and false do not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain_value(value: Any) -> Any:
    """A value that a file could hold."""
    try:
        return plain(value)
    except RefusedInput as error:
        raise PydanticCustomError("value", "{problem}", {"problem": str(error)}) from None


ACTION_TYPES = (*VERBS, INSPECT)

Verb = Annotated[actions.Verb, one_of(VERBS)]
Operator = Annotated[Literal["eq", "ne", "gt", "lt", "ge", "le"], one_of(OPERATORS)]
Value = Annotated[Any, AfterValidator(_plain_value)]
Amount = Annotated[float, *number_from(0, MAX_AMOUNT // CENTS)]
Energy = Annotated[float, *number_from(0, MAX_ENERGY // CENTS)]
Reward = Annotated[float, *number_from(-MAX_REWARD, MAX_REWARD)]
Probability = Annotated[float, *number_from(0, 1)]
Change = Annotated[float, *number_from(-HIGHEST // UNIT, HIGHEST // UNIT)]
Steps = Annotated[int, Field(ge=1, le=LAST_STEP), expect(f"a number of steps: an integer from 1 to {LAST_STEP}")]
EventStep = Annotated[
    int,
    Field(ge=EVERY_STEP, le=LAST_STEP),
    expect(f"a step: an integer from 0 to {LAST_STEP}, or {EVERY_STEP} for any step"),
]
Difficulty = Annotated[int, Field(ge=1, le=5), expect("an integer from 1 to 5 (the hardest)")]
Facts = dict[str, Value]
Changes = Annotated[dict[str, Change], Field(json_schema_extra={"propertyNames": {"enum": [*METRICS]}})]
Names = ListOf[str]


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
