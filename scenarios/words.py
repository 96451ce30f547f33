"""Words for scenarios that have none: each takes entries of a bank, from a place that follows from its numbers."""

import functools
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jaxenv.host.names import require_one_of
from scenarios.text.errors import ScenarioError, quote

USUAL, HELD_OUT = "usual", "held_out"
WORDINGS = (USUAL, HELD_OUT)
"""The halves of each bank: no name of one is in the other."""


def require_wording(wording: Any) -> None:
    """Refuses what is no half.

    >>> require_wording("heldout")
    Traceback (most recent call last):
    scenarios.text.errors.ScenarioError: no wording "heldout". Did you mean 'held_out'? Available: usual, held_out.

    Raises:
        ScenarioError: with the nearest one.
    """
    require_one_of(wording, WORDINGS, f"no wording {quote(wording)}", ScenarioError)


def drawn(environment: str, kind: str, seed: int, wording: str = USUAL) -> Iterator[Any]:
    """The entries of one half of a bank, without end: after the last comes the first.

    >>> import itertools
    >>> list(itertools.islice(drawn("teamsclone", "users", seed=14), 3))
    ['Cem', 'Emil', 'Ada']
    """
    half = _banks(environment)[kind][WORDINGS.index(wording) :: len(WORDINGS)]
    return itertools.islice(itertools.cycle(half), seed % len(half), None)


@functools.cache
def _banks(environment: str) -> dict[str, list[Any]]:
    return json.loads(Path(__file__).with_name(environment).joinpath("words.json").read_text("utf-8"))
