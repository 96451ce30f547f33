"""Times in words, and words for weeks that have none: banks from which a week takes names by its numbers."""

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jaxenv.envs.week.types import SLOTS
from jaxenv.rendering import text

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri")
MORNING, SLOT = 8 * 60, 15  # minutes


def clock(slot: int) -> str:
    """A slot of the day as on a clock.

    >>> clock(6), clock(40)
    ('9:30', '18:00')
    """
    return text.clock(MORNING + SLOT * slot)


def moment(time: int) -> str:
    """A time of the week.

    >>> moment(46), moment(200)
    ('Tue 9:30', 'Fri 18:00')
    """
    day = time // SLOTS
    return f"{DAYS[day]} {clock(time - SLOTS * day)}" if day < len(DAYS) else end(time)


def end(time: int) -> str:
    """A time of the week at which something ends: the evening, and not the next morning.

    >>> end(80), moment(80)
    ('Tue 18:00', 'Wed 8:00')
    """
    day = max(time - 1, 0) // SLOTS
    return f"{DAYS[day]} {clock(time - SLOTS * day)}"


def span(slots: int) -> str:
    """A number of slots as hours and minutes.

    >>> span(3), span(4), span(10)
    ('45 min', '1 h', '2 h 30')
    """
    hours, quarters = divmod(slots, 4)
    minutes = f"{SLOT * quarters}" if quarters else ""
    return f"{hours} h {minutes}".rstrip() if hours else f"{minutes or 0} min"


@functools.cache
def banks(wording: str) -> dict[str, Any]:
    """The banks of words by kind; `wording` is usual or held_out, and no name of one is in the other."""
    return json.loads(Path(__file__).with_name("words.json").read_text("utf-8"))[wording]


def drawn(wording: str, kind: str, seed: int, count: int) -> list[Any]:
    """`count` entries of a bank, which begin at a place that hangs on the seed; after the last comes the first."""
    bank: Sequence[Any] = banks(wording)[kind]
    return [bank[(seed + number) % len(bank)] for number in range(count)]
