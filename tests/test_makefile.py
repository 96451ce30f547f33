"""What `make` chooses by the machine: JAX for its driver, flags that its jaxlib knows, a newer Python."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DRIVERS = [
    ("| NVIDIA-SMI 550.54.14    Driver Version: 550.54.14    CUDA Version: 12.4     |", "cuda12"),
    ("| NVIDIA-SMI 580.65.06    Driver Version: 580.65.06    CUDA Version: 13.0     |", "cuda13"),
    ("| NVIDIA-SMI 590.44   KMD Version: 590.44   CUDA UMD Version: 13.1            |", "cuda13"),
    ("| NVIDIA-SMI 470.57.02    Driver Version: 470.57.02    CUDA Version: 11.4     |", None),
    ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", None),
]
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def program(path, text):
    """A shell script, for the place of a program on PATH."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def make(*arguments, folder, **environment):
    """Make in this checkout, whose virtual environment would be a new one; the programs in `folder` come first."""
    for name in ("CUDA", "NEWEST_PYTHON", "MAKEFLAGS", "MAKELEVEL"):
        environment.setdefault(name, None)
    environment = os.environ | environment | {"PATH": f"{folder}:{os.environ['PATH']}"}
    clean = {name: value for name, value in environment.items() if value is not None}
    command = ["make", "--no-print-directory", f"VENV={folder / 'venv'}", *arguments]
    return subprocess.run(command, cwd=ROOT, env=clean, capture_output=True, text=True)


def value_of(name, folder, **environment):
    """That of a variable of the Makefile."""
    return make("--eval", f"value: ; @echo '$({name})'", "value", folder=folder, **environment).stdout.strip()


@pytest.mark.parametrize(("says", "extra"), DRIVERS)
def test_training_is_installed_for_the_driver(says, extra, tmp_path):
    program(tmp_path / "nvidia-smi", f'echo "{says}"')
    plan = make("-n", "train", folder=tmp_path).stdout
    assert f"'.[train,viz{f',{extra}' if extra else ''}]'" in plan
    assert (f"NVIDIA driver: with JAX for it ({extra})" in plan) is (extra is not None)


def test_measuring_a_gpu_needs_one_and_says_so_before_it_installs(tmp_path):
    program(tmp_path / "nvidia-smi", "exit 9")
    found = make("bench-gpu", folder=tmp_path)
    assert found.returncode
    assert found.stdout == ""
    assert found.stderr.startswith("make bench-gpu needs an NVIDIA driver of CUDA 12 or later")
    assert not (tmp_path / "venv").exists()


def test_measuring_a_gpu_installs_what_it_needs_alone(tmp_path):
    program(tmp_path / "nvidia-smi", f'echo "{DRIVERS[0][0]}"')
    plan = make("-n", "bench-gpu", folder=tmp_path).stdout
    assert [line for line in plan.splitlines() if "pip " in line and "install" in line][-1].endswith(
        "'.[train,viz,cuda12]'"
    )
    assert "[dev]" not in plan
    assert "-m lab bench-gpu" in plan


@pytest.mark.parametrize(("jaxlib", "knows"), [("0.10.2", True), ("0.11.0", False), ("0.12.0.1", False)])
def test_the_quick_flags_are_those_that_jaxlib_knows(jaxlib, knows, tmp_path):
    (tmp_path / f"venv/lib/python3.13/site-packages/jaxlib-{jaxlib}.dist-info").mkdir(parents=True)
    flags = value_of("QUICK", tmp_path)
    assert "--xla_backend_optimization_level=0" in flags
    assert ("--xla_cpu_use_fusion_emitters=false" in flags) is knows


def test_the_newer_python_is_one_that_runs(tmp_path):
    for name in ("python3.13", "python3.12"):
        program(tmp_path / name, "exit 127")  # as pyenv's does where another version is chosen
    assert value_of("NEWEST_PYTHON", tmp_path, HOME=str(tmp_path)) == ""
    older, newer = (tmp_path / f".pyenv/versions/{version}/bin/python" for version in ("3.12.1", "3.13.0"))
    program(older, "exit 0")
    assert value_of("NEWEST_PYTHON", tmp_path, HOME=str(tmp_path)) == str(older)
    program(newer, "exit 0")
    assert value_of("NEWEST_PYTHON", tmp_path, HOME=str(tmp_path)) == str(newer)


def test_without_a_newer_python_the_newest_releases_are_not_tried(tmp_path):
    found = make("test-newest", "NEWEST_PYTHON=", "--what-if=pyproject.toml", folder=tmp_path)
    assert found.returncode
    assert found.stderr.startswith("make test-newest needs Python 3.13 or 3.12: none is on PATH")
