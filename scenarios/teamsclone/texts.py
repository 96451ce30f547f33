"""The table of texts of a bank: what the text codes of several workspaces mean."""

import re
from collections.abc import Iterable

from jaxenv.envs.teamsclone.texts import default_table
from jaxenv.envs.teamsclone.types import MOST_TEXTS
from scenarios.teamsclone.document import Workspace

NUMBERED = re.compile(r"text ([1-9]\d{0,5})")


def texts(workspaces: Iterable[Workspace]) -> list[str]:
    """The rows of the table: the usual texts, then each workspace's own as they are met.

    A text that goes by its code, as `text_of` says one, keeps its row; a row that is left over goes by its code too.
    """
    usual = default_table()
    met = dict.fromkeys(text for workspace in workspaces for text in workspace.all_texts())
    own = [text for text in met if text not in usual]
    placed = {code: text for text in own if (code := _code_of(text, len(usual))) is not None}
    others = iter([text for text in own if text not in placed.values()])
    length = max(len(usual) + len(own), *(code + 1 for code in placed), 0)
    return usual + [placed.get(code) or next(others, text_of(code)) for code in range(len(usual), length)]


def text_of(code: int) -> str:
    """The usual text of a code; where only a bank's own table knows it, its number."""
    usual = default_table()
    return usual[code] if code < len(usual) else f"text {code}"


def _code_of(text: str, first: int) -> int | None:
    """The code, `first` or above, by which a text goes."""
    found = NUMBERED.fullmatch(text)
    code = int(found[1]) if found else -1
    return code if first <= code < MOST_TEXTS else None
