"""How a command ends, and what it can print."""

import os
import subprocess
import sys

PROGRAM = """
from jaxenv.host import process

def main():
    print("written to caf\\xe9\\udcff.npz")
    return 3

process.run(main)
"""


def test_names_that_cannot_be_encoded_are_printed():
    settings = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=settings, check=False)
    assert ended.returncode == 3, ended.stderr
    assert ended.stdout == "written to caf\\xe9\\udcff.npz\n"
