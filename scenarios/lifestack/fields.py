"""The field types of a LifeStack document: names, amounts, values of facts, operators."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from jaxenv.envs.lifestack import actions
from jaxenv.envs.lifestack.actions import INSPECT, VERBS
from jaxenv.envs.lifestack.metrics import HIGHEST, METRICS, UNIT
from jaxenv.envs.lifestack.types import CENTS, EVERY_STEP, MAX_AMOUNT, MAX_ENERGY, MAX_REWARD, NEVER
from scenarios.text.input_budget import RefusedInput, plain
from scenarios.text.records import ListOf, expect, number_from, one_of

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
