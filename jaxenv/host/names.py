"""The nearest valid name, for the end of an error about an unknown one."""

import difflib
from collections.abc import Collection, Iterable
from typing import Any

MIN_SIMILARITY = 0.5  # of a name that is suggested, as `difflib` measures it
MAX_LENGTH = 60  # characters of a name, of which longer ones are neither suggested nor looked for
MAX_VALUE = 120  # characters of a value in a message
MAX_LISTED = 40  # names that a message lists


def did_you_mean(word: Any, names: Iterable[str]) -> str:
    """` Did you mean 'x'?` with the name nearest to `word`, or nothing if none is near.

    >>> did_you_mean("LifeOps", ("LifeOps-v0", "LifeStack-v0"))
    " Did you mean 'LifeOps-v0'?"
    """
    near = nearest(word, names)
    return f" Did you mean {near!r}?" if near else ""


def did_you_mean_one_of(word: Any, names: Iterable[str]) -> str:
    """The nearest name, then all of them.

    >>> did_you_mean_one_of("evaluat", ("evaluate", "plot"))
    " Did you mean 'evaluate'? Available: evaluate, plot."
    """
    names = list(names)
    return f"{did_you_mean(word, names)} Available: {listed(names)}."


def require_one_of(name: Any, names: Collection[str], problem: str, error: type[ValueError] = ValueError) -> None:
    """Raises an error where a name is none of those that there are.

    >>> require_one_of("evaluat", ("evaluate", "plot"), "no command 'evaluat'")
    Traceback (most recent call last):
    ValueError: no command 'evaluat'. Did you mean 'evaluate'? Available: evaluate, plot.
    """
    if name not in names:
        raise error(f"{problem}.{did_you_mean_one_of(name, names)}")


def listed(names: Iterable[str]) -> str:
    """Names with commas between them; of many, the first, and of a long one, its beginning.

    >>> listed(["a", "b"]), listed(map(str, range(100)))[-18:]
    ('a, b', '38, 39 and 60 more')
    """
    names = [name if len(name) <= MAX_LENGTH else f"{name[:MAX_LENGTH]}…" for name in names]
    more = len(names) - MAX_LISTED
    return ", ".join(names[:MAX_LISTED]) + (f" and {more} more" if more > 0 else "")


def short(text: str, most: int = MAX_VALUE) -> str:
    r"""The text of a value from a file in a message: unprintable characters are escaped, and a long text is cut.

    >>> short("relu"), short("a\nb"), len(short("x" * 10**6))
    ('relu', 'a\\nb', 121)
    """
    text = text if len(text) <= most else f"{text[:most]}…"
    return text if text.isprintable() else repr(text)[1:-1]


def printable(text: str) -> str:
    r"""A message as a terminal may have it: what would steer it, in the name of a file for example, is escaped.

    >>> printable("day\n\x1b[2J.yaml")
    'day\n\\x1b[2J.yaml'
    """
    return "".join(sign if sign.isprintable() or sign == "\n" else repr(sign)[1:-1] for sign in text)


def nearest(word: Any, names: Iterable[str]) -> str | None:
    """The name nearest to `word` or starting with it, ignoring case; None if none is near.

    Of names that are as near, that with the same first letter, then with the same last: `le` for `lte`, not `lt`.
    """
    word = str(word).lower()
    if len(word) > MAX_LENGTH:
        return None
    plain = {name.lower(): name for name in names if len(name) <= MAX_LENGTH}
    begun = [name for name in plain if word and name.startswith(word)]
    if begun:
        return plain[begun[0]]

    def nearness(name: str) -> tuple[float, bool, bool]:
        return difflib.SequenceMatcher(None, name, word).ratio(), name[:1] == word[:1], name[-1:] == word[-1:]

    found = max(difflib.get_close_matches(word, plain, cutoff=MIN_SIMILARITY), key=nearness, default=None)
    return None if found is None else plain[found]
