"""Whole numbers on the command line: 4000000, 4_000_000 and 4e6 are one."""

from typing import Any

import tyro.constructors as tc

REGISTRY = tc.ConstructorRegistry()
"""For `tyro.cli`: how it reads integers."""


def parse(text: str) -> int:
    """The integer that a text stands for.

    >>> parse("1e6"), parse("4_000")
    (1000000, 4000)

    Raises:
        ValueError: if the text is not an integer.
    """
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
        if number == int(number):
            return int(number)
    except (ValueError, OverflowError):
        pass
    raise ValueError(f"expected a whole number such as 4000 or 1e6, got {text!r}")


@REGISTRY.primitive_rule
def _integers(type_info: tc.PrimitiveTypeInfo) -> tc.PrimitiveConstructorSpec[Any] | None:
    if type_info.type is not int:
        return None
    return tc.PrimitiveConstructorSpec(
        nargs=1,
        metavar="INT",
        instance_from_str=lambda texts: parse(texts[0]),
        is_instance=lambda value: isinstance(value, int),
        str_from_instance=lambda value: [str(value)],
    )
