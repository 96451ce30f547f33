"""The field types of a LifeOps document: times, levels, weights, kinds and weekdays."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from jaxenv.envs.lifeops.types import (
    DAY_END,
    KINDS,
    MAX_MINUTES,
    MAX_TRAVEL,
    MAX_WEIGHT,
    NO_LIMIT,
    WEEKDAYS,
)
from scenarios.lifeops.clock import OrClock, minutes_of
from scenarios.text.records import expect, number_from, one_of


def _in_order(window: tuple[int, int]) -> tuple[int, int]:
    if window[0] > window[1]:
        raise ValueError
    return window


Minute = Annotated[
    int,
    Field(ge=0, le=DAY_END),
    BeforeValidator(minutes_of),
    OrClock(),
    expect(f'a time of day such as "14:10", or minutes after midnight: an integer from 0 to {DAY_END}'),
]
Level = Annotated[int, Field(ge=1, le=3), expect("1, 2 or 3 (the highest)")]
Weight = Annotated[float, *number_from(0, MAX_WEIGHT)]
Window = Annotated[
    tuple[Minute, Minute],
    Field(strict=False),
    AfterValidator(_in_order),
    expect(
        f'[from, to]: two times of day such as "14:10", or in minutes after midnight, 0 to {DAY_END}, from not after to'
    ),
]
Travel = Annotated[int, Field(ge=0, le=MAX_TRAVEL), expect(f"minutes: an integer from 0 to {MAX_TRAVEL}")]
Work = Annotated[int, Field(ge=0, le=MAX_MINUTES), expect(f"minutes: an integer from 0 to {MAX_MINUTES}")]
DueDay = Annotated[
    int,
    Field(ge=0, lt=NO_LIMIT),
    expect(f"0 (today), 1 (tomorrow), … below {NO_LIMIT}, or null"),
]
Steps = Annotated[int, Field(ge=1), expect("an integer of at least 1")]
Kind = Annotated[Literal["meeting", "obligation", "focus", "personal"], one_of(KINDS)]
Weekday = Annotated[
    Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    one_of(WEEKDAYS),
]
