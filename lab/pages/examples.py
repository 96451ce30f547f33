"""The examples in docstrings as code: a paragraph that begins with `>>>` is a quote to Markdown."""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>{3} .*(?:\n.+)*", re.MULTILINE)


class Examples(griffe.Extension):
    """Puts fences around examples that are in no section of their docstring (`Examples:` is a section)."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrites the docstring of whatever is read."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
