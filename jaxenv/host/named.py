"""What a command line names as MODULE:NAME: a policy, or the factory of an environment or a network."""

import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

from jaxenv.host.names import did_you_mean


class UsageError(ValueError):
    """What a command line names is not there, or cannot be used."""


def import_named(name: str, option: str) -> Any:
    """The object that `MODULE:NAME` names, imported.

    Modules of the current folder are found, which an installed command would not look through; they hide no others.

    >>> import_named("json:dumps", "--env")("a")
    '"a"'
    >>> import_named("json:dump_", "--env")
    Traceback (most recent call last):
    jaxenv.host.named.UsageError: --env json:dump_: no 'dump_' in json. Did you mean 'dump'?

    Args:
        name: as it is given.
        option: where it is given, for the error.

    Raises:
        UsageError: if there is no such object.
    """
    place, has_name, path = name.partition(":")
    if not (place and has_name and path):
        raise UsageError(f"{option} {name}: expected MODULE:NAME, such as my_code:make")
    here = str(Path.cwd())
    if not {"", here} & set(sys.path):
        sys.path.append(here)
    try:
        found: Any = importlib.import_module(place)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"{option} {name}: {error}") from error
    for part in path.split("."):
        if not hasattr(found, part):
            raise UsageError(f"{option} {name}: no {part!r} in {place}.{did_you_mean(part, dir(found))}")
        found = getattr(found, part)
    return found


def import_function(name: str, option: str) -> Any:
    """The same of a function or class; another object is a UsageError too."""
    found = import_named(name, option)
    if not callable(found):
        raise UsageError(f"{option} {name}: expected a function or class, got {type(found).__name__}")
    return found


def made(factory: Any, name: str, option: str) -> Any:
    """The result of such a factory; a UsageError where it cannot be called without arguments."""
    try:
        inspect.signature(factory).bind()
    except (TypeError, ValueError) as error:
        raise UsageError(f"{option} {name}: it is called without arguments: {error}") from error
    return factory()
