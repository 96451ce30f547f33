"""Docstrings in the reference: the comment of a field becomes its docstring on the site, and examples become code.

The comment stands beside the field, or above it and those that follow without their own comment. A field without a
comment, whose type is a record of this project, gets the docstring of that record.
"""

import ast
import io
import re
import tokenize
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>{3} .*(?:\n.+)*", re.MULTILINE)


class Fields(griffe.Extension):
    """Gives annotated fields of classes a docstring, where they have none."""

    def on_class_members(self, *, node: Any, cls: griffe.Class, agent: Any, **_: Any) -> None:
        """Reads the comments in the body of a class."""
        if not isinstance(node, ast.ClassDef):  # it was imported and not read
            return
        found = comments_of(node, agent.code)
        for name, comment in found.items():
            member = cls.members[name]
            if member.docstring is None:
                member.docstring = griffe.Docstring(comment, parent=member)  # pyright: ignore[reportArgumentType]

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Gives groups, such as those of the settings, the docstrings of their classes."""
        for field in fields_in(pkg):
            kind = record_of(field) if field.docstring is None else None
            if kind is not None and kind.docstring is not None:
                field.docstring = griffe.Docstring(kind.docstring.value.partition("\n\n")[0], parent=field)


def comments_of(node: ast.ClassDef, code: str) -> dict[str, str]:
    """Name of a field -> its comment, for the annotated ones in the body of a class."""
    beside, alone = _comments(code)
    found: dict[str, str] = {}
    shared, after = "", 0  # the comment above the last field, and the line where another would share it
    for field in node.body:
        if not (isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)):
            continue
        first, last = field.lineno, field.end_lineno or field.lineno
        start = first
        while start - 1 in alone:
            start -= 1
        above = " ".join(alone[line] for line in range(start, first))
        shared = above or (shared if first == after and last not in beside else "")
        if comment := " ".join(text for text in (shared, beside.get(last, "")) if text):
            found[field.target.id] = comment
        after = last + 1
    return found


def _comments(code: str) -> tuple[dict[int, str], dict[int, str]]:
    """Line -> comment, of those beside code, and of those that have a line for themselves."""
    beside: dict[int, str] = {}
    alone: dict[int, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
            is_alone = not token.line[: token.start[1]].strip()
            (alone if is_alone else beside)[token.start[0]] = token.string.lstrip("#").strip()
    return beside, alone


def fields_in(parent: griffe.Module | griffe.Class) -> list[griffe.Attribute]:
    """The annotated attributes of all classes of a package."""
    found = []
    for member in parent.members.values():
        if isinstance(member, griffe.Module | griffe.Class):
            found += fields_in(member)
        elif isinstance(parent, griffe.Class) and isinstance(member, griffe.Attribute) and member.annotation:
            found.append(member)
    return found


def record_of(field: griffe.Attribute) -> griffe.Class | None:
    """The class of this project that annotates a field, or None."""
    path = getattr(field.annotation, "canonical_path", "")
    package = field.package.path
    if not path.startswith(f"{package}."):
        return None
    found: Any = field.package
    for part in path.split(".")[1:]:
        found = found.members.get(part)
        if found is None:
            return None
    return found if isinstance(found, griffe.Class) else None


class Examples(griffe.Extension):
    """Puts fences around examples that are in no section of their docstring (`Examples:` is a section)."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrites the docstring of whatever is read."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
