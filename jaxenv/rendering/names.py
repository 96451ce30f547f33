"""Names of the parts of a scenario: from its library, else numbers."""

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from jaxenv.host.names import did_you_mean

T = TypeVar("T")
Given = Mapping[str, Any]
"""The names of a scenario, by field of its environment's `Names`; empty if none are given."""


def numbered(kind: str, count: int) -> tuple[str, ...]:
    """Default names, such as `("event 1", "event 2")`."""
    return tuple(f"{kind} {number}" for number in range(1, count + 1))


def with_defaults(kind: type[T], given: Given, **defaults: Any) -> T:
    """The names that are given, and defaults for the others.

    Args:
        kind: the dataclass of names.
        given: by field. An empty name counts as missing; a mapping is completed by the default one.
        **defaults: for the fields without a default. A tuple has an entry for each item of the
            scenario.

    Raises:
        ValueError: if a tuple is longer or shorter than the scenario needs, or a field is unknown.
    """
    fields = [field.name for field in dataclasses.fields(kind)]  # pyright: ignore[reportArgumentType]
    for field in given:
        if field not in fields:
            hint = did_you_mean(field, fields)
            raise ValueError(f"names: unknown field {field!r}.{hint} Fields: {', '.join(fields)}.")
    filled = {field: _filled(field, given.get(field), default) for field, default in defaults.items()}
    return kind(**{**given, **filled})


def _filled(field: str, given: Any, default: Any) -> Any:
    """One field: the given names, completed by the default ones."""
    if given is None:
        return default
    if isinstance(default, Mapping):
        return {**default, **given}
    if isinstance(default, tuple):
        if len(given) != len(default):
            raise ValueError(
                f"names: {field} has {len(given)} entries and the scenario {len(default)}; "
                "they are the names of another scenario"
            )
        return tuple(usual if name == "" else name for name, usual in zip(given, default, strict=True))
    return given
