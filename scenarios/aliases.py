"""Names of the last version, found where they are now: each gives a DeprecationWarning, and goes with the next one."""

import importlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any


def renamed(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a module some of whose names have changed.

    Args:
        module: its `__name__`.
        names: old name -> the module and the name to use instead, such as `"scenarios.lifeops.view.action_dicts"`.
    """

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, _, new = names[name].rpartition(".")
        warnings.warn(f"{module}.{name} is now {names[name]}", DeprecationWarning, stacklevel=2)
        return getattr(importlib.import_module(home), new)

    return find
