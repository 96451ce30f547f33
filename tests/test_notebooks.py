"""The notebooks are stored as they ran, begin by installing, and run within two minutes on two cores."""

import json
import os
import re

import pytest

nbformat = pytest.importorskip("nbformat", reason="the extra `notebooks` is not installed")
pytest.importorskip("nbclient", reason="the extra `notebooks` is not installed")

from lab.pages.notebooks import FOLDER, PATHS, code_cells, problems, read, refuse_load, run  # noqa: E402

CPU_SECONDS = 240  # two minutes of two cores
MAX_BYTES = 8_000_000  # of the folder
HERE = re.compile(r"/(tmp|home|root|work|Users|private|var)/")
INSTALL = """\
# jaxenv is not on PyPI: this needs a checkout. In Colab: SOURCE = "jaxenv[train,viz] @ git+https://ADDRESS"
import importlib.util

SOURCE = "..[train,viz]"
if importlib.util.find_spec("jaxenv") is None:
    %pip install --quiet "{SOURCE}"\
"""


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


def test_shares_below_0_and_pictures_without_a_png_are_found():
    from jaxenv.rendering.picture import Picture

    picture = Picture("a text", draw=lambda canvas: canvas.text(10, 10, "a text"))
    shares = nbformat.v4.new_output("stream", text="least  -15.1%  0.2%  4-5%\n")
    shown = nbformat.v4.new_output("display_data", {"text/plain": "p", "text/html": picture._repr_html_()})
    plot = nbformat.v4.new_output("display_data", {"text/plain": "SVG", "image/svg+xml": "<svg></svg>"})
    player = nbformat.v4.new_output("display_data", {"text/plain": "Episode", "text/html": "<iframe></iframe>"})
    assert problems([shares, shown, plot, player]) == ["-15.1%", "without a PNG: SVG", "without a PNG: Episode"]


def test_a_busy_machine_is_refused(monkeypatch):
    monkeypatch.setattr(os, "getloadavg", lambda: (1.2, 0.0, 0.0))
    with pytest.raises(ValueError, match=r"the load of this machine is 1\.2"):
        refuse_load()
    monkeypatch.setattr(os, "getloadavg", lambda: (0.9, 3.0, 3.0))
    refuse_load()
