"""Errors that teach: the place, the finding and the expectation; `jaxenv.host.names` adds the nearest name."""

import itertools
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

Path = tuple[str | int, ...]
"""Keys and list indices that lead from a document to one of its parts; () is the document itself."""

MAX_QUOTE = 60  # characters of a found value or a name that a message quotes
MAX_DIGITS = 100  # of a number as it is written
MAX_LINE = 1000  # characters of a problem
MAX_TOLD = 20  # problems of a file
MAX_PROBLEMS = 200  # of several files
MAX_TEXT = 8000  # characters of all problems of a file

_CONTROL = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))} | {0x2028: " ", 0x2029: " "}


class ScenarioError(ValueError):
    """Text that is not a scenario, or an action that is not legal now.

    >>> import scenarios
    >>> try:
    ...     scenarios.schema("lifeop")
    ... except scenarios.ScenarioError as error:
    ...     print(error)
    no environment 'lifeop' has documents. Did you mean 'lifeops'? Available: lifeops, lifestack, ...

    Attributes:
        problems: a line each; together they are the message.
        warnings: remarks on allowed but rarely intended contents of otherwise valid documents, a line each.
    """

    def __init__(self, *problems: str, warnings: Sequence[str] = ()) -> None:
        more = len(problems) - MAX_PROBLEMS
        self.problems = (*map(as_line, problems[:MAX_PROBLEMS]), *([f"and {more} more."] if more > 0 else ()))
        self.warnings = tuple(warnings)
        super().__init__("\n".join(self.problems))


class Problem(NamedTuple):
    """A remark about one part of a document."""

    path: Path
    remark: str | Callable[[], str]
    """The problem in words; a function if wording it takes a search, so that unreported problems cost nothing."""

    @property
    def text(self) -> str:
        """The problem, in a sentence."""
        return self.remark if isinstance(self.remark, str) else self.remark()


class OverCapacity(Problem):
    """A remark about a table that is longer than the arrays, and may be very long."""


def as_line(text: str) -> str:
    r"""Text that can be printed, on one line of bounded length.

    >>> as_line("a\nb \ud800")
    'a\\x0ab ?'
    """
    text = text if len(text) <= MAX_LINE else f"{text[: MAX_LINE - 1]}…"
    return text.encode("utf-8", "replace").decode().translate(_CONTROL)


def told(sentences: Iterable[Callable[[], str]], where: str) -> list[str]:
    """The first problems of a file in words, and how many more there are.

    Args:
        sentences: words for each problem; all are counted, but only the first are worded.
        where: the name of the file.
    """
    sentences = iter(sentences)
    lines: list[str] = []
    for sentence in itertools.islice(sentences, MAX_TOLD):
        lines.append(as_line(sentence()))
        if sum(map(len, lines)) > MAX_TEXT:
            break
    more = sum(1 for _ in sentences)
    return [*lines, f"{where}: and {more} more."] if more else lines


def quote(value: Any) -> str:
    """A value as a document writes it, shortened; half a character is written by its number.

    >>> quote(["a"]), quote(10**5000)
    ('["a"]', 'a number of more than 4983 digits')
    """
    try:
        text = in_digits(value) if type(value) is int else json.dumps(value, ensure_ascii=False, default=_told)
    except Exception:  # it contains itself or too long a number, or its class has no usable text
        text = class_of(value)
    text = text.encode(errors="backslashreplace").decode()
    return text if len(text) <= MAX_QUOTE else f"{text[: MAX_QUOTE - 1]}…"


def _told(value: Any) -> str:
    """The text of a value without a JSON form, or its class if that text is an address in memory."""
    return class_of(value) if type(value).__str__ is object.__str__ else str(value)


def in_digits(number: float) -> str:
    """A number of any size; Python refuses to print the longest."""
    digits = abs(number).bit_length() * 3 // 10 if isinstance(number, int) else 0
    return f"a number of more than {digits} digits" if digits > MAX_DIGITS else str(number)


def class_of(value: Any) -> str:
    """The name of the class of a value, shortened.

    >>> class_of(3)
    'int'
    """
    return type.__dict__["__name__"].__get__(type(value))[:MAX_QUOTE]  # whatever a class of that class calls it


def named(name: str) -> str:
    """A name in quotes, shortened.

    >>> named("e1"), len(named("e" * 1000))
    ("'e1'", 63)
    """
    return repr(name if len(name) <= MAX_QUOTE else f"{name[:MAX_QUOTE]}…")


def in_words(path: Path) -> str:
    """A part of a document in words.

    >>> in_words(("calendar", 2, "title"))
    "calendar item 3 'title'"
    """
    return " ".join(part_in_words(part, is_first=not place) for place, part in enumerate(path))


def part_in_words(part: str | int, is_first: bool) -> str:
    """A key or an index in words."""
    if isinstance(part, int):
        return f"item {part + 1}"
    return part[:MAX_QUOTE] if is_first else named(part)
