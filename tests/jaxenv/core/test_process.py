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
ENDLESS = """
from jaxenv.host import process

def main():
    while True:
        print("a page of a long document")

process.run(main)
"""


def test_a_command_whose_output_is_not_read_on_is_silent():
    with subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout.readline() == b"a page of a long document\n"
        running.stdout.close()  # as `| head -1` does
        assert (running.stderr.read(), running.wait()) == (b"", 141)


def test_names_that_cannot_be_encoded_are_printed():
    settings = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=settings, check=False)
    assert ended.returncode == 3, ended.stderr
    assert ended.stdout == "written to caf\\xe9\\udcff.npz\n"
