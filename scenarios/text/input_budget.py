"""Limits on the cost of a file or a Python document: its bytes, values, levels, characters and digits.

The budget is spent before any computation on the input, so that no input is endless, whichever parser reads it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

from pydantic import BaseModel

from jaxenv.host.regular_files import RefusedFile, TooLarge, read_regular
from scenarios.text.errors import MAX_DIGITS, Path, class_of, in_digits, in_words, quote

MAX_BYTES = 1_000_000  # of a file
MAX_DEPTH = 20  # levels of nesting; a value that contains itself is endless
MAX_VALUES = 50_000  # of a file or a Python document; an alias counts as often as it is used
MAX_DOCUMENTS = 50_000  # at hand, each with a budget of its own
MAX_CHARACTERS = 2_000_000  # of its text, likewise
MAX_NUMBER = 2**64  # of any number, either sign

PLAIN = frozenset((type(None), bool, int, float, str, list, dict))
TOO_DEEP = f"more than {MAX_DEPTH} levels of nesting."


class RefusedInput(ValueError):
    """The reason for refusing an input, in a sentence without its place."""


class Budget:
    """The remaining budget of one input.

    >>> Budget().spend(depth=21)
    Traceback (most recent call last):
    scenarios.text.input_budget.RefusedInput: more than 20 levels of nesting.

    Attributes:
        nodes: how many more a parser may meet, each once.
        values: how many more there may be, one as often as it is used.
        characters: how many more their text may have, likewise.
        line: the line that the reader of a file has reached, from 1, for errors.
        place: the place that the reader of a Python document has reached, likewise.
    """

    def __init__(self, values: int = MAX_VALUES) -> None:
        self.nodes, self.values, self.characters, self.line = values, values, MAX_CHARACTERS, 1
        self.place: Path = ()
        self._too_many = f"more than {values} values, where one counts as often as it is used."

    def descend(self, depth: int) -> None:
        """Counts a node that a parser meets, before its contents are read.

        Raises:
            RefusedInput: if the budget is spent.
        """
        self.nodes -= 1
        if depth > MAX_DEPTH + 1:  # a list of documents is one more
            raise RefusedInput(TOO_DEEP)
        if self.nodes < 0:
            raise RefusedInput(self._too_many)

    def spend(self, depth: int, text: Any = "") -> None:
        """Counts a value, which may be text.

        Raises:
            RefusedInput: if that is more than there is.
        """
        self.values -= 1
        self.characters -= len(text) if isinstance(text, str) else 0
        if depth > MAX_DEPTH:
            raise RefusedInput(TOO_DEEP)
        if self.values < 0:
            raise RefusedInput(self._too_many)
        if self.characters < 0:
            raise RefusedInput(f"more than {MAX_CHARACTERS} characters, where text counts as often as it is used.")


def text_of(path: FilePath) -> str:
    """The text of a regular file; anything else, such as a pipe or a device, is not waited for.

    Raises:
        RefusedInput: if it is not a file, too large, or not UTF-8.
        OSError: if it cannot be read.
    """
    try:
        return read_regular(path, MAX_BYTES).decode("utf-8-sig")
    except TooLarge as error:
        raise RefusedInput(f"{error}: split it into several files.") from None
    except RefusedFile as error:
        raise RefusedInput(f"{error}, expected one.") from None
    except UnicodeDecodeError as error:
        raise RefusedInput(f"not UTF-8 text, at byte {error.start}.") from None


def number(word: str) -> int | float:
    """The number that a decimal word stands for, bounded before it is computed."""
    if len(word) > MAX_DIGITS:
        raise RefusedInput(f"found a number of {len(word)} digits, expected at most {MAX_DIGITS}.")
    found = int(word) if word.lstrip("+-").isdecimal() else float(word)
    return scalar(found, word)


def scalar(value: Any, word: str = "") -> Any:
    """A text, number, truth value or null, which later steps can compute with and print.

    Args:
        value: as it was read.
        word: the word as written.
    """
    if isinstance(value, int | float) and not abs(value) <= MAX_NUMBER:  # nan is not either
        raise RefusedInput(f"found {word or in_digits(value)}, expected a finite number, of size {MAX_NUMBER} at most.")
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise RefusedInput(f"found {quote(value)}, text with half a character (a lone surrogate).") from None
    return value


def plain(value: Any, values: int = MAX_VALUES) -> Any:
    """A Python document as a file would hold it; a record as the mapping of its fields, since it need not be checked.

    >>> plain({"tasks": ({"task_id": "t1"},)})
    {'tasks': [{'task_id': 't1'}]}
    >>> plain({"tasks": [{None: 1}]})
    Traceback (most recent call last):
    scenarios.text.input_budget.RefusedInput: tasks item 1: found null as a key, expected text.

    Args:
        value: the document.
        values: how many it may hold.

    Raises:
        RefusedInput: for values that no file could hold, such as another type or a list that contains itself; with the
            place in the document.
    """
    budget = Budget(values)
    try:
        return _plain(value, (), budget)
    except RefusedInput as error:
        place = in_words(budget.place)
        raise RefusedInput(f"{place}: {error}" if place else str(error)) from None


def _plain(value: Any, path: Path, budget: Budget) -> Any:
    """The value at a path; an endless value is followed until the budget is spent."""
    budget.place = path
    value = _fields(value) if isinstance(value, BaseModel) else builtin(value)
    budget.spend(len(path), value)
    if value is None or isinstance(value, int | float | str):
        return scalar(value)
    found: dict[str | int, Any] = {}
    for part, item in _entries(value):
        found[part] = _plain(item, (*path, part), budget)
        budget.place = path
    return found if isinstance(value, Mapping) else list(found.values())


def _entries(value: Any) -> Iterator[tuple[str | int, Any]]:
    """The entries of a mapping or list: (key or number, value)."""
    if isinstance(value, Mapping):
        return ((_key(key), item) for key, item in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return enumerate(value)
    raise RefusedInput(f"found {class_of(value)}, expected text, a number, a list or a mapping.")


def _fields(record: BaseModel) -> dict[str, Any]:
    """The non-default values of a record, even if nothing has checked it, as after `model_construct`."""
    held, fields = vars(record), type(record).model_fields
    return {name: held[name] for name, field in fields.items() if name in held and held[name] is not field.default}


def _key(key: Any) -> str:
    """A key, which is text."""
    if not isinstance(key, str):
        found = quote(key) if type(key) in PLAIN else class_of(key)
        raise RefusedInput(f"found {found} as a key, expected text.")
    return scalar(builtin(key))


def builtin(value: Any) -> Any:
    """A number or text stripped of its own class; anything else unchanged."""
    if type(value) in PLAIN:
        return value
    plainer = {int: int.__int__, float: float.__float__, str: str.__str__}
    return next((convert(value) for kind, convert in plainer.items() if isinstance(value, kind)), value)
