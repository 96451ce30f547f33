"""The packages of the extra `openenv`, which only the server needs."""

import importlib
from typing import Any


def _package(module: str) -> Any:
    """A module of the extra.

    Raises:
        ImportError: where it is not installed, with the command that installs it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(f"the server needs another package ({error}): pip install 'jaxenv[openenv]'") from error


openenv = _package("openenv.core.env_server")
fastapi = _package("fastapi")
uvicorn = _package("uvicorn")
