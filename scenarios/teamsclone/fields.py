"""The field types of a TeamsClone document: names, texts, rates, weights, kinds and presences."""

from typing import Annotated, Literal

from pydantic import Field

from jaxenv.envs.teamsclone.types import KINDS, MAX_AGENTS, MAX_WAIT, PRESENCE
from scenarios.text.records import expect, number_from, one_of

MAX_CHARACTERS = 1000  # of a text or a message
MAX_WEIGHT = 1_000_000
LAST_MILLISECOND = 253_402_300_799_999  # of the year 9999


Text = Annotated[
    str,
    Field(max_length=MAX_CHARACTERS, pattern=r"\S"),
    expect(f"a text that is not blank, of at most {MAX_CHARACTERS} characters"),
]
Probability = Annotated[float, *number_from(0, 1, "a probability: a number")]
Weight = Annotated[float, *number_from(0, MAX_WEIGHT, "a weight: a number")]
Row = Annotated[
    tuple[Weight, Weight, Weight, Weight],
    Field(strict=False),
    expect(f"four weights from 0 to {MAX_WEIGHT}, for {', '.join(PRESENCE)} next"),
]
Wait = Annotated[int, Field(ge=1, le=MAX_WAIT), expect(f"a number of steps: an integer from 1 to {MAX_WAIT}")]
Agent = Annotated[int, Field(ge=0, le=MAX_AGENTS - 1), expect(f"an agent: an integer from 0 to {MAX_AGENTS - 1}")]
Milliseconds = Annotated[
    int, Field(ge=0, le=LAST_MILLISECOND), expect(f"milliseconds since 1970: an integer from 0 to {LAST_MILLISECOND}")
]
Presence = Annotated[Literal["available", "busy", "away", "offline"], one_of(PRESENCE)]
Kind = Annotated[
    Literal["chatter", "question", "greeting", "announcement", "mention", "invitation", "reply", "status", "thanks"],
    one_of(KINDS),
]
