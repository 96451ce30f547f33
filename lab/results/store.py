"""Measurements in files: one for each agent of each environment, so that nothing is measured twice."""

import io
import json
from pathlib import Path

import numpy as np

from jaxenv.host.regular_files import RefusedFile, open_regular
from lab.results.measure import Measured
from train.save.writing import write_atomic


def path_of(folder: Path, env_id: str, agent: str) -> Path:
    """The file of an agent in an environment."""
    return folder / env_id / f"{agent}.npz"


def save(path: Path, measured: Measured) -> None:
    """Writes a file, completely or not at all."""
    returns = {f"returns/{name}": array for name, array in measured.returns.items()}
    succeeded = {f"succeeded/{name}": array for name, array in measured.succeeded.items()}
    content = io.BytesIO()
    about = np.array(json.dumps(dict(measured.about)))
    np.savez_compressed(content, allow_pickle=False, **returns, **succeeded, about=about)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, content.getvalue())


def load(path: Path) -> Measured:
    """Reads a file; a ValueError names one that is not regular."""
    try:
        with open_regular(path) as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except RefusedFile as error:
        raise ValueError(f"{path} is {error}: expected what was measured") from error
    about = json.loads(str(arrays.pop("about")))

    def kind(prefix: str) -> dict[str, np.ndarray]:
        return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

    return Measured(kind("returns/"), kind("succeeded/"), about)


def load_all(folder: Path, env_id: str) -> dict[str, Measured]:
    """Agent -> its measurements in an environment so far."""
    return {path.stem: load(path) for path in sorted((folder / env_id).glob("*.npz"))}
