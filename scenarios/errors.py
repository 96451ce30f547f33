"""Errors that teach: the place, what was found, what was expected, and the nearest valid name."""

import difflib
import json
from collections.abc import Iterable
from typing import Any, NamedTuple

Path = tuple[str | int, ...]
"""Keys and list indices that lead from a document to one of its parts; () is the document itself."""

MAX_QUOTE = 60  # characters of a found value that a message quotes


class ScenarioError(ValueError):
    """Text that is not a scenario, or an action that is not legal now.

    >>> import scenarios
    >>> try:
    ...     scenarios.schema("lifeop")
    ... except scenarios.ScenarioError as error:
    ...     print(error)
    no environment 'lifeop' has documents. Did you mean 'lifeops'? Available: lifeops, lifestack, teamsclone.

    Attributes:
        problems: a line each; together they are the message.
    """

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class Problem(NamedTuple):
    """A remark about one part of a document."""

    path: Path
    text: str


def quote(value: Any) -> str:
    """A value as a document writes it, shortened."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_QUOTE else f"{text[: MAX_QUOTE - 1]}…"


def did_you_mean(word: Any, names: Iterable[str]) -> str:
    """` Did you mean 'x'?` with the name nearest to `word`, or nothing if none is near."""
    near = nearest(word, names)
    return f" Did you mean {near!r}?" if near else ""


def nearest(word: Any, names: Iterable[str]) -> str | None:
    """The name nearest to `word` or starting with it, ignoring case; None if none is near."""
    word = str(word).lower()
    plain = {name.lower(): name for name in names}
    begun = [name for name in plain if word and name.startswith(word)]
    found = begun or difflib.get_close_matches(word, plain, n=1, cutoff=0.5)
    return plain[found[0]] if found else None
