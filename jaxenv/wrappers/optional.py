"""Packages that jaxenv does not depend on, imported where an adapter needs them."""

import importlib
from typing import Any


def optional(module: str, what: str) -> Any:
    """A module of another package.

    Args:
        module: its dotted name.
        what: who needs it, for the error.

    Raises:
        ImportError: if it is not installed, with the command that installs it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(f"{what} needs {module.split('.')[0]}: pip install 'jaxenv[peers]' ({error})") from error
