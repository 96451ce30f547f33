"""Documents that name what arrays do not: mappings, or records of any kind."""

from collections.abc import Mapping
from typing import Any


def read(record: Any, field: str, default: Any) -> Any:
    """A field of a mapping or of any other record."""
    if isinstance(record, Mapping):
        return record.get(field, default)
    return getattr(record, field, default)


def items(document: Any, field: str, expected: int) -> list[Any] | None:
    """A list of the document, None where it has none.

    Raises:
        ValueError: where it has another length than the arrays.
    """
    found = read(document, field, None)
    if found is None:
        return None
    if len(found) != expected:
        raise ValueError(
            f"names: the document has {len(found)} entries in {field} and the scenario {expected}; "
            "it is the document of another scenario"
        )
    return list(found)
