"""Runs the notebooks and stores their outputs; they show speeds, so a busy machine is refused."""

import os
import re
import resource
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from jaxenv.host.names import require_one_of

FOLDER = Path(__file__).parents[2] / "notebooks"
PATHS = sorted(FOLDER.glob("*.ipynb"))
MAX_LOAD = 1.0  # processes that ran in the last minute, in the mean


def read(path: Path) -> Any:
    """A notebook as it is stored."""
    return nbformat.read(path, as_version=4)


def code_cells(notebook: Any) -> list[Any]:
    """Its cells of code."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def run(notebook: Any, folder: Path | str) -> float:
    """Runs a notebook in a folder; the CPU seconds that it took, children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def joined(outputs: Iterable[Any]) -> list[Any]:
    """The outputs of a cell, with printed lines that follow each other as one output."""
    found: list[Any] = []
    for output in outputs:
        if found and output.output_type == found[-1].output_type == "stream":
            found[-1].text += output.text
        else:
            found.append(output)
    return found


def problems(outputs: Iterable[Any]) -> list[str]:
    """Outputs that must not be stored: shares below 0, which are noise, and pictures that GitHub does not show."""
    found = []
    for output in outputs:
        found += re.findall(r"(?<!\d)-[\d.]+%", output.get("text", ""))
        data = output.get("data", {})
        page = data.get("text/html", "")
        is_shown = "image/png" in data or "data:image/png;base64," in page
        if not is_shown and ("image/svg+xml" in data or "<svg" in page or "<iframe" in page):
            found.append(f"without a PNG: {data['text/plain']}")
    return found


def refuse_load() -> None:
    """Raises a ValueError where other work runs."""
    if (load := os.getloadavg()[0]) > MAX_LOAD:
        raise ValueError(
            f"the load of this machine is {load:.1f}; to measure it must be {MAX_LOAD:.0f} or less: try again later"
        )


def store(path: Path) -> list[str]:
    """Runs a notebook and stores its outputs, but for progress bars and other lines of stderr; returns its problems."""
    notebook, began = read(path), time.perf_counter()
    for cell in code_cells(notebook):
        cell.outputs = []
    with tempfile.TemporaryDirectory() as folder:
        cpu = run(notebook, folder)
    for cell in code_cells(notebook):
        cell.outputs = joined(output for output in cell.outputs if output.get("name") != "stderr")
        cell.metadata = {}
    if found := problems(output for cell in code_cells(notebook) for output in cell.outputs):
        return [f"{path.stem} is not stored: {problem}" for problem in found]
    notebook.metadata = {"kernelspec": notebook.metadata.kernelspec, "language_info": {"name": "python"}}
    nbformat.write(notebook, path)
    size = path.stat().st_size / 1e6
    print(f"{path.stem}: {time.perf_counter() - began:.0f} s, {cpu:.0f} s of CPU, {size:.2f} MB", flush=True)
    return []


def main(argv: Sequence[str]) -> int:
    """Runs the notebooks that are named, all by default, and stores those without problems; 1 if one has some."""
    for name in argv:
        require_one_of(name, [path.stem for path in PATHS], f"no notebook {name!r}")
    refuse_load()
    chosen = [path for path in PATHS if not argv or path.stem in argv]
    found = [problem for path in chosen for problem in store(path)]
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return int(bool(found))
