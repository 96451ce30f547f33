"""Ctrl-C at real moments of a real process."""

import os
import signal
import subprocess
import sys
import time

import pytest

COMMAND = """
import signal
from jaxenv.__main__ import run
signal.signal(signal.SIGINT, signal.default_int_handler)  # which the parent may have had ignored
run()
"""


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 6.0, 15.0, 25.0])
def test_ctrl_c_while_compiling_says_how_to_resume_and_ends_with_its_status(tmp_path, seconds):
    options = ["ppo", "--env", "LifeOps-Shaped-v0", "--total-steps", "1e5", "--run-dir", str(tmp_path / "run")]
    child = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "JAX_PLATFORMS": "cpu", "XDG_CACHE_HOME": str(tmp_path / "cache")},
    )
    assert child.stdout is not None
    for line in child.stdout:
        if "written to" in line:  # the folder is made, and named
            break
    time.sleep(seconds)
    child.send_signal(signal.SIGINT)
    said = child.communicate(timeout=300)[0]
    assert child.returncode == 130, said
    assert "Traceback" not in said, said
    assert f"interrupted; resume with: jaxenv ppo --resume {tmp_path / 'run'}" in said
    assert "config.json" in os.listdir(tmp_path / "run")
