"""Times of day as documents write them: as on a clock, `"9:30"`, or in minutes after midnight, 570."""

import re
from typing import Any

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
