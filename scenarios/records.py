"""What the documents of every environment share: strict records, and what is wrong with one in plain words."""

from collections.abc import Iterable
from typing import Any, get_args

import pydantic
from pydantic import BaseModel, ConfigDict, ValidationError, ValidatorFunctionWrapHandler
from pydantic_core import PydanticCustomError

from scenarios.errors import Path, Problem, did_you_mean, nearest, quote

CONTAINERS = {  # a kind of error of pydantic -> what was expected
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "mapping_type": "a mapping",
    "bool_type": "true or false",
    "string_type": "text",
}


class Record(BaseModel):
    """A frozen part of a document; unknown fields and wrong types are refused.

    It can be read like the mapping that it came from: `day["calendar"]`, `{**day, "max_steps": 3}`.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def __getitem__(self, field: str) -> Any:
        """The value of a field; a KeyError for an unknown one."""
        if field not in type(self).model_fields:
            raise KeyError(f"no field {field!r}.{did_you_mean(field, type(self).model_fields)}")
        return getattr(self, field)

    def keys(self) -> Iterable[str]:
        """The names of the fields."""
        return type(self).model_fields.keys()

    def plain(self) -> dict[str, Any]:
        """Lists and mappings without what is empty (null, "", a list or mapping of nothing)."""
        fields = ((name, getattr(self, name)) for name in self.keys())
        return {name: _plain(value) for name, value in fields if value not in (None, "", (), {})}


def expect(what: str, names: Iterable[str] = ()) -> pydantic.WrapValidator:
    """Says in an error what was expected instead, and the name nearest to what was found."""
    names = tuple(names)

    def check(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
        try:
            return validate(value)
        except ValidationError:
            hint = did_you_mean(value, names) if isinstance(value, str) else ""
            raise PydanticCustomError("expected", "expected {what}.{hint}", {"what": what, "hint": hint}) from None

    return pydantic.WrapValidator(check)


def one_of(names: Iterable[str]) -> pydantic.WrapValidator:
    """`expect` for a field that takes one of a few names."""
    return expect(f"one of {', '.join(names)}", names)


def problems_of(error: ValidationError, document: type[Record]) -> list[Problem]:
    """What pydantic found, in the order of its fields.

    A field that is missing is not told where an unknown one of the same record is nearly named like it.
    """
    unknown, missing, problems = [], [], []
    for found in error.errors(include_url=False):
        path, kind, value = found["loc"], found["type"], found["input"]
        if kind == "extra_forbidden":
            unknown.append(path)
            problems.append(Problem(path, _unknown_field(path, document)))
        elif kind == "missing":
            missing.append(path)
            problems.append(Problem(path, f"the field {path[-1]!r} is missing."))
        else:
            expected = f"expected {CONTAINERS[kind]}." if kind in CONTAINERS else found["msg"]
            name = f"{path[-1]} is" if path and isinstance(path[-1], str) else "found"
            problems.append(Problem(path, f"{name} {quote(value)}, {expected}"))
    misspelt = {(*path[:-1], nearest(path[-1], [p[-1] for p in missing if p[:-1] == path[:-1]])) for path in unknown}
    return [problem for problem in problems if problem.path not in misspelt]


def _unknown_field(path: Path, document: type[Record]) -> str:
    """Names the fields that a record has."""
    fields = list(_record_at(path[:-1], document).model_fields)
    hint = did_you_mean(path[-1], fields)
    return f"unknown field {path[-1]!r}.{hint} The fields are {', '.join(fields)}."


def _record_at(path: Path, document: type[Record]) -> type[Record]:
    """The class of the record that stands at a path."""
    for part in path:
        if isinstance(part, str):
            document = _record_in(document.model_fields[part].annotation) or document
    return document


def _record_in(annotation: Any) -> type[Record] | None:
    """The record that an annotation such as `tuple[Event, ...]` holds."""
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return annotation
    found = (_record_in(argument) for argument in get_args(annotation))
    return next((record for record in found if record), None)


def _plain(value: Any) -> Any:
    """Records as mappings and tuples as lists."""
    if isinstance(value, Record):
        return value.plain()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value
