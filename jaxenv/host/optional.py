"""Packages that jaxenv does not depend on, imported where something needs them."""

import importlib
from typing import Any


def optional(module: str, what: str, extra: str = "peers") -> Any:
    """A module of another package, or a jaxenv module that imports another package.

    Args:
        module: its dotted name.
        what: the feature that needs it, for the error.
        extra: of jaxenv, which installs it.

    Raises:
        ImportError: if something is not installed, with the command that installs it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = (error.name or module).partition(".")[0]
        raise ImportError(f"{what} needs {missing}: pip install 'jaxenv[{extra}]'") from error
