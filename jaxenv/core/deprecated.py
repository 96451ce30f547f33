"""Former names, which work for one more version and warn."""

import importlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any


class RenamedField:
    """The former name of a field of a record: reads the field that `name` is, and warns.

    >>> class Observation:
    ...     max_steps = 24
    ...     horizon = RenamedField("max_steps")
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     Observation().horizon
    24
    >>> print(found[0].message)
    Observation.horizon is now Observation.max_steps
    """

    def __init__(self, name: str) -> None:
        self._name, self._former = name, ""
        self.__doc__ = f"The former name of `{name}`."

    def __set_name__(self, owner: type, former: str) -> None:
        self._former = former

    def __get__(self, record: object, kind: type) -> Any:
        if record is None:
            return self
        kind = type(record)
        text = f"{kind.__name__}.{self._former} is now {kind.__name__}.{self._name}"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return getattr(record, self._name)


def renamed_names(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a module some of whose names have changed.

    Args:
        module: its `__name__`.
        names: former name -> the module and the name to use instead, such as `"scenarios.lifeops.view.action_dicts"`.
    """

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, _, new = names[name].rpartition(".")
        warnings.warn(f"{module}.{name} is now {names[name]}", DeprecationWarning, stacklevel=2)
        return getattr(importlib.import_module(home), new)

    return find
