"""The nearest valid name, for the end of an error about an unknown one."""

import difflib
from collections.abc import Iterable
from typing import Any

MIN_SIMILARITY = 0.5  # of a name that is suggested, as `difflib` measures it


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
    return f"{did_you_mean(word, names)} Available: {', '.join(names)}."


def nearest(word: Any, names: Iterable[str]) -> str | None:
    """The name nearest to `word` or starting with it, ignoring case; None if none is near.

    Of names that are as near, that with the same first letter, then with the same last: `le` for `lte`, not `lt`.
    """
    word = str(word).lower()
    plain = {name.lower(): name for name in names}
    begun = [name for name in plain if word and name.startswith(word)]
    if begun:
        return plain[begun[0]]

    def nearness(name: str) -> tuple[float, bool, bool]:
        return difflib.SequenceMatcher(None, name, word).ratio(), name[:1] == word[:1], name[-1:] == word[-1:]

    found = max(difflib.get_close_matches(word, plain, cutoff=MIN_SIMILARITY), key=nearness, default=None)
    return None if found is None else plain[found]
