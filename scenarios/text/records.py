"""Strict records, which all documents consist of, and their problems in plain words."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, TypeVar, get_args

import pydantic
from pydantic import BaseModel, ConfigDict, ValidationError, ValidatorFunctionWrapHandler
from pydantic_core import PydanticCustomError

from jaxenv.host.names import did_you_mean, nearest
from scenarios.text.errors import MAX_QUOTE, MAX_TOLD, Path, Problem, named, quote

CONTAINERS = {  # a kind of error of pydantic -> the expected value
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "bool_type": "true or false",
    "string_type": "text",
}

ItemT = TypeVar("ItemT")


class Record(BaseModel):
    """A frozen part of a document; unknown fields and wrong types are refused.

    It reads like the mapping that it came from: `day["calendar"]`, `{**day, "max_steps": 3}`.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)

    def __getitem__(self, field: str) -> Any:
        """The value of a field; a KeyError for an unknown one."""
        if field not in type(self).model_fields:
            raise KeyError(f"no field {field!r}.{did_you_mean(field, type(self).model_fields)}")
        return getattr(self, field)

    def keys(self) -> Iterable[str]:
        """The names of the fields."""
        return type(self).model_fields.keys()

    def placed(self, field: str, *inner: str) -> Iterator[tuple[Path, Any]]:
        """The path of each item of a list, and the item; with `inner`, of the lists that those items have there."""
        for n, item in enumerate(self[field]):
            if inner:
                yield from (((field, n, *path), found) for path, found in item.placed(*inner))
            else:
                yield (field, n), item

    def plain(self) -> dict[str, Any]:
        """Lists and mappings without optional values: null, "", empty lists and mappings, default records."""
        found = {}
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            is_default = isinstance(value, Record) and value == field.default
            plain = _plain(value)
            if field.is_required() or (plain not in (None, "", [], {}) and not is_default):
                found[name] = plain
        return found


def expect(what: str, names: Iterable[str] = ()) -> pydantic.WrapValidator:
    """Adds the expectation to an error, and the name nearest to the input."""
    names = tuple(names)

    def check(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
        try:
            return validate(value)
        except ValidationError:
            raise PydanticCustomError("expected", "expected {what}.", {"what": what, "names": names}) from None

    return pydantic.WrapValidator(check)


def one_of(names: Iterable[str]) -> pydantic.WrapValidator:
    """`expect` for a field that takes one of a few names."""
    return expect(f"one of {', '.join(names)}", names)


def name_among(names: Iterable[str]) -> tuple[pydantic.AfterValidator, pydantic.WrapValidator]:
    """The annotations of a text that is one of some names, for names that a `Literal` would repeat."""
    names = tuple(names)

    def check(name: str) -> str:
        if name not in names:
            raise ValueError
        return name

    return pydantic.AfterValidator(check), one_of(names)


def number_from(low: float, high: float, what: str = "a number") -> tuple[Any, pydantic.WrapValidator]:
    """The annotations of a finite number within bounds."""
    return pydantic.Field(ge=low, le=high, allow_inf_nan=False), expect(f"{what} from {low:.0f} to {high:.0f}")


def _not_empty(items: tuple[Any, ...]) -> tuple[Any, ...]:
    if not items:
        raise PydanticCustomError("expected", "expected at least one item.")
    return items


ListOf = Annotated[tuple[ItemT, ...], pydantic.Field(strict=False)]
NotEmpty = Annotated[
    tuple[ItemT, ...],
    pydantic.Field(strict=False, json_schema_extra={"minItems": 1}),
    pydantic.AfterValidator(_not_empty),  # min_length counts the valid items alone
]
Name = Annotated[str, pydantic.Field(min_length=1), expect("a name: text that is not empty")]


def problems_of(error: ValidationError, document: type[Record]) -> list[Problem]:
    """The problems that pydantic found, in the order of its fields.

    A missing field is not reported if an unknown one of the same record has nearly its name; of many unknown ones, the
    first are looked at.
    """
    found = error.errors(include_url=False)
    unknown = [each["loc"] for each in found if each["type"] == "extra_forbidden"][:MAX_TOLD]
    missing = {each["loc"] for each in found if each["type"] == "missing"}
    beside: dict[Path, list[str]] = {}
    for *record, name in missing if unknown else ():
        beside.setdefault(tuple(record), []).append(str(name))
    misspelt = {(*record, nearest(name, beside.get(tuple(record), ()))) for *record, name in unknown}
    return [_problem(each, document) for each in found if each["type"] != "missing" or each["loc"] not in misspelt]


def _problem(found: Any, document: type[Record]) -> Problem:
    """One problem that pydantic found, worded when it is reported."""
    path, kind, value = found["loc"], found["type"], found["input"]
    if kind == "extra_forbidden":
        return Problem(path, lambda: _unknown_field(path, document))
    if kind == "missing":
        return Problem(path, f"the field {path[-1]!r} is missing.")
    expected = f"expected {CONTAINERS[kind]}." if kind in CONTAINERS else found["msg"]
    name = f"{path[-1][:MAX_QUOTE]} is" if path and isinstance(path[-1], str) else "found"
    names = found.get("ctx", {}).get("names", ()) if isinstance(value, str) else ()
    return Problem(path, lambda: f"{name} {quote(value)}, {expected}{did_you_mean(value, names)}")


def _unknown_field(path: Path, document: type[Record]) -> str:
    """Lists the fields that a record has."""
    fields = next((list(fields) for fields in _fields_at(path[:-1], document) if path[-1] not in fields), [])
    hint = did_you_mean(path[-1], fields)
    return f"unknown field {named(str(path[-1]))}.{hint} The fields are {', '.join(fields)}."


def _fields_at(path: Path, document: type[Record]) -> list[dict[str, Any]]:
    """The fields of each record that may occur at a path."""
    records = [document]
    for part in path:
        held = [record.model_fields[part].annotation for record in records if part in record.model_fields]
        records = [found for annotation in held for found in _records_in(annotation)] or records
    return [record.model_fields for record in records]


def _records_in(annotation: Any) -> list[type[Record]]:
    """The records that an annotation such as `tuple[Event, ...]` holds."""
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return [annotation]
    return [record for argument in get_args(annotation) for record in _records_in(argument)]


def _plain(value: Any) -> Any:
    """Records as mappings and tuples as lists."""
    if isinstance(value, Record):
        return value.plain()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value
