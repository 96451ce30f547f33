"""The table of texts of a bank: the meaning of the text codes of several workspaces."""

import re
from collections.abc import Iterable

from jaxenv.envs.teamsclone.texts import default_table
from jaxenv.envs.teamsclone.types import MAX_TEXTS
from scenarios.teamsclone.document import Workspace

NUMBERED = re.compile(r"text ([1-9]\d{0,5})")


def texts(workspaces: Iterable[Workspace]) -> list[str]:
    """The rows of the table: the default texts, then each workspace's own in the order of their first use.

    A text that names its code, as `text_of` writes one, keeps its row; a row that is left over names its code too.

    >>> import scenarios
    >>> rows = texts(scenarios.load("teamsclone").documents)
    >>> rows[0], len(rows)
    ('The coffee machine is fixed again.', 315)
    """
    default = default_table()
    used = dict.fromkeys(text for workspace in workspaces for text in workspace.all_texts())
    own = [text for text in used if text not in default]
    placed = {code: text for text in own if (code := _code_of(text, len(default))) is not None}
    others = iter([text for text in own if text not in placed.values()])
    length = max(len(default) + len(own), *(code + 1 for code in placed), 0)
    return default + [placed.get(code) or next(others, text_of(code)) for code in range(len(default), length)]


def codes_of(workspaces: Iterable[Workspace]) -> dict[str, int]:
    """Text -> code, in the order of the codes."""
    return {text: code for code, text in enumerate(texts(workspaces))}


def text_of(code: int) -> str:
    """The default text of a code; its number where only a bank's own table has it."""
    default = default_table()
    return default[code] if code < len(default) else f"text {code}"


def _code_of(text: str, first: int) -> int | None:
    """The code, `first` or above, that a text names."""
    found = NUMBERED.fullmatch(text)
    code = int(found[1]) if found else -1
    return code if first <= code < MAX_TEXTS else None
