"""The field types of a LifeStack document: names, amounts, values of facts, operators."""

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from jaxenv.envs.lifestack import actions
from jaxenv.envs.lifestack.actions import INSPECT, VERBS
from jaxenv.envs.lifestack.metrics import METRICS
from jaxenv.envs.lifestack.types import CENTS, EVERY_STEP, MAX_ENERGY, NEVER
from scenarios.records import expect, number_from, one_of

OPERATORS = ("eq", "ne", "gt", "lt", "ge", "le")
ORDERING = ("gt", "lt", "ge", "le")  # which hold between numbers alone
MAX_AMOUNT = 10_000_000  # of hours or money
MAX_REWARD = 1000
LAST_STEP = NEVER - 1


def is_number(value: Any) -> bool:
    """Whether a value compares as a number, which true and false do not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_plain(value: Any) -> bool:
    """Whether a file could hold it as the value of a fact."""
    if isinstance(value, list):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) for key in value) and all(map(_is_plain, value.values()))
    return value is None or isinstance(value, str | bool) or (is_number(value) and math.isfinite(value))


def _plain_value(value: Any) -> Any:
    if not _is_plain(value):
        message = "expected null, true, false, a finite number, text, or a list or mapping of them."
        raise PydanticCustomError("value", message)
    return value


ACTION_TYPES = (*VERBS, INSPECT)

Verb = Annotated[actions.Verb, one_of(VERBS)]
Operator = Annotated[Literal["eq", "ne", "gt", "lt", "ge", "le"], one_of(OPERATORS)]
Value = Annotated[Any, AfterValidator(_plain_value)]
Amount = Annotated[float, *number_from(0, MAX_AMOUNT)]
Energy = Annotated[float, *number_from(0, MAX_ENERGY // CENTS)]
Reward = Annotated[float, *number_from(-MAX_REWARD, MAX_REWARD)]
Probability = Annotated[float, *number_from(0, 1)]
Change = Annotated[float, *number_from(-100, 100)]
Steps = Annotated[int, Field(ge=1, le=LAST_STEP), expect(f"a number of steps: an integer from 1 to {LAST_STEP}")]
EventStep = Annotated[
    int,
    Field(ge=EVERY_STEP, le=LAST_STEP),
    expect(f"a step: an integer from 0 to {LAST_STEP}, or {EVERY_STEP} for any step"),
]
Difficulty = Annotated[int, Field(ge=1, le=5), expect("an integer from 1 to 5 (the hardest)")]
Facts = dict[str, Value]
Changes = Annotated[dict[str, Change], Field(json_schema_extra={"propertyNames": {"enum": [*METRICS]}})]
Names = Annotated[tuple[str, ...], Field(strict=False)]
