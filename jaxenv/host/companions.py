"""Packages that are imported where something needs them: `train` and `scenarios`, and those of others.

`train` and `scenarios` come with jaxenv. A `train.py` or a folder `scenarios/` where Python was started hides the
package of that name from `import train`; this module looks beside jaxenv itself.
"""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

COMMANDS = {"train": "jaxenv", "scenarios": "jaxenv scenarios"}
"""Package -> its command; each is also an extra of its name, which installs its requirements."""

_BESIDE = Path(__file__).parents[2]


def companion(name: str) -> ModuleType:
    """A module of one of the packages.

    >>> companion("scenarios").load("lifeops/s1_basic_conflict").ids
    ('s1_basic_conflict',)

    Args:
        name: its dotted name, such as `"train"` or `"train.cli.main"`.

    Raises:
        ImportError: if another package of that name is loaded already, or if something that it needs is not installed.
    """
    package = name.partition(".")[0]
    try:
        _load(package)
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ImportError(f"jaxenv.{package} needs {error.name}: {installing(package)}", name=package) from error


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
        raise ImportError(f"{what} needs {missing}: {installing(extra)}") from error


def installing(extra: str) -> str:
    """How an extra of jaxenv, which is not on PyPI, is installed.

    >>> installing("viz")
    "in a checkout of jaxenv, pip install '.[viz]'"
    """
    return f"in a checkout of jaxenv, pip install '.[{extra}]'"


def command(package: str) -> str:
    """How a package is called in a terminal: `jaxenv …`, or `python -m …` where this program was called like that.

    >>> command("scenarios")
    'jaxenv scenarios'
    """
    called = Path(sys.argv[0])
    is_module = called.name == "__main__.py" and called.parent.name == package
    return f"python -m {package}" if is_module else COMMANDS[package]


def _load(package: str) -> None:
    """Loads a package from beside jaxenv, unless that is done."""
    path = _BESIDE / package / "__init__.py"
    loaded = sys.modules.get(package)
    if loaded is not None:
        if loaded.__file__ is None or not path.samefile(loaded.__file__):
            raise ImportError(f"jaxenv.{package} is hidden by {loaded.__file__ or package}: give that another name")
        return
    sys.path.insert(0, str(_BESIDE))
    try:
        importlib.import_module(package)
    finally:
        sys.path.remove(str(_BESIDE))
