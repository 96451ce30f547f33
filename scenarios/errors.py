"""Errors that teach: the place, what was found and what was expected; `jaxenv.core.names` adds the nearest name."""

import json
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
        self.problems = tuple(problem.encode("utf-8", "replace").decode() for problem in problems)  # can be printed
        super().__init__("\n".join(self.problems))


class Problem(NamedTuple):
    """A remark about one part of a document."""

    path: Path
    text: str


def quote(value: Any) -> str:
    """A value as a document writes it, shortened."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_QUOTE else f"{text[: MAX_QUOTE - 1]}…"
