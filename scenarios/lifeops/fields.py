"""The field types of a LifeOps document: times of day, levels, weights, kinds and weekdays."""

import re
from typing import Annotated, Any, Literal

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
from scenarios.text.records import expect, number_from, one_of

CLOCK = r"([01]?[0-9]|2[0-3]):[0-5][0-9]|24:00"


def clock(minutes: int) -> str:
    """Minutes after midnight as on a clock.

    >>> clock(545), clock(1440)
    ('9:05', '24:00')
    """
    return f"{minutes // 60}:{minutes % 60:02}"


def minutes_of(time: Any) -> Any:
    """Minutes after midnight of a time as on a clock; anything else unchanged, so that its check can refuse it.

    >>> minutes_of("14:10"), minutes_of("09:05"), minutes_of(850), minutes_of("25:99")
    (850, 545, 850, '25:99')
    """
    if not isinstance(time, str) or not re.fullmatch(CLOCK, time):
        return time
    hours, minutes = time.split(":")
    return 60 * int(hours) + int(minutes)


class OrClock:
    """Tells editors that a time as on a clock may replace an integer."""

    def __get_pydantic_json_schema__(self, core_schema: Any, integer_schema: Any) -> dict[str, Any]:
        return {**integer_schema(core_schema), "type": ["integer", "string"], "pattern": f"^({CLOCK})$"}


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
DueDay = Annotated[int, Field(ge=0, lt=NO_LIMIT), expect(f"0 (today), 1 (tomorrow), … below {NO_LIMIT}, or null")]
Steps = Annotated[int, Field(ge=1), expect("an integer of at least 1")]
Kind = Annotated[Literal["meeting", "obligation", "focus", "personal"], one_of(KINDS)]
Weekday = Annotated[
    Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"], one_of(WEEKDAYS)
]
