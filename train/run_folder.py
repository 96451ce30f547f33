"""The folder of a run: what it was told, what it measured, what it learned."""

import dataclasses
import json
from pathlib import Path
from typing import Any

from train.config import Config

RUNS = Path("runs")


@dataclasses.dataclass(frozen=True)
class RunFolder:
    """The files of one run."""

    path: Path

    @property
    def config(self) -> Path:
        """The settings, as JSON."""
        return self.path / "config.json"

    @property
    def metrics(self) -> Path:
        """One line of JSON per superstep."""
        return self.path / "metrics.jsonl"

    @property
    def policy(self) -> Path:
        """The weights with what is needed to act."""
        return self.path / "policy.msgpack"


def create(config: Config) -> RunFolder:
    """Makes a new folder and writes the settings into it; a FileExistsError where there is one already."""
    path = config.run_dir or _first_free(f"{config.env}-{config.seed}")
    try:
        path.mkdir(parents=True)
    except FileExistsError as error:
        raise FileExistsError(f"{path} exists already: name another --run-dir, or none") from error
    folder = RunFolder(path)
    settings = dataclasses.asdict(dataclasses.replace(config, run_dir=path))
    folder.config.write_text(json.dumps(settings, indent=2, default=str) + "\n", encoding="utf-8")
    return folder


def read_config(folder: RunFolder) -> dict[str, Any]:
    """The settings that a run was made with."""
    return json.loads(folder.config.read_text(encoding="utf-8"))


def _first_free(stem: str) -> Path:
    """runs/STEM-N with the first N that is free."""
    number = 0
    while (RUNS / f"{stem}-{number}").exists():
        number += 1
    return RUNS / f"{stem}-{number}"
