"""The metrics in a project of Weights & Biases, if that is wanted; its package `wandb` is imported then alone."""

import importlib
import secrets
from pathlib import Path
from types import ModuleType
from typing import Any

from jaxenv.host.names import short
from jaxenv.host.regular_files import RefusedFile, read_regular
from train.save.writing import write_atomic
from train.settings.config import Config
from train.settings.serialize import to_json

MAX_ID = 1000  # bytes of an id, which has eight


def check_installed(config: Config) -> None:
    """A ValueError if the settings ask for Weights & Biases where it is not installed."""
    if config.wandb is not None:
        _module(config.wandb)


class WeightsAndBiases:
    """Logs records over environment steps, of a run that has the settings as its config.

    The run's id is kept in a file of the run folder, so that a run which resumes continues the same curves. Records
    that a killed run had logged beyond its checkpoint come again and are the same; Weights & Biases keeps the first.
    """

    def __init__(self, folder: Path, config: Config) -> None:
        """Starts or continues the run of a folder; does nothing without a project."""
        self._run = None if config.wandb is None else _start(_module(config.wandb), folder, config)

    def write(self, record: dict[str, Any]) -> None:
        """Adds a point to each curve whose value is not None."""
        if self._run is None:
            return
        values = {name: value for name, value in record.items() if value is not None and name != "env_steps"}
        self._run.log(values, step=record["env_steps"])

    def __enter__(self) -> "WeightsAndBiases":
        return self

    def __exit__(self, *exception: object) -> None:
        if self._run is not None:
            self._run.finish(exit_code=int(exception[0] is not None))


def _start(wandb: ModuleType, folder: Path, config: Config) -> Any:
    """A run of Weights & Biases, named like the folder."""
    file = folder / "wandb_id"
    if not file.exists():
        write_atomic(file, secrets.token_hex(4).encode())
    return wandb.init(
        project=config.wandb,
        name=folder.name,
        id=_id_in(file),
        resume="allow",
        config=to_json(config),
        dir=str(folder),
    )


def _id_in(file: Path) -> str:
    """The id of the run; a ValueError names a file that holds none."""
    try:
        return read_regular(file, MAX_ID).decode()
    except RefusedFile as error:
        raise ValueError(f"{file} is {error}: expected the id of a run of Weights & Biases") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not text: expected the id of a run of Weights & Biases") from error


def _module(project: str) -> ModuleType:
    """The package; a ValueError names the command that installs it."""
    try:
        return importlib.import_module("wandb")
    except ImportError as error:
        raise ValueError(
            f"--wandb {short(project)}: wandb is not installed; install it with pip install wandb"
        ) from error
