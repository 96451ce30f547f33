"""The notebooks are stored as they ran, begin by installing, and run within two minutes on two cores.

`python tests/test_notebooks.py [NAME …]` runs them, all or some, and stores what they showed. They tell speeds, so it
refuses a busy machine.
"""

import json
import os
import re
import resource
import sys
import tempfile
import time
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="the extra `notebooks` is not installed")
NotebookClient = pytest.importorskip("nbclient", reason="the extra `notebooks` is not installed").NotebookClient

FOLDER = Path(__file__).parents[1] / "notebooks"
PATHS = sorted(FOLDER.glob("*.ipynb"))
CPU_SECONDS = 240  # two minutes of two cores
MAX_BYTES = 8_000_000  # of the folder
HERE = re.compile(r"/(tmp|home|root|work|Users|private|var)/")
MAX_LOAD = 1.0  # processes that ran in the last minute, in the mean
INSTALL = """\
# jaxenv is not on PyPI: this needs a checkout. In Colab: SOURCE = "jaxenv[train,viz] @ git+https://ADDRESS"
import importlib.util

SOURCE = "..[train,viz]"
if importlib.util.find_spec("jaxenv") is None:
    %pip install --quiet "{SOURCE}"\
"""


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def run(notebook, folder):
    """Runs a notebook in a folder; the CPU seconds that it took, children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_as_it_ran(path):
    notebook = read(path)
    cells = code_cells(notebook)
    assert cells[0].source == INSTALL
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert len(outputs) >= 5
    assert {output.output_type for output in outputs} <= {"stream", "execute_result", "display_data"}
    assert not HERE.findall(json.dumps(outputs))
    assert not problems(outputs)


def test_the_folder_is_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < MAX_BYTES


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_notebook_runs_in_two_minutes_of_two_cores(path, tmp_path):
    assert run(read(path), tmp_path) < CPU_SECONDS


def joined(outputs):
    """The outputs of a cell, with printed lines that follow each other as one output."""
    found = []
    for output in outputs:
        if found and output.output_type == found[-1].output_type == "stream":
            found[-1].text += output.text
        else:
            found.append(output)
    return found


def problems(outputs):
    """What must not be stored: shares below 0, which are noise, and pictures that GitHub does not show."""
    found = []
    for output in outputs:
        found += re.findall(r"(?<!\d)-[\d.]+%", output.get("text", ""))
        data = output.get("data", {})
        page = data.get("text/html", "")
        is_shown = "image/png" in data or "data:image/png;base64," in page
        if not is_shown and ("image/svg+xml" in data or "<svg" in page or "<iframe" in page):
            found.append(f"without a PNG: {data['text/plain']}")
    return found


def test_shares_below_0_and_pictures_without_a_png_are_found():
    from jaxenv.rendering.picture import Picture

    picture = Picture("a text", draw=lambda canvas: canvas.text(10, 10, "a text"))
    shares = nbformat.v4.new_output("stream", text="least  -15.1%  0.2%  4-5%\n")
    shown = nbformat.v4.new_output("display_data", {"text/plain": "p", "text/html": picture._repr_html_()})
    plot = nbformat.v4.new_output("display_data", {"text/plain": "SVG", "image/svg+xml": "<svg></svg>"})
    player = nbformat.v4.new_output("display_data", {"text/plain": "Episode", "text/html": "<iframe></iframe>"})
    assert problems([shares, shown, plot, player]) == ["-15.1%", "without a PNG: SVG", "without a PNG: Episode"]


def refuse_load():
    """Ends the program where other work runs."""
    if (load := os.getloadavg()[0]) > MAX_LOAD:
        sys.exit(
            f"the load of this machine is {load:.1f}; to measure it must be {MAX_LOAD:.0f} or less: try again later"
        )


def test_a_busy_machine_is_refused(monkeypatch):
    monkeypatch.setattr(os, "getloadavg", lambda: (1.2, 0.0, 0.0))
    with pytest.raises(SystemExit, match=r"the load of this machine is 1\.2"):
        refuse_load()
    monkeypatch.setattr(os, "getloadavg", lambda: (0.9, 3.0, 3.0))
    refuse_load()


def store(path):
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


if __name__ == "__main__":
    refuse_load()
    chosen = [path for path in PATHS if len(sys.argv) == 1 or path.stem in sys.argv[1:]]
    sys.exit("\n".join([problem for path in chosen for problem in store(path)]) or None)
